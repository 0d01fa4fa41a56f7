# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs in another time namespace, as containers with one are: their clock is ahead of the
# recorder's, or behind it, and their phases have the same times as without.

fresh timens
cat >"$d/p.py" <<'PY'
import ctypes, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.gchint_init(0)
lib.__getattr__("__gchint_self_begin")(1, 1 << 8)
time.sleep(0.2)
lib.__getattr__("__gchint_self_end")()
PY
if unshare -T --monotonic 1 true 2>/dev/null; then
	make -s -C "$here/../../libgchint" BUILD="$BUILD/libgchint" >/dev/null 2>&1
	for ahead in 0 86400 -300; do
		"$ctl" record -q -o "$d/$ahead.db" --gchintd "$gchintd" -- \
			unshare -T --monotonic "$ahead" --boottime "$ahead" -f python3 "$d/p.py" "$BUILD/libgchint/libgchint.so.1" >"$d/said" 2>&1
		ok "a phase of 200 ms in a clock that is $ahead s ahead" is "1 1" "$(db=$d/$ahead.db sql \
			"select count(*), sum(t1 - t0 between 200000000 and 2000000000 and t0 > (select value + 0 from meta where key = 'start_ns')) from phases" | tr '|' ' ')"
	done
else
	skip "phases in another time namespace" "no time namespaces here"
fi
