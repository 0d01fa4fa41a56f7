# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The recording holds what the kernel and the sensors report.

fresh record
start -l run1
sent=$(feed --events 1000 --rate 20000)
"$ctl" annotations --add "half way" --socket "$d/annotations"
wait_for 30 got 500 'select count(t1) from phases'
wait_for 30 got 1 'select count(*) from annotations'
wait_for 30 got 1 "select count(*) > 0 from sample_list where label = 'pin'"
wait_for 30 got 1 "select count(*) > 0 from sample_list where name = 'ina226-0:power2'"
stop
ok "the daemon exits with 0" is 0 $?
ok "every event is recorded, every phase has an end" \
	is "1000 500 500" "$sent $(sql 'select count(*) from phases') $(sql 'select count(t1) from phases')"
ok "the file is valid and the only one" is "ok r.db" "$(sql 'pragma integrity_check') $(cd "$d" && echo r.db*)"
ok "nothing was dropped" is "" "$(sql 'select * from drops')"
ok "no phase ends before it begins" is 0 "$(sql 'select count(*) from phases where t1 < t0')"
ok "policies and OPPs have voltage and power" is "2|14|1085000|690000" \
	"$(sql 'select (select count(*) from policies), count(*), max(uv), max(power_uw) from opps')"
ok "a power rail has its label" is "adm1272-0-0060:power1|pin|1500000" \
	"$(sql "select name, label, max(value) from sample_list where kind = 'power' and label = 'pin'")"
ok "current times voltage is a rail with a note" is "curr1 x in2|1250000|1250000" \
	"$(sql "select derived, min(value), max(value) from rails join samples on rail = id where derived like 'curr%'")"
ok "an IIO value is scaled" is "1000000|uW" \
	"$(sql "select max(value), unit from sample_list where name = 'ina226-0:power2'")"
ok "a regulator's voltage is marked as set" is "975000|set, not measured" \
	"$(sql "select max(value), max(derived) from rails join samples on rail = id where source = 'regulator'")"
ok "an unchanged voltage is not written again" \
	test "$(sql "select count(*) from rails join samples on rail = id where source = 'regulator'")" -le 4
ok "time in state is in ns" is "5000000000" \
	"$(sql 'select max(total_ns) from residency where policy = 0 and khz = 960000')"
ok "the annotation is recorded" is "half way" "$(sql 'select text from annotations')"
ok "the label is recorded" is "run1" "$(sql "select value from meta where key = 'label'")"
ok "every clock is mapped, with the method" is 0 "$(sql "select count(*) from clocks where how is null")"
ok "each sample has the error of its timestamp" is 0 \
	"$(sql 'select count(*) from samples where value is not null and error_ns is null')"
ok "the daemon's own cost is recorded" test "$(sql 'select count(*) from costs where cpu_ns > 0')" -ge 2
ok "every source has a status or a remedy" is 0 \
	"$(sql "select count(*) from sources where what is null or (state = 'absent' and what = '')")"

# Changes at the right time, unknown as unknown.
fresh change
echo 262143328000 >"$d/sys/class/powercap/intel-rapl:0/energy_uj"
start -p 10
wait_for 30 got 1 "select count(*) > 0 from sample_list where name like '%:power1' and value = 1500000"
wait_for 30 got 1 "select count(*) > 0 from sample_list where kind = 'energy'"
wait_for 30 got 1 "select count(*) > 0 from thermal"
t0=$(awk '{printf "%.0f", $1 * 1e9}' /proc/uptime)
printf '2500000\n' >"$d/sys/class/hwmon/hwmon0/power1_input"
wait_for 30 got 1 "select count(*) > 0 from sample_list where name like '%:power1' and value = 2500000"
: >"$d/sys/class/hwmon/hwmon0/in1_input"
printf '71150\n' >"$d/sys/class/powercap/intel-rapl:0/energy_uj"
echo 0 >"$d/sys/devices/system/cpu/online"
echo 3 >"$d/sys/class/thermal/cooling_device0/cur_state"
wait_for 30 got 1 "select count(*) > 5 from sample_list where name like '%:in1' and value is null"
wait_for 30 got 262143400000 "select max(value) from sample_list where kind = 'energy'"
wait_for 30 got 0 'select online from hotplug order by rowid desc limit 1'
wait_for 30 got 3 'select value from thermal order by rowid desc limit 1'
stop
seen=$(sql "select min(t) from sample_list where name like '%:power1' and value = 2500000")
# /proc/uptime is boot time to 10 ms; the test machine does not suspend.
ok "a change of a rail does not show before its time" test "$seen" -ge $((t0 - 20000000))
ok "a rail has the old value before a change and the new one after" is "0|0" \
	"$(sql "select sum(t < $seen and value != 1500000), sum(t >= $seen and value != 2500000) from sample_list where name like '%:power1'")"
ok "a rail without a value is NULL, not 0" is "1|0" \
	"$(sql "select count(*) > 5, sum(value = 0) is 1 from sample_list where name like '%:in1' and value is null or (name like '%:in1' and value = 0)")"
ok "an energy counter continues after it wraps" is "262143328000|262143400000" \
	"$(sql "select min(value), max(value) from sample_list where kind = 'energy'")"
ok "a CPU that goes offline is recorded" is "1|0" "$(sql 'select cpu, online from hotplug order by rowid desc limit 1')"
ok "throttling is recorded" is "cooling|3" \
	"$(sql 'select kind, value from thermal join thermal_sensors on sensor = id order by thermal.rowid desc limit 1')"
"$ctl" summary "$d/r.db" >"$d/summary"
ok "the summary counts missing readings" bash -c "grep -E 'adm1272-0-0060:in1' '$d/summary' | grep -qvE ' 0\$'"

# A rail that disappears and comes back.
fresh gone
rm "$d/sys/class/hwmon/hwmon1/in2_input"
mkdir "$d/sys/class/hwmon/hwmon1/in2_input"
start -p 10
wait_for 30 grep -q "shunt:in2: .*unknown from here" "$d/log"
rmdir "$d/sys/class/hwmon/hwmon1/in2_input"
echo 5000 >"$d/sys/class/hwmon/hwmon1/in2_input"
wait_for 8 grep -q "shunt:in2: back" "$d/log"
wait_for 30 got 5000000 "select max(value) from sample_list where name = 'shunt:in2'"
stop
ok "a rail that cannot be read is reported once" is 1 "$(grep -c 'shunt:in2: .*unknown from here' "$d/log")"
ok "the rail is found again" grep -q "hwmon: shunt:in2: back" "$d/log"
ok "the rail is recorded again" is "5000000" "$(sql "select max(value) from sample_list where name = 'shunt:in2'")"

# A counter that comes back lower was reset, not wrapped; what is recorded goes on from where it was.
fresh counter
rapl=$d/sys/class/powercap/intel-rapl:0
printf '[powercap]\nperiod_ms = 20\n' >"$d/conf"
start -c "$d/conf" --tracefs "$d/none"
wait_for 30 got 900000 "select max(value) from sample_list where kind = 'energy'"
echo gone >"$rapl/energy_uj"
wait_for 8 grep -q 'intel-rapl:0: .*unknown from here' "$d/log"
echo 1000 >"$rapl/energy_uj"
wait_for 8 grep -q 'intel-rapl:0: back' "$d/log"
wait_for 30 got 900000 "select value from sample_list where kind = 'energy' order by t desc limit 1"
echo 3000 1<>"$rapl/energy_uj"
wait_for 30 got 902000 "select value from sample_list where kind = 'energy' order by t desc limit 1"
stop
ok "an energy counter that was gone goes on without a wrap" is "900000 902000" \
	"$(sql "select distinct value from sample_list where kind = 'energy' and value is not null order by t" | paste -sd' ')"

# A counter that goes back further than its rail can draw was reset: no range is added.
fresh reset
rapl=$d/sys/class/powercap/intel-rapl:0
echo 100000000000 >"$rapl/energy_uj"
start -c - --tracefs "$d/none"
wait_for 30 got 100000000000 "select max(value) from sample_list where kind = 'energy'"
# In one write of the same length: a read in between finds no part of two numbers.
printf '%12d\n' 5000 >"$d/low" && cat "$d/low" 1<>"$rapl/energy_uj"
wait_for 30 got 1 "select count(*) > 0 from sample_list where kind = 'energy' and value is null"
printf '%12d\n' 7000 >"$d/low" && cat "$d/low" 1<>"$rapl/energy_uj"
wait_for 30 got 100000002000 "select max(value) from sample_list where kind = 'energy'"
stop
ok "a counter that was reset adds no range" is "100000000000 100000002000" \
	"$(sql "select distinct value from sample_list where kind = 'energy' and value is not null order by t" | paste -sd' ')"
ok "its reset is reported" grep -q "intel-rapl:0: its counter went back from 100000000000 to [0-9]* in [0-9.]* s, which is no wrap: it was reset" "$d/log"
ok "the energy across the reset is not known" is "2000" "$("$ctl" --json summary "$d/r.db" |
	python3 -c 'import json, sys; print(*(round(e["joules"] * 1e6) for e in json.load(sys.stdin)["energy"] if e["rail"] == "intel-rapl:0"))')"

# Frequency through the tracepoint.
fresh trace
start
pipe=$d/trace/instances/gchintd/trace_pipe
{
	echo "  <idle>-0       [000] d.h1.   100.000001: cpu_frequency: state=300000 cpu_id=0"
	echo "  <idle>-0       [000] d.h1.   100.000002: cpu_frequency: state=300000 cpu_id=0"
	echo "CPU:1 [LOST 17 EVENTS]"
	echo "rubbish"
	echo "  a b-7          [001] d.h1.   100.000003: cpu_frequency: state=2100000 cpu_id=1"
} >"$pipe"
wait_for 30 got 2 "select count(*) from transitions where how = 'trace'"
stop
ok "frequencies come from the tracepoint, without repeats" is "100000001000|0|300000
100000003000|1|2100000" "$(sql "select t, cpu, khz from transitions where how = 'trace'")"
ok "events lost in the trace ring are counted" is "trace|17" "$(sql 'select source, count from drops')"
ok "the trace instance uses the monotonic clock" is mono "$(cat "$d/trace/instances/gchintd/trace_clock")"

# Missed events are counted.
fresh drops
start
feed --events 1000 --gap 37 >/dev/null
wait_for 30 got 500 'select count(t1) from phases'
head -c 200 /dev/urandom >"$d/raw"
"$BUILD/feed" "$d/feed" --raw "$d/raw" || true
wait_for 30 got 1 "select count(*) from drops where why = 'malformed message'"
stop
ok "a gap in the sequence numbers is counted" is 37 "$(sql "select count from drops where why like '%sequence gap%'")"
ok "a malformed message is counted and ignored" is "1|500" \
	"$(sql "select (select count(*) from drops where why = 'malformed message'), count(*) from phases")"

# Size limit and rotation.
fresh rotate
start --max-size 256K --keep 50
sent=$(feed --events 30000 --rate 15000)
all_ended() { # in all files, including the current one
	local f n=0 some
	for f in "$d"/r.db "$d"/r.db.*[0-9]; do
		# A file being rotated answers with an error: not yet.
		some=$(db=$f sql 'select count(t1) from phases' 2>/dev/null)
		case $some in '' | *[!0-9]*) return 1 ;; esac
		n=$((n + some))
	done
	[ "$n" -eq 15000 ]
}
wait_for 30 all_ended
stop
total=0 sound=0 files=0
for f in "$d"/r.db "$d"/r.db.[0-9]*; do
	case "$f" in *-wal | *-shm) continue ;; esac
	files=$((files + 1))
	[ "$(db=$f sql 'pragma integrity_check')" = ok ] && sound=$((sound + 1))
	[ "$(db=$f sql 'select count(*) > 0 from rails')" = 1 ] || sound=-99
	total=$((total + $(db=$f sql 'select count(t1) from phases')))
done
ok "rotated files are valid and have their definitions" \
	test "$files" -ge 3 -a "$sound" -eq "$files"
ok "no phase is lost between files" is "30000 15000" "$sent $total"
ok "an older file can be summarised" "$ctl" summary "$d/r.db.1"
fresh row
echo second >"$d/r.db.2"
echo first >"$d/r.db"
start --keep 2
stop
ok "a gap in the row of files stays when files are rotated" is "first second" \
	"$(cat "$d/r.db.1") $(cat "$d/r.db.2")"
fresh limit
start --max-size 256K
feed --events 20000 --rate 20000 >/dev/null &
job=$!
wait_for 10 grep -q "size limit reached" "$d/log"
ok "without rotation the size limit stops the recording, with one message" is 1 \
	"$(grep -c 'size limit reached' "$d/log")"
kill "$job" 2>/dev/null
wait "$job"
stop
ok "the recording keeps its content" is ok "$(sql 'pragma integrity_check')"

# A file that ended cleanly has indexes for the documented queries.
plan() { # a query's words about how rows are found
	sqlite3 -readonly "$work/record/r.db" "explain query plan $1"
}
ok "the frequency of a phase is found by an index" bash -c "$(declare -f plan); work=$work; plan \
	'SELECT t0, khz FROM pause_list' | grep -q 'SEARCH x USING COVERING INDEX transitions_by_cpu (cpu=? AND t<?)'"
ok "a rail over time is found by an index" bash -c "$(declare -f plan); work=$work; plan \
	\"SELECT t, value FROM sample_list WHERE label = 'pin' AND t > 5\" | grep -q 'INDEX samples_by_rail (rail=? AND t>?)'"
ok "an interval of phases is found by an index" bash -c "$(declare -f plan); work=$work; plan \
	'SELECT * FROM phases WHERE t0 BETWEEN 1 AND 2' | grep -q 'INDEX phases_by_begin'"
ok "each documented query finds rows; twice the length takes at most twice the steps" \
	"$here/queries" --steps "$work/record/r.db" "$here/../../docs/recording.md" "$ctl" 2000 4000
indexes="select group_concat(name) from (select name from sqlite_master where type = 'index' and name like '%_by_%'
	order by name)"
ok "a rotated file has the indexes of one that ended" is "$(db=$work/record/r.db sql "$indexes")" \
	"$(db=$work/rotate/r.db.1 sql "$indexes")"
