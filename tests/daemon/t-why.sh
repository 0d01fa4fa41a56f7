# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What decided a frequency, and the longest pauses.

mkdir "$work/why"
d=$work/why
f=$d/r.db
sqlite3 "$f" <"$here/recordings/0.1.0.sql"
# Policy 0 has CPUs 0 and 1. A pause of 40 ms at 2 s on cpu1, at 700 MHz for its first half and 1400
# after; a decision by a thread's hint 5 ms in; a limit below the hardware's; a concurrent marker.
sqlite3 "$f" "delete from samples; delete from transitions; delete from residency; delete from costs; delete from annotations;
	delete from phases; delete from decisions; delete from policies; delete from policy_states; delete from processes;
	delete from thermal; delete from thermal_sensors;
	update meta set value = 1000000000 where key = 'start_ns'; update meta set value = 11000000000 where key = 'end_ns';
	insert into policies values(0, 1, '0-1', 'd', null, 300000, 2100000, 1);
	insert into policy_states values(1000000000, 0, 'gchint', 300000, 2100000), (2500000000, 0, 'gchint', 300000, 1400000);
	insert into transitions values(1000000000, 1, 700000, 'trace'), (3020000000, 1, 1400000, 'trace'),
		(3040000000, 1, 700000, 'trace');
	insert into decisions values(2000000000, 0, 0, 700000, 300000, 1, 102, null, null, null, null, null, null),
		(3005000000, 1, 0, 700000, 1400000, 2, 512, 120000, 70, 71, 1, 5, 1),
		(3006000000, 1, 7, 1, 2, 2, 512, 120000, 70, 71, 1, 5, 1);
	insert into processes values(70, 71, 1000, 0, 'collector', null);
	insert into thermal_sensors values(1, 'cooling', 'cpufreq-cpu0', '/x'); insert into thermal values(2900000000, 1, 3);
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain) values
		(1, 3000000000, 3040000000, 1, 70, 71, 5, 1, 3, 1, 0), (2, 2990000000, 3010000000, 0, 70, 72, 4, 2, 1, 1, 0),
		(3, 5000000000, 5010000000, 1, 70, 71, 3, 1, 1, 1, 0), (4, 6000000000, 6900000000, 0, 70, 72, 4, 2, 1, 1, 0)"
"$ctl" why "$f" >"$d/list"
ok "the longest pause comes first; phases that stop no thread are left out" is "2.000000 40.000 4.000000 10.000" \
	"$(awk 'NR > 1 && NR < 4 { print $1, $2 }' "$d/list" | paste -sd' ')"
ok "a pause has cause, frequency, length at the top frequency, thread and company" grep -qE \
	'^ +2\.000000 +40\.000  remark, stw +explicit +1050 +20\.000  collector, thread 71, alongside mark, concurrent$' "$d/list"
ok "-n limits the number of pauses" is 3 "$("$ctl" why -n 1 "$f" | wc -l)"
ok "without a wait and without a frequency their columns are not there" is "AT s LENGTH ms PHASE CAUSE MHz AT LEAST ms THREAD
AT s LENGTH ms PHASE CAUSE THREAD" "$(head -n 1 "$d/list" | tr -s ' ' | sed 's/^ //'
	cp "$f" "$d/bare.db" && sqlite3 "$d/bare.db" 'delete from transitions' && "$ctl" why "$d/bare.db" | head -n 1 | tr -s ' ' | sed 's/^ //')"
# A program of another name says which runtime it has: sixteen pauses of 100 ms that GOGC would make fewer.
cp "$f" "$d/named.db"
sqlite3 "$d/named.db" "delete from phases; with recursive n(i) as (select 1 union all select i + 1 from n where i < 16)
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain)
	select i, 3000000000 + i * 200000000, 3100000000 + i * 200000000, 1, 70, 71, 5, 1, 1, 1, 0 from n"
"$ctl" summary "$d/named.db" >"$d/unnamed"
sqlite3 "$d/named.db" "create table runtimes(tgid integer, t integer, runtime text, primary key(tgid, t)) strict, without rowid;
	insert into runtimes values(70, 1, 'other'), (71, 3, 'jvm'), (70, 2, 'go')"
ok "a program that names its runtime gets advice, which says what it takes for granted" is "0 1" \
	"$(grep -c ^advice "$d/unnamed") $("$ctl" summary "$d/named.db" | tr -s '\n ' ' ' | grep -c 'advice: GOGC=400, unless it is set already, would have had about 4 collections in place of 16')"
# Every fourth pause is a remark of 300 ms, the others are copies; memory of its group, and a heap of which 30 MiB
# are allocated in 900 ms, later in 10.
cp "$d/named.db" "$d/more.db"
sqlite3 "$d/more.db" "delete from phases; delete from runtimes;
	update meta set value = 21000000000 where key = 'end_ns';
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 16)
		insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain)
		select i, 2000000000 + i * 1000000000, 2100000000 + i * 1000000000 + (i % 4 = 0) * 200000000, 1, 70, 71,
			case i % 4 when 0 then 5 else 8 end, 1, 1, 1, 0 from n;
	create table memory_groups(t integer, tgid integer, used integer, most integer, pressed integer) strict;
	insert into memory_groups values(1, 70, 50000000, 104857600, 10), (2, 70, 104333312, 104857600, 12),
		(3, 70, 90000000, 104857600, 17), (3, 71, 1, 2, 99);
	create table heaps(t integer, tgid integer, tid integer, moment text, used integer, committed integer, most integer,
		allocated integer, freed integer, generation integer) strict;
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 16)
		insert into heaps(t, tgid, tid, moment, used, generation)
		select 2000000001 + case when i < 9 then i * 1000000000 else 8000000000 + (i - 8) * 20000000 end, 70, 71, 'before', 40000000, 0 from n
		union all
		select 2010000000 + case when i < 9 then i * 1000000000 else 8000000000 + (i - 8) * 20000000 end, 70, 71, 'after', 10000000, 0 from n"
"$ctl" summary "$d/more.db" >"$d/out" 2>&1
ok "a recording shows bursts of allocation, long remarks and the limit of a control group" is "" \
	"$(tr -s '\n ' ' ' <"$d/out" | grep -q 'half of what it allocated came in 1.1 % of the time, at 2.79 GiB a second; 4 remarks took 300 ms each, young collections 100 ms (50 % of the paused time); its control group used 99.5 MiB of 100 MiB of memory and reached a limit 7 times' ||
		cat "$d/out")"
ok "and JSON has them by name" is "allocation_bursts long_remark memory_limit" \
	"$("$ctl" summary --json "$d/more.db" | python3 -c 'import json, sys
print(*[f["finding"] for f in json.load(sys.stdin)["findings"]["list"] if f["finding"] not in ("stopped", "long_pauses", "heap_full", "slow_clock")])' 2>&1)"
# Thread 71 waited for 30 ms of the 40, which the account of 50 ms around them bounds to 20 and 30, less what readings may
# be late by: it ran until then. 72 waited for none. The last
# sample of a thread in no phase before it was in compiled code, called by a method.
cp "$f" "$d/run.db"
sqlite3 "$d/run.db" "insert into sched(t, tgid, tid, run_ns, wait_ns, slices) values
		(2990000000, 70, 71, 1000, 2000, 1), (2995000000, 70, 71, 5001000, 2000, 1), (3045000000, 70, 71, 25001000, 30002000, 2),
		(2999000000, 70, 72, 0, 0, 1), (3041000000, 70, 72, 42000000, 0, 1), (2995000000, 71, 9, 0, 0, 0), (3045000000, 71, 9, 0, 50000000, 0);
	insert into stacks values(4, '20 30 40');
	insert into symbols values(70, 16, 1, 'libjvm.so', 'copy'), (70, 32, 1, '[methods]', 'Interpreter'),
		(70, 48, 1, '[methods]', 'Shop.old (Shop.java:1)'), (70, 48, 2000000000, '[methods]', 'Shop.list (/src/Shop.java:7)'),
		(70, 80, 1, '[methods]', 'Shop.later (Shop.java:9)');
	insert into hotspots(t, tgid, tid, phase, method, ip, stack) values(2900000000, 70, 74, 0, 0, 80, null),
		(2910000000, 70, 74, 0, 0, 16, 4), (2980000000, 70, 74, 5, 0, 80, null), (2990000000, 71, 9, 0, 0, 80, null), (3000000001, 70, 74, 0, 0, 80, null)"
"$ctl" why "$d/run.db" >"$d/list"
ok "a pause has the bounds of its threads' wait for a CPU, and what ran last before it" grep -qE \
	'^ +2\.000000 +40\.000 .* 19\.6-30  Shop\.list \(Shop\.java:7\) +collector, thread 71, alongside mark, concurrent$' "$d/list"
ok "both are unknown of a pause without accounts or samples" grep -qE '^ +4\.000000 +10\.000 .* \?  \? +collector, thread 71$' "$d/list"
ok "JSON has them" is "19.6 30.0 Shop.list (/src/Shop.java:7) None None None" "$("$ctl" why --json "$d/run.db" | python3 -c 'import json, sys
for p in json.load(sys.stdin)["pauses"]: print(p["cpu_wait_at_least_ms"], p["cpu_wait_at_most_ms"], p["method"])' | paste -sd' ')"
# Threads 73 and 76 wait for what 72 marks on cpu1, 74 for no visible thread, 75 belongs to another
# process.
cp "$f" "$d/waits.db"
sqlite3 "$d/waits.db" "insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain) values
	(5, 8000000000, 8200000000, 1, 70, 72, 4, 2, 1, 1, 0), (6, 8140000000, 8205000000, 0, 70, 73, 11, 4, 1, 1, 0),
	(7, 9000000000, 9050000000, 1, 70, 74, 11, 4, 1, 1, 0), (8, 8140000000, 8195000000, 1, 80, 75, 11, 4, 1, 1, 0),
	(9, 8150000000, 8190000000, 0, 70, 76, 11, 4, 1, 1, 0), (10, 8150000000, 8160000000, 0, 70, 77, 9, 2, 1, 1, 0)"
"$ctl" why "$d/waits.db" >"$d/list"
wait_line() { grep -oE "^ +$1 .* thread $2\b" "$d/list" | awk '{ print $2, $(NF - 4), $(NF - 3), $(NF - 2) }'; }
ok "a wait has the collector's frequency and the earlier start that would avoid it" is \
	"65.000 700 21.667 65.000 40.000 700 13.333 40.000" "$(wait_line 7.140000 73) $(wait_line 7.150000 76)"
ok "a wait for an unknown collection is unknown" is "50.000 ? ? ? 55.000 ? ? ?" \
	"$(wait_line 8.000000 74) $(wait_line 7.140000 75)"
# The longest wait is longer than all pauses, and no pause.
ok "pauses come first, and waits of single threads have a table of their own" is \
	"2.000000 4.000000 WAITS 7.140000 7.140000 8.000000 7.150000" \
	"$(awk '/^ +[0-9]+\.[0-9]+ / || /^WAITS/ { print $1 }' "$d/list" | paste -sd' ')"
ok "-n is for each of both" is "2.000000 WAITS 7.140000" \
	"$("$ctl" why -n 1 "$d/waits.db" | awk '/^ +[0-9]+\.[0-9]+ / || /^WAITS/ { print $1 }' | paste -sd' ')"
ok "JSON has two lists" is "pause pause|wait wait wait wait" "$("$ctl" --json why "$d/waits.db" | python3 -c 'import json, sys
r = json.load(sys.stdin)
print(*(" ".join(p["stop"] for p in r[n]) for n in ("pauses", "waits")), sep="|")')"
"$ctl" report -o "$d/waits.html" "$d/waits.db" 2>/dev/null
ok "so has the page" is "Longest pauses 2.000000 4.000000|Longest waits of single threads 7.140000 7.140000 8.000000 7.150000" \
	"$(python3 -c 'import re, sys
print(*(" ".join([title, *re.findall(r"<a href=\"#run0-time\"[^>]*>([0-9.]+)</a>", table)])
	for title, table in re.findall(r"<h3 id=\"run0-(?:pauses|waits)\">([^<]*)</h3>(.*?)</table>", open(sys.argv[1]).read(), re.S)), sep="|")' "$d/waits.html")"
# Two mutators that wait nearly all of the time, for a collection that hardly stops them.
cp "$f" "$d/waiting.db"
sqlite3 "$d/waiting.db" "delete from phases where id > 1; insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain) values
	(30, 1100000000, 10900000000, 1, 70, 73, 11, 4, 1, 1, 0), (31, 1100000000, 10900000000, 1, 70, 74, 11, 4, 1, 1, 0)"
ok "the headline says so" grep -qE 'was stopped [0-9.]+ % of 10.0 s; 2 of its threads waited for collections, in the mean 9[78] % of the time' \
	<("$ctl" summary "$d/waiting.db")
"$ctl" why "$f" --at 2.025 >"$d/at"
ok "--at shows the frequency" grep -qE '^policy0 +CPUs 0-1: 1400 MHz, 67 % of the highest$' "$d/at"
ok "--at shows the policy's last decision before it" \
	grep -qE '^  decided   20\.000 ms before: 700 MHz to 1400 MHz, reason .*, load 50 %$' "$d/at"
ok "--at shows the requesting thread" grep -qE '^  asked by  collector, thread 71, in remark, 0\.120 ms from hint to request$' "$d/at"
ok "--at shows the limit that applied" grep -qE \
	'^  bounds    governor gchint, 300 MHz to 1400 MHz: at its upper limit, which is below the hardware.s$' "$d/at"
ok "--at shows throttling" grep -q '^throttled   cpufreq-cpu0 in state 3$' "$d/at"
ok "--at shows the phase under way" grep -qE '^under way   remark, stw, for 25\.000 ms of 40\.000, collector, thread 71, cpu1$' "$d/at"
"$ctl" why "$f" --at 1.2 >"$d/early"
ok "before any hint the load alone decides" bash -c "grep -q '^  asked by  no thread: load alone' '$d/early' && grep -q '^under way   no phase' '$d/early'"
ok "what is not known is said to be" grep -q 'decided   not known' <("$ctl" why "$f" --at 0.5)
ok "an instant outside is refused with the recording's length" bash -c "'$ctl' why '$f' --at 11 2>&1 | grep -q 'lasts 10.000 s'"
# A name is its thread's at that time; a later one applies to what came before any.
sqlite3 "$f" "delete from processes;
	insert into processes values(70, 71, 1000, 0, 'collector', null), (70, 71, 4500000000, 0, 'renamed', null),
		(80, 71, 1000, 0, 'another', null), (70, 73, 9000000000, 0, 'late', null);
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain) values
	(20, 7000000000, 7005000000, 1, 70, 73, 3, 1, 1, 1, 0)"
ok "a pause belongs to the process that had the thread number then" is "collector renamed late" \
	"$("$ctl" why "$f" | sed -n 's/.* \([a-z]*\), thread .*/\1/p' | paste -sd' ')"
# So many pauses, each in a thread with a name of its own, and a phase over all of them: CPU time,
# independent of other load.
many() { # N
	rm -f "$d/many.db"
	cp "$f" "$d/many.db"
	sqlite3 "$d/many.db" "delete from phases; delete from processes;
		update meta set value = 2000000000 + $1 * 1000000 where key = 'end_ns';
		insert into phases(t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain)
			values(1000000001, 2000000000 + $1 * 1000000, 1, 70, 9, 4, 2, 1, 1, 0);
		insert into phases(t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain) select 1000000000 + value * 1000000,
			1000000100 + value * 1000000, 1, 70, 100 + value, value % 2 * 6 + 5, 1 + value % 2 * 3, 1, 1, 0 from generate_series(1, $1);
		insert into processes select 70, 100 + value, 1000, 0, 't' || value, null from generate_series(1, $1)"
	TIMEFORMAT=%U
	{ time "$ctl" why -n "$1" "$d/many.db" >"$d/list"; } 2>&1
}
few=$(many 8000)
ok "each of many pauses and waits is listed" is "8000 t1, thread 101 t8000, thread 8100" \
	"$(grep -c ' alongside mark, concurrent$' "$d/list") $(grep -oE '\bt[0-9]+, thread (101|8100)\b' "$d/list" | sort -u | paste -sd' ')"
more=$(many 32000)
ok "four times as many take about four times as long" \
	awk -v a="$few" -v b="$more" 'BEGIN { print a, b; exit !(b < 8 * (a + .05)) }'

# A kernel without a cpufreq driver has the directory, with nothing in it.
mkdir -p "$d/empty/devices/system/cpu/cpufreq"
ok "a machine without a policy is reported" grep -q '^this machine has no cpufreq policy' \
	<(GCHINT_SYSFS="$d/empty" "$ctl" why 2>&1)
# A recording in which two collections of one pause, and those of a wait, have readings.
cp "$f" "$d/heap.db"
sqlite3 "$d/heap.db" "create table heaps(t integer, tgid integer, tid integer, moment text, used integer, committed integer, most integer,
	allocated integer, freed integer, generation integer) strict;
	insert into heaps values(2999999999, 70, 71, 'after', 1, 1, 1, 1, 1, 9), (3000000000, 70, 71, 'before', 50331648, null, 104857600, null, null, 0),
	(3010000000, 70, 71, 'after', 48234496, null, 104857600, null, 5, 0), (3040000000, 70, 71, 'after', 20971520, null, 104857600, null, 2, 1),
	(3020000000, 80, 80, 'after', 7, null, 8, null, 7, 7), (5005000000, 70, 71, 'before', 9, null, null, null, null, null)"
"$ctl" why "$d/heap.db" >"$d/list"
ok "a pause has the heap before and after, what was freed, and the generation" grep -qE \
	'^ +2\.000000 +40\.000  remark, stw +explicit +1050 +20\.000 +1 +48\.0 MiB +20\.0 MiB +20% +7 collector, thread 71' "$d/list"
ok "what a pause does not know of the heap is unknown" grep -qE \
	'^ +4\.000000 +10\.000  roots, stw .* +\? +9 bytes +\? +\? +\? renamed, thread 71' "$d/list"
ok "JSON has the same, and null" is "2 explicit 1 50331648 20971520 104857600 7 ['mark, concurrent'] 4 allocation None 9 None None None []" \
	"$("$ctl" why --json "$d/heap.db" | python3 -c 'import json, sys
keys = "cause", "generation", "before_bytes", "after_bytes", "limit_bytes", "freed_objects", "alongside"
print(*(" ".join([str(round(p["at"], 6))] + [str(p[k]) for k in keys]) for p in json.load(sys.stdin)["pauses"][:2]))')"
# As bundled collectors take them; another pause and its readings follow at once.
cp "$d/heap.db" "$d/around.db"
sqlite3 "$d/around.db" "delete from heaps; insert into heaps values(2999970000, 70, 71, 'before', 50331648, null, null, null, null, 1),
	(3040020000, 70, 71, 'after', 20971520, null, null, null, null, 1), (4990000000, 70, 71, 'before', 1, null, null, null, null, 1),
	(5010000500, 80, 71, 'after', 2, null, null, null, null, 1)"
ok "readings just before and after a pause are its own" is "50331648 20971520 None None" "$("$ctl" why --json "$d/around.db" | python3 -c 'import json, sys
print(*(p[k] for p in json.load(sys.stdin)["pauses"][:2] for k in ("before_bytes", "after_bytes")))')"
ok "JSON of an instant is refused" is 2 "$("$ctl" --json why "$d/heap.db" --at 1 2>/dev/null; echo $?)"
ok "--try wants a program behind --, and --change is for it" is "2 2 2" "$("$ctl" why --try "$f" 2>/dev/null; printf '%s ' $?
	"$ctl" why --try 2>/dev/null; printf '%s ' $?; "$ctl" why --change GOGC=200 "$f" 2>/dev/null; echo $?)"
touch "$d/kept-then.db"
ok "--try replaces no recording" is "2 gchintctl: why: $d/kept-then.db exists; choose another --output" "$(
	"$ctl" why --try -o "$d/kept" -- java 2>"$d/err"; echo "$? $(cat "$d/err")")"
# The program says what it was given: its own option is replaced, another one comes first, variables are set.
printf '#!/bin/sh\necho "$GOGC $OCAMLRUNPARAM $*"\n' >"$d/says"
chmod +x "$d/says"
OCAMLRUNPARAM=v=0 "$ctl" why --try -c '-Xmx9m GOGC=200 --size=7 OCAMLRUNPARAM=s=1M' -o "$d/said" -- "$d/says" -x --size=3 -Xmx5g >"$d/list" 2>"$d/err"
ok "--change replaces options, adds others in front, and sets variables" is " v=0 -x --size=3 -Xmx5g|200 v=0,s=1M -x --size=7 -Xmx9m" \
	"$(grep -- ' -x ' "$d/err" | paste -sd'|')"
ok "of what is not known nothing is predicted" grep -qE '^predicted +\? +\? +\? +\? +\?$' "$d/list"
"$ctl" --json why --try -c --new=1 -o "$d/said-json" -- "$d/says" -x >"$d/list" 2>"$d/err"
ok "--try prints JSON" is "--new=1 0 None 0 --new=1 -x" "$(python3 -c 'import json, sys
r = json.load(sys.stdin)
print(r["setting"], r["now"]["collections"], r["predicted"]["paused_ns"], r["seen"]["full_collections"])' <"$d/list") $(sed -n 's/^ *\(--new.*\)/\1/p' "$d/err")"
