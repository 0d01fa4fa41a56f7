# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A file system on which the index of a write-ahead log cannot be mapped: 9p, some of FUSE and NFS.

fresh journal
unmapped() { # COMMAND...: on such a file system
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/unmapped.so" exec "$@"
}
record() { # [OPTION]...: a daemon there; its pid is $pid
	rm -f "$d/annotations"
	unmapped "$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/trace" \
		--debugfs "$d/debug" --feed "$d/feed" --annotations "$d/annotations" "$@" 2>>"$d/log" &
	pid=$!
	daemons+=("$pid")
	wait_for 2 test -S "$d/annotations" || cat "$d/log"
}
record
ok "it records without a write-ahead log" test -S "$d/annotations"
ok "one line says so, with the reason and the remedy" is 1 \
	"$(grep -c 'record: no write-ahead log on this file system (.*): a rollback journal .* a local disk' "$d/log")"
feed --events 2000 --rate 20000 >"$d/sent"
reads() { (unmapped "$ctl" summary "$d/r.db"); }
ok "a recording that grows can be read" wait_for 30 reads
ok "every phase of it, while it grows" wait_for 30 got 1000 'select count(t1) from phases'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "a killed one leaves a sound recording" is "ok 1000" \
	"$(sql 'pragma integrity_check') $(sql 'select count(t1) from phases')"
record --keep 3 --max-size 128K
feed --events 20000 --rate 40000 >"$d/sent"
stop
ok "rotated files keep no log and no journal" is "" "$(find "$d" -name 'r.db*-*')"
ok "a rotation says it no second time" is 2 "$(grep -c 'no write-ahead log' "$d/log")"
ok "every file of a rotation is sound" is "ok ok ok ok" \
	"$(for f in "$d"/r.db "$d"/r.db.[123]; do db=$f sql 'pragma integrity_check'; done | paste -sd' ')"
