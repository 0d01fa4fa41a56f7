# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a pause is: a time in which all mutators of a process stand, however many threads and phases
# it takes. The same in every output.

mkdir "$work/pauses"
d=$work/pauses
stopped() { # NAME ROWS: a recording of 4 s with these phases alone; times in us, flags 1: stop-the-world
	rm -f "$d/$1.db"
	sqlite3 "$d/$1.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs; delete from phases;
		delete from decisions; delete from policies; delete from policy_states; delete from annotations; delete from processes;
		delete from rails; delete from opps;
		update meta set value = 1000000000 where key = 'start_ns'; update meta set value = 5000000000 where key = 'end_ns';
		update meta set value = '$1' where key = 'label';
		insert into processes values(7, 7, 0, 0, 'java', 'java'), (8, 8, 0, 0, 'ruby', 'ruby'), (7, 11, 0, 0, 'VM Thread', null),
			(7, 12, 0, 0, 'ZWorker', null);
		with rows(id, t0, t1, tgid, tid, phase, flags, uncertain) as (values $2)
		insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain)
			select id, 1000000000 + t0 * 1000, 1000000000 + t1 * 1000, 0, tgid, tid, phase, flags, 1, 1, uncertain from rows"
}
# Four markers of one stop; the last ends after 40 ms.
stopped parallel "(1, 100000, 130000, 7, 11, 4, 1, 0), (2, 100100, 140000, 7, 12, 4, 1, 0), (3, 100200, 120000, 7, 13, 4, 1, 0),
	(4, 100300, 139000, 7, 14, 4, 1, 0), (5, 200000, 210000, 7, 11, 4, 1, 0)"
# Stop, mark, restart: 3 us and 5 us between them. 6 us later is another pause.
stopped steps "(1, 100000, 101000, 7, 11, 1, 1, 0), (2, 101003, 161000, 7, 11, 4, 1, 0), (3, 161005, 162000, 7, 11, 1, 1, 0),
	(4, 162006, 163000, 7, 11, 1, 1, 0)"
# Two processes that stand at the same time.
stopped processes "(1, 100000, 150000, 7, 7, 4, 1, 0), (2, 120000, 200000, 8, 8, 4, 1, 0), (3, 500000, 510000, 7, 7, 4, 1, 0)"
# ZGC announces a pause on the thread that stops and on its workers.
stopped zgc "(1, 100000, 101000, 7, 11, 3, 1, 0), (2, 100100, 100900, 7, 12, 3, 1, 0), (3, 101000, 400000, 7, 12, 4, 2, 0)"
# Events were lost in one marker, and the recording ended in another; the first marker is certain.
stopped unsure "(1, 100000, 130000, 7, 11, 4, 1, 0), (2, 100000, 900000, 7, 12, 4, 1, 1), (3, 2000000, null, 7, 11, 4, 1, 0)"

pauses() { # NAME: begin, length, process, thread, number of phases; times in us
	"$ctl" export -f csv -t pause_list "$d/$1.db" | python3 -c 'import csv, sys
for r in sorted(csv.DictReader(sys.stdin), key=lambda r: int(r["t0"])):
    print((int(r["t0"]) - 10**9) // 1000, int(r["ns"]) // 1000, r["tgid"], r["tid"], r.get("phases"), end="; ")'
}
ok "parallel markers are one pause" is "100000 40000 7 12 4; 200000 10000 7 11 1; " "$(pauses parallel)"
ok "stop, mark and restart are one pause, longer gaps end it" is "100000 62000 7 11 3; 162006 994 7 11 1; " "$(pauses steps)"
ok "pauses of two processes stay apart" is "100000 50000 7 7 1; 120000 80000 8 8 1; 500000 10000 7 7 1; " "$(pauses processes)"
ok "a pause that several threads announce is one" is "100000 1000 7 11 2; " "$(pauses zgc)"
ok "a phase of unknown end makes no pause longer" is "100000 30000 7 11 1; " "$(pauses unsure)"

# The same numbers everywhere: total and longest in ms.
compared() { # NAME: what compare has of it
	"$ctl" --json compare "$d/$1.db" -- "$d/zgc.db" | python3 -c 'import json, sys
f = {r["figure"]: r["base_median"] for r in json.load(sys.stdin)}
print(*("%.3f" % f[n] for n in ("time paused", "longest pause", "MinMU, 100 ms window")))'
}
ok "compare: parallel markers" is "50.000 40.000 60.000" "$(compared parallel)"
ok "compare: stop, mark, restart" is "62.994 62.000 37.006" "$(compared steps)"
ok "compare: the utilisation of the process that stands longest" is "140.000 80.000 20.000" "$(compared processes)"
ok "compare: unknown ends" is "30.000 30.000 70.000" "$(compared unsure)"
listed() { # NAME: length and thread of the longest pauses
	"$ctl" why "$d/$1.db" | awk '$1 ~ /^[0-9.]+$/ { print $2, $3, $4, $NF }' | paste -sd'|'
}
ok "why: parallel markers" is "40.000 mark, stw 12|10.000 mark, stw 11" "$(listed parallel)"
ok "why: stop, mark, restart" is "62.000 mark, stw 11|0.994 collect, stw 11" "$(listed steps)"
paged() { # NAME: the page's first key figure
	"$ctl" report -o "$d/page.html" "$d/$1.db" 2>/dev/null &&
		grep -oE '[0-9.]+ ms of [0-9.]+ s, in [0-9]+ pauses' "$d/page.html" | sed 's/ of .* in /, /'
}
ok "report: parallel markers" is "50.0 ms, 2 pauses" "$(paged parallel)"
ok "report: stop, mark, restart" is "63.0 ms, 2 pauses" "$(paged steps)"
exported() { # NAME: number and total of pauses in ms
	"$ctl" export -f openmetrics "$d/$1.db" | awk '$1 == "gchint_pause_seconds_count" { n = $2 }
		$1 == "gchint_pause_seconds_sum" { sum = $2 } END { printf "%d %.3f", n, sum * 1000 }'
}
ok "OpenMetrics: parallel markers" is "2 50.000" "$(exported parallel)"
ok "OpenMetrics: stop, mark, restart" is "2 62.994" "$(exported steps)"
ok "OpenMetrics: two processes" is "3 140.000" "$(exported processes)"
ok "OpenMetrics: unknown ends" is "1 30.000" "$(exported unsure)"
# SQLite alone, with the view of the file, gives the same.
own() {
	rm -f "$d/own.db"
	printf '1000000 7 11 begin mark stw\n41000000 7 11 end mark stw\n41001000 7 11 begin safepoint stw\n42000000 7 11 end safepoint stw\n' >"$d/own.trace"
	"$ctl" import "$d/own.trace" -o "$d/own.db" 2>/dev/null
	sqlite3 -readonly "$d/own.db" 'select ns, phases, phase from pause_list'
}
ok "the view in a file gives the same" is "41000000|2|mark" "$(own)"

# The summary begins with the answer.
answer() { # NAME: the lines above the tables
	"$ctl" summary "$d/$1.db" | sed '/^$/,$d'
}
ok "summary begins with one sentence" is "java was stopped 1.2 % of 4.00 s." "$(answer parallel | head -n 1)"
ok "summary: the sentence is about the process that was stopped for the longest" is "ruby was stopped 2.0 % of 4.00 s." \
	"$(answer processes | head -n 1)"
ok "summary: time paused, its share, number, longest, p99" is "paused 50.0 ms of 4.00 s (1.2 %), 2 pauses, longest 40.0 ms, p99 40.0 ms" \
	"$(answer parallel | sed -n 2p)"
ok "summary: each process stands on its own" is "java (7): paused 60.0 ms of 4.00 s (1.5 %), 2 pauses, longest 50.0 ms, p99 50.0 ms
ruby (8): paused 80.0 ms of 4.00 s (2.0 %), 1 pause, longest 80.0 ms, p99 80.0 ms" "$(answer processes | sed -n 2,3p)"
ok "summary: phases of unknown end are counted and left out" is "paused 30.0 ms of 4.00 s (0.75 %), 1 pause, longest 30.0 ms, p99 30.0 ms
2 stop-the-world phases of unknown end are in none of these: events were lost meanwhile, or the recording ended first" \
	"$(answer unsure | sed -n 2,3p)"
ok "summary: phases of unknown end are in no total and no maximum" is "1 30.000 30.000" \
	"$("$ctl" summary "$d/unsure.db" | awk '$1 == "mark," { print $3, $4, $9 }')"
ok "summary: the table has a line of all pauses" is "2 50.000 1.2% 40.000" \
	"$("$ctl" summary "$d/parallel.db" | awk '$1 == "pauses" { print $2, $3, $4, $8 }')"
# A thread that was in a phase for 40 ms of 100 ms, ran for 50 ms and waited for 50 ms of them.
cp "$d/steps.db" "$d/busy.db"
sqlite3 "$d/busy.db" "delete from sched; update phases set t0 = 1100000000, t1 = 1140000000 where id = 1; delete from phases where id > 1;
	insert into sched(t, tgid, tid, run_ns, wait_ns, slices, migrations, utime_ns, stime_ns) values(1050000000, 7, 11, 1000, 2000, 0, 0, 0, 0), (1150000000, 7, 11, 50001000, 50002000, 0, 0, 0, 0)"
ok "summary: a CPU time with wide bounds is a range" is "collection used at most 40.0 ms of CPU; whether it waited for a CPU is not known (record with [sched] period_ms = 5)" \
	"$(answer busy | sed -n 3p)"
ok "JSON has the bounds of the CPU time" is "20 0 40 0 40 0" "$("$ctl" --json summary "$d/busy.db" | python3 -c 'import json, sys
c = json.load(sys.stdin)["cpu"]
print(*(c[n] // 1000000 for n in ("run_ns", "low_ns", "high_ns", "wait_low_ns", "wait_high_ns", "unknown_ns")))')"
# It ran for 70 ms and 95 ms of the 100 ms: outside of the phase it was for 60 ms.
ran() { # MS
	sqlite3 "$d/busy.db" "update sched set run_ns = 1000 + $1 * 1000000, wait_ns = 2000 where t = 1150000000"
	answer busy | sed -n 3p
}
ok "summary: CPU time that cannot have been outside of the phase is the lower bound" is "collection used 10.0 to 40.0 ms of CPU" "$(ran 70)"
ok "summary: a lower bound that says nothing is left out" is "collection used at most 40.0 ms of CPU" "$(ran 61)"
ok "summary: running is not waiting for a CPU" is "collection used 40.0 ms of CPU (1.0 % of one CPU)" "$(ran 100)"
# The kernel adds to a running thread's account once in a tick.
sqlite3 "$d/busy.db" "insert into meta values('sched.tick_ns', '4000000')"
ok "summary: each reading may lack a tick" is "collection used 34.0 to 40.0 ms of CPU" "$(ran 98)"
# A worker with a role collects whenever it runs, also until its end 11 ms after the last reading.
sqlite3 "$d/busy.db" "insert into sched(t, tgid, tid, run_ns, wait_ns, slices, migrations, utime_ns, stime_ns) values(1050000000, 7, 12, 0, 0, 0, 0, 0, 0), (1149000000, 7, 12, 30000000, 0, 0, 0, 0, 0);
	delete from meta where key = 'sched.tick_ns';
	insert into leases(t, session, slot, tgid, tid, role, lease) values(1000000000, 1, 2, 7, 12, 2, 0), (1160000000, 1, 2, 7, 12, null, 5)"
ok "summary: a worker's CPU time is all of it collection" is "collection used 70.0 to 81.0 ms of CPU" "$(ran 100)"
ok "summary: an unknown CPU time is reported as unknown" is "collection's CPU time: unknown" "$(answer steps | sed -n '3s/ (.*//p')"
unpowered() { # REMEDY: the answer where powercap is the only source of energy, and absent
	sqlite3 "$d/busy.db" "delete from sources; insert into sources values('powercap', 0, 'absent', 'no counter', '$1', 0)"
	"$ctl" summary "$d/busy.db" | grep '^energy'
}
ok "summary: why no energy is known, and what to do" is \
	"energy: unknown (no power rail is readable; powercap: modprobe intel_rapl_msr)" "$(unpowered "modprobe intel_rapl_msr")"
# Two processes stand for most of the recording.
stopped long "(1, 100000, 3900000, 7, 7, 4, 1, 0), (2, 200000, 3800000, 8, 8, 4, 1, 0)"
ok "summary: a share over 100 % is explained" eval '"$ctl" summary "$d/long.db" | grep -q "^SHARE is of the recording.s length"'
ok "summary: others need no explanation" eval '! "$ctl" summary "$d/processes.db" | grep -q "^SHARE is"'
