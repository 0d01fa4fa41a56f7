# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Energy counters of perf's power PMUs, a rail per core among them. No test machine has them: their
# files are created here, and power.so replaces the kernel's counters.

pmus() { # two cores of two threads each, and the package
	local dev=$d/sys/bus/event_source/devices cpu=$d/sys/devices/system/cpu n
	mkdir -p "$dev"/power{,_core}/{events,format} "$cpu"/cpu{0,1}/topology "$d/counters"
	for n in power power_core; do
		echo config:0-7 >"$dev/$n/format/event"
	done
	echo 21 >"$dev/power_core/type"
	echo 0-1 >"$dev/power_core/cpumask"
	echo event=0x1 >"$dev/power_core/events/energy-core"
	echo 2.3283064365386962890625e-10 >"$dev/power_core/events/energy-core.scale"
	echo Joules >"$dev/power_core/events/energy-core.unit"
	echo 22 >"$dev/power/type"
	echo 0 >"$dev/power/cpumask"
	echo event=0x2 >"$dev/power/events/energy-pkg"
	echo 1e-6 >"$dev/power/events/energy-pkg.scale"
	echo Joules >"$dev/power/events/energy-pkg.unit"
	echo 0,2 >"$cpu/cpu0/topology/core_cpus_list"
	echo 1,3 >"$cpu/cpu1/topology/core_cpus_list"
	# Steps of 2^-32 J, and of 1 uJ.
	echo 0 >"$d/counters/21-1-0"
	echo 4294967296 >"$d/counters/21-1-1"
	echo 7000000 >"$d/counters/22-2-0"
}
counted() { # COMMAND...: replaces this shell, with counters
	GCHINT_POWER=$d/counters ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/power.so" exec "$@"
}
status() { # their line of the status
	(GCHINT_SYSFS=$d/sys GCHINT_TRACEFS=$d/none counted "$ctl" status 2>&1) | grep -A1 '^  power ' |
		grep -E '^  power |fix: ' | sed 's/^ *//; s/  */ /g' | paste -sd' '
}
started() { # OPTION...: gchintd with counters, ready
	counted "$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/none" --debugfs "$d/debug" \
		--feed "$d/feed" --annotations "$d/annotations" "$@" 2>>"$d/log" &
	pid=$!
	daemons+=("$pid")
	wait_for 10 test -S "$d/annotations"
}

fresh power
ok "a machine without perf's energy counters is reported" is \
	"power - no energy counter of perf's that powercap does not have" "$(status)"
pmus
ok "counters of cores are found, and of the package if powercap has none" is \
	"power + 2 energy counters of perf's, 2 of them of a core" "$(status)"
rm -r "$d/sys/class/powercap"
ok "without powercap the package's counter is found" is "power + 3 energy counters of perf's, 2 of them of a core" "$(status)"
mv "$d/counters/21-1-1" "$d/away"
started -p 20
wait_for 5 grep -q "power: power_core-1:energy-core: .*: No such file or directory" "$d/log"
ok "a counter that the kernel does not open is reported by name" grep -q \
	"power: power_core-1:energy-core: .*: No such file or directory" "$d/log"
mv "$d/away" "$d/counters/21-1-1"
wait_for 10 grep -q "power_core-1:energy-core: back" "$d/log"
# Replaced as a whole: a read in between finds no partial file.
echo 2147483648 >"$d/half" && cat "$d/half" 1<>"$d/counters/21-1-0"
wait_for 30 got 1 "select count(*) > 0 from rails join samples on rail = id where name = 'power_core-0:energy-core' and value = 500000"
wait_for 30 got 1 "select count(*) > 0 from rails join samples on rail = id where name = 'power_core-1:energy-core' and value = 1000000"
# A counter of a CPU that goes offline has no data, and none afterwards unless it is opened anew.
: >"$d/counters/22-2-0"
wait_for 8 grep -q "power-0:energy-pkg: its CPU went offline" "$d/log"
ok "a counter whose CPU goes offline is reported" grep -q \
	"power: power-0:energy-pkg: its CPU went offline: its value is unknown from here" "$d/log"
echo 7000000 >"$d/counters/22-2-0"
wait_for 8 grep -q "power-0:energy-pkg: back" "$d/log"
ok "it is opened anew when it counts again" grep -q "power: power-0:energy-pkg: back" "$d/log"
stop
ok "each core has a rail with its CPUs, in joules" is \
	"power-0:energy-pkg||7000000 power_core-0:energy-core|0,2|0 power_core-0:energy-core|0,2|500000 power_core-1:energy-core|1,3|1000000" \
	"$(sql "select distinct name, cpus, value from rails join samples on rail = id where source = 'power' and value is not null order by 1, 3" | paste -sd' ')"
ok "a rail has its update interval and a counter that does not wrap" is "3|1000000|" \
	"$(sql "select count(*), max(update_ns), max(wraps_at) from rails where source = 'power'")"

# Output about rails of cores. Two cores of two threads, 1 and 0.5 W, and 2 W more in a phase on one
# of their CPUs (of 70 on CPU 2 from 2 to 4 s, of 80 on CPU 1 from 5 to 6 s); read every 100 ms,
# updated every ms.
made() { # NAME SQL: a recording of ten seconds with no rails but those of the SQL
	sqlite3 "$d/$1.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs; delete from rails;
		delete from annotations; delete from phases; update meta set value = 1000000000 where key = 'start_ns'; delete from opps;
		update meta set value = 11000000000 where key = 'end_ns'; $2"
}
rail="insert into rails(id, name, label, kind, unit, source, cpus, update_ns, wraps_at) values"
made cores "delete from processes; insert into processes(tgid, tid, t, uid, comm) values(70, 70, 0, 0, 'java'), (80, 80, 0, 0, 'node');
	$rail(1, 'power_core-0:energy-core', 'core of CPU 0,2', 'energy', 'uJ', 'power', '0,2', 1000000, null),
		(2, 'power_core-1:energy-core', 'core of CPU 1,3', 'energy', 'uJ', 'power', '1,3', 1000000, null);
	insert into samples select 1000000000 + value * 100000000, 1, value * 100000 + 200000 * max(0, min(value - 10, 20)), 1
		from generate_series(0, 100);
	insert into samples select 1000000000 + value * 100000000, 2, value * 50000 + 200000 * max(0, min(value - 40, 10)), 1
		from generate_series(0, 100);
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) values
		(1, 2000000000, 4000000000, 2, 70, 70, 4, 2, 1, 0), (2, 5000000000, 6000000000, 1, 80, 80, 4, 2, 1, 0)"
"$ctl" summary "$d/cores.db" >"$d/summary"
told() { # PATTERN: the line of the summary with it, spaces merged
	sed 's/  */ /g; s/^ //' "$d/summary" | grep -- "$1"
}
ok "energy by core" is "CPU 0,2 14.000000 J, mean 1.400000 W; in phases 6.000000 J (5.700000 to 6.100000) CPU 1,3 7.000000 J, mean 0.700000 W; in phases 2.500000 J (2.250000 to 2.550000)" \
	"$(told '^CPU' | paste -sd' ')"
ok "energy of all cores by phase" is "mark, concurrent 8.500000 J (7.950000 to 8.650000)" "$(told '^mark, conc.* J ')"
ok "energy by process" is "java (70) 6.000000 J (5.700000 to 6.100000) node (80) 2.500000 J (2.250000 to 2.550000)" \
	"$(told '^[a-z]* ([78]0)' | paste -sd' ')"
ok "the report names the sensor's resolution" is "its counter updates about every 1.0 ms, which its bounds allow for" "$(told '^its counter')"
ok "JSON has the same energies" is "0,2 14 6 5.7 6.1|java 6|1000000 1,3 7 2.5 2.25 2.55|node 2.5|1000000" \
	"$("$ctl" --json summary "$d/cores.db" | python3 -c 'import json, sys
def line(e):
    p = next(p for p in e["by_phase"] if p["phase"] == "mark, concurrent")
    return (e["cpus"], e["joules"], p["joules"], p["low_joules"], p["high_joules"])
print(*(" ".join(f"{v:.9g}" if isinstance(v, float) else str(v) for v in line(e)) + "|" +
    " ".join("%s %.9g" % (p["name"], p["joules"]) for p in e["by_process"]) + "|" + str(e["update_ns"])
    for e in json.load(sys.stdin)["energy"]))')"
page() { # NAME: its page
	"$ctl" report -o "$d/$1.html" "$d/$1.db"
}
page cores
ok "the page has a row per core" is 2 "$(grep -cE '<tr><td>CPU [01],[23]</td><td>(14|7)\.0000</td><td>(1\.400|0\.700)</td><td>(6|2\.5)[0-9.]* ' "$d/cores.html")"
ok "the page has one column for all cores by phase" is "2 0" \
	"$(grep -c '<th>all cores<br>measured</th>' "$d/cores.html") $(grep -c '<th>core of CPU' "$d/cores.html")"
ok "the page has a row per process" is 1 "$(grep -c '<tr><td>java (70)</td><td>6.0000 <span class="pm">(5.7000&nbsp;to&nbsp;6.1000)' "$d/cores.html")"
cp "$d/cores.db" "$d/again.db"
ok "comparisons have one value for all cores" is "1 0" \
	"$("$ctl" compare "$d/cores.db" -- "$d/again.db" | grep -c 'energy of all cores, measured') $("$ctl" compare "$d/cores.db" -- "$d/again.db" | grep -c 'core of CPU')"
ok "exports name the core" is "2 2 2 2" "$(for f in openmetrics chrome-trace firefox jsonl; do
	"$ctl" export -f $f "$d/cores.db" | grep -oE '[(":]core of CPU [01],[23][")]' | sort -u | wc -l; done | paste -sd' ')"

# A counter that did not change is not zero power: 2 W updated every ms, read four times as often;
# and one in steps of 2^12 uJ of a power that is really off from the fifth second on.
made still "$rail(1, 'intel-rapl:0', 'uncore', 'energy', 'uJ', 'powercap', null, 1000000, 262143328850);
	insert into samples select 1000000000 + value * 250000, 1, min(value / 4, 4000) * 2000, 1 from generate_series(0, 40000)"
page still
ok "a counter that is read faster than it updates has no zero intervals" is "0.000 2.000" \
	"$(python3 -c 'import json, re, sys
text = re.search(r"<script type=.application/json.>(.*?)</script>", sys.stdin.read(), re.S).group(1)
print(*sorted({"%.3f" % v for v in json.loads(text)["rails"][0]["points"][1::2] if v is not None}))' <"$d/still.html")"
"$ctl" summary "$d/still.db" >"$d/summary"
ok "counter steps and the counter's end are reported" is \
	"its counter updates about every 1.0 ms, which its bounds allow for, and wraps after 262143 J (327679 s at this mean)" \
	"$(told '^its counter')"
ok "all readings are counted" is "intel-rapl:0 uJ 40001" "$(told '^intel-rapl:0' | awk '{ print $1, $2, $6 }')"

# Between two readings a counter may wrap more often than is visible: 100 W, then 300 J more after
# 17 s; it wraps at 1000 J, so that 1300 J would be 76 W. And one that never had more than 50 W.
made wraps "$rail(1, 'a', 'hot', 'energy', 'uJ', 'powercap', null, null, 1000000000),
		(2, 'b', 'cool', 'energy', 'uJ', 'powercap', null, null, 1000000000);
	insert into samples select 1000000000 + value * 1000000000, 1, value * 100000000, 1 from generate_series(0, 2);
	insert into samples select t, 2, value / 2, 1 from samples; insert into samples values(20000000000, 1, 500000000, 1),
		(20000000000, 2, 400000000, 1)"
"$ctl" summary "$d/wraps.db" >"$d/summary"
ok "an interval in which a counter may have wrapped twice is unknown" is \
	"ENERGY a (hot): 200.000000 J, 1 intervals are so long that it may have done so twice: not known ENERGY b (cool): 400.000000 J," \
	"$(told '^ENERGY\|twice' | sed 's/ mean.*//' | paste -sd' ')"
ok "the rail's maximum power resolves such an interval" is "500.000000 J" \
	"$("$ctl" summary -w a=0:70 "$d/wraps.db" | sed -n 's/^ENERGY  a (hot): \(.* J\),.*/\1/p')"

# A concurrent mark on one of four CPUs, the other three busy all the time that it is open. The
# package draws 4 W asleep and 2 W more for each busy CPU: CPU 0 from 3 to 5 s, in the phase, CPUs 1
# to 3 from 2 to 6 s. While open: 2 s at 12 W. Attributed: 2 s at 2 W.
package="delete from idle; delete from sched; delete from policies; update meta set value = '0-3' where key = 'board.cpus';
	delete from processes; insert into processes(tgid, tid, t, uid, comm) values(70, 70, 0, 0, 'java');
	insert into transitions select 1000000000, value, 960000, 'start' from generate_series(0, 3);
	insert into idle select 1000000000 + k.value * 100000000, c.value, 0, 100000 * (k.value - case c.value
		when 0 then max(0, min(k.value - 30, 20)) else max(0, min(k.value - 20, 40)) end), k.value
		from generate_series(0, 3) c, generate_series(0, 100) k;
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) values
		(1, 4000000000, 6000000000, 0, 70, 70, 4, 2, 1, 0);
	insert into sched(t, tgid, tid, run_ns) select 1000000000 + value * 100000000, 70, 70,
		max(0, min(value - 30, 20)) * 100000000 from generate_series(0, 100);
	$rail(1, 'intel-rapl:0', 'package', 'energy', 'uJ', 'powercap', null, null, null);
	insert into samples select 1000000000 + value * 100000000, 1, 400000 * value + 200000 * max(0, min(value - 30, 20))
		+ 600000 * max(0, min(value - 20, 40)), 1 from generate_series(0, 100)"
made attributed "$package"
"$ctl" summary "$d/attributed.db" >"$d/summary"
ok "energy while a phase was open is that of the whole rail" is "24.000000 J (24.000000 to 24.000000)" \
	"$(told '^mark, conc.* J ' | sed -n '1s/.*concurrent //p')"
ok "energy attributed to its thread is that of one CPU, above idle" is "4.000000 J" \
	"$(told '^mark, conc.* J ' | sed -n '2s/.*concurrent \(.* J\) .*/\1/p')"
ok "the rest is other threads' and the idle part" is "24.000000 40.000000" \
	"$(told '^other threads\|^idle and shared' | sed 's/^[a-z ]* \([0-9.]*\) J.*/\1/' | paste -sd' ')"
ok "how it is attributed is said" grep -q \
	"attributed to threads in phases, by CPU time, weighed by frequency; CPU time of threads: the kernel's account" "$d/summary"
"$ctl" --json summary "$d/attributed.db" >"$d/json"
ok "JSON has both, with bounds that hold the true value" is "24 4 True java 4 40" "$(python3 -c 'import json, sys
e = json.load(sys.stdin)["energy"][0]
a = e["attributed"]
mark = a["by_phase"][0]
print(*(round(v, 6) if isinstance(v, float) else v for v in (
    next(p["joules"] for p in e["by_phase"] if p["phase"] == "mark, concurrent"), mark["joules"],
    mark["low_joules"] <= 4 <= mark["high_joules"], a["by_process"][0]["name"],
    a["by_process"][0]["joules"], a["idle_and_shared"]["joules"])))' <"$d/json")"
page attributed
ok "the page has both" is "1 1" "$(grep -c 'Energy while phases were open' "$d/attributed.html") $(grep -c '<tr><td>mark, concurrent</td><td>4.0000 <span' "$d/attributed.html")"
# The same by method: a sample each millisecond of the phase's thread, a half of them in each of two.
sqlite3 "$d/attributed.db" "insert or replace into meta values('hotspots.event', 'cpu-clock'), ('hotspots.kernel', 'yes'), ('hotspots.hz', '1000');
	insert into symbols values(70, 4096, 0, 'vm', 'loop'), (70, 5000, 0, '[methods]', 'one'), (70, 6000, 0, '[methods]', 'two');
	insert into hotspots select 4000500000 + value * 1000000, 70, 70, 0, 4, 2, 5000 + value % 2 * 1000, 4096, null, null
		from generate_series(0, 1999)"
"$ctl" profile report "$d/attributed.db" >"$d/methods"
ok "a method's energy is that of its CPU, above idle, within its bounds" is "one 2.000 1 two 2.000 1 idle 8.000" \
	"$(awk '/mark, concurrent +(one|two)$/ { split($5, b, "[.][.]"); print $NF, $4, (b[1] <= 2 && b[2] >= 2) }
		/ J idle and shared / { idle = $(NF - 7) } END { print "idle", idle }' "$d/methods" | paste -sd' ')"
ok "a flame graph by energy has the same joules" is "java;mark;one;loop 2000000 java;mark;two;loop 2000000" \
	"$("$ctl" profile flame --energy --folded "$d/attributed.db" | sort | paste -sd' ')"
"$ctl" profile flame --energy -o "$d/flame.svg" "$d/attributed.db"
ok "and says what they are of" grep -q ': 4 J, measured on intel-rapl:0</text>' "$d/flame.svg"
page attributed
ok "the page has the methods, and flame graphs by time and by energy" is "2 1 1" \
	"$(grep -cE '<tr><td>(one|two)</td><td>1.000</td><td>50.0&nbsp;%</td>.*>100.0&nbsp;%</td>.*>0.0&nbsp;%</td>.*<td>2.0000</td>' "$d/attributed.html") $(
	grep -c 'Flame graph by CPU time' "$d/attributed.html") $(grep -c 'Flame graph by energy' "$d/attributed.html")"
sqlite3 "$d/attributed.db" 'delete from rails'
ok "without a rail and a power there is none, for a reason" is "1 gchintctl: $d/attributed.db: the energy of its samples is not known:$(
	echo) it has no rail, and no OPP has a power; leave out --energy" "$(said=$("$ctl" profile flame --energy -o "$d/none.svg" "$d/attributed.db" 2>&1)
		echo "$? $said")"
# Half as busy a thread: what it did not run is not attributed to it.
made halved "$package; update sched set run_ns = run_ns / 2; update idle set total_us = total_us + 50000 * max(0, min(usage - 30, 20)) where cpu = 0;
	update samples set value = value - 100000 * max(0, min((t - 1000000000) / 100000000 - 30, 20))"
ok "a thread that ran for half of its phase has half" is "2" "$("$ctl" --json summary "$d/halved.db" |
	python3 -c 'import json, sys; print(round(json.load(sys.stdin)["energy"][0]["attributed"]["by_phase"][0]["joules"], 6))')"
made asleep "$package; delete from idle"
ok "without idle states nothing is attributed, for a reason" is 1 \
	"$("$ctl" summary "$d/asleep.db" | grep -c "attributed to threads: ?  (the recording has no idle states of the rail's CPUs, ")"

# A counter that reads 0 for ever, as in a virtual machine, measures nothing.
made never "$rail(1, 'power-0:energy-psys', null, 'energy', 'uJ', 'power', null, 1000000, null);
	insert into samples select 1000000000 + value * 100000000, 1, 0, 1 from generate_series(0, 100)"
ok "a counter that never moves is not known" is \
	"ENERGY power-0:energy-psys: ? (its counter never moved: it does not count here, in 101 readings)" \
	"$("$ctl" summary "$d/never.db" | sed -n 's/  */ /g; /^ENERGY/p')"
ok "its energy is null in JSON" is "None its counter never moved: it does not count here" \
	"$("$ctl" --json summary "$d/never.db" | python3 -c 'import json, sys; e = json.load(sys.stdin)["energy"][0]; print(e["joules"], e["unknown"])')"
page never
ok "the page says so" grep -q "power-0:energy-psys: its counter never moved" "$d/never.html"
