# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs in a pid namespace that the recorder's does not contain, as those of other containers are:
# the kernel cannot name the process whose hints they are, and the recorder says so.

fresh foreign
foreign_run() { # a program outside, whose hints go to the daemon in $d
	GCHINT_STREAM=$d/stream GCHINT_DEVICE=$d/none python3 -c '
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.gchint_init(0)
lib.__getattr__("__gchint_self_begin")(1, 1 << 8)
lib.__getattr__("__gchint_self_end")()' "$BUILD/libgchint/libgchint.so.1"
}
if unshare --pid --fork --kill-child true 2>/dev/null; then
	make -s -C "$here/../../libgchint" BUILD="$BUILD/libgchint" >/dev/null 2>&1
	printf '[library]\nsocket = %s\n' "$d/stream" >"$d/conf"
	# The namespace's first process: it gets the signal that ends the daemon.
	env -u GCHINT_STREAM unshare --pid --fork --kill-child "$gchintd" -c "$d/conf" --record "$d/r.db" --sysfs "$d/sys" \
		--tracefs "$d/trace" --debugfs "$d/debug" --feed "$d/feed" --annotations "$d/annotations" 2>"$d/log" &
	outer=$!
	wait_for 10 test -S "$d/annotations"
	foreign_run
	foreign_run
	ok "hints from outside of the daemon's pid namespace are reported, with what to do" wait_for 10 \
		grep -q 'programs outside of the pid namespace of gchintd sent hints.*--pid=host.*hostPID: true' "$d/log"
	read -r pid <"/proc/$outer/task/$outer/children"
	kill -TERM "$pid"
	wait "$outer"
	ok "once, and each program is counted" is "1 2 0" "$(grep -c 'outside of the pid namespace' "$d/log")" \
		"$(sql "select sum(count) from drops where source = 'library' and why like '%pid namespace that is not ours%'")" \
		"$(sql "select count(*) from phases")"
else
	skip "hints from outside of the daemon's pid namespace are reported" "no pid namespaces here"
fi
