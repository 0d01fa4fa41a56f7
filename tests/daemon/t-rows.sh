# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Every row that gchintd writes for a board and for fixed messages, without times, and of each type of
# record, compared with expected/rows. Of a policy's states the first and the last: two files make one,
# and the recorder may read between their changes. And the metrics of them.

fresh rows
port=$(free_port)
(umask 077 && echo 0123456789abcdef >"$d/token")
cat >"$d/conf" <<X2
[metrics]
listen = 127.0.0.1:$port
token_file = $d/token
service = board
[thermal]
period_ms = 50
[cpufreq]
period_ms = 50
[cpuidle]
period_ms = 50
X2
start -c "$d/conf" --label rows -p 20
written() { # QUERY: that there are rows (default: one)
	[ "$(sql "select count(*) from ($1)")" -ge "${2:-1}" ]
}
fed() { # ARGUMENT...: what is fed, to its end: the next one's takes its place
	feed "$@" >/dev/null
	feeds=$((feeds + 1))
	wait_for 10 written "select 1 from notes where text = 'feed closed'" "$feeds"
}
feeds=0
"$BUILD/feed" "$d" --write "$d"
for n in 0 1 2 3; do fed --raw "$d/message-$n"; done
fed --events 40 --batch 4
fed --events 24 --batch 3 --gap 7
cpu=$d/sys/devices/system/cpu
echo performance >"$cpu/cpufreq/policy0/scaling_governor"
echo 1497600 >"$cpu/cpufreq/policy0/scaling_max_freq"
printf '300000 10\n960000 600\n2100000 99\n' >"$cpu/cpufreq/policy0/stats/time_in_state"
echo 652800 >"$cpu/cpufreq/policy1/scaling_cur_freq"
echo 92000 >"$d/sys/class/thermal/thermal_zone0/temp"
echo 2 >"$d/sys/class/thermal/cooling_device0/cur_state"
echo 234567 >"$cpu/cpu1/cpuidle/state0/time"
echo 111 >"$cpu/cpu1/cpuidle/state0/usage"
# In place: a file that is truncated first may be read empty.
echo 1100000 1<>"$d/sys/class/powercap/intel-rapl:0/energy_uj"
echo 2500000 1<>"$d/sys/class/hwmon/hwmon0/power1_input"
echo x >"$d/sys/class/hwmon/hwmon1/curr1_input"
wait_for 10 written "select 1 from policy_states where governor = 'performance' and max_khz = 1497600"
wait_for 10 written "select 1 from thermal where value = 92000"
wait_for 10 written "select 1 from idle where usage = 111"
wait_for 10 written "select 1 from samples where value = 2500000"
wait_for 10 written "select 1 from sample_list where name like '%curr1' and value is null"
wait_for 10 written "select 1 from sample_list where kind = 'energy' and value > 900000"
get_metrics() {
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n' >&3
	timeout 250 cat <&3 | tr -d '\r' | sed '1,/^$/d'
	exec 3>&-
}
get_metrics >"$d/metrics"
stop
rows() {
	local q
	while read -r q; do
		echo "== $q"
		sql "$q" | sed "s|$d/||g"
	done <<'X2'
select key, value from meta where key in ('label', 'board.model', 'board.cpus', 'schema')
select kind, number, name from names
select source, clock, offset_ns, how from clocks where source not in ('realtime', 'trace')
select name, state, what, remedy, period_ns from sources where name not in ('perf', 'library')
select policy, cpus, driver, governor, hw_min_khz, hw_max_khz, latency_ns from policies
select policy, governor, min_khz, max_khz from policy_states where t in (select min(t) from policy_states group by policy union select max(t) from policy_states group by policy) group by 1, 2, 3, 4
select * from opps
select id, name, label, kind, unit, source, path, period_ns, derived, cpus, update_ns, wraps_at from rails
select rail, value from samples group by 1, 2
select count(*) > 20 from samples where error_ns is null or error_ns < 0 or error_ns > 1000000000
select id, t1 > t0, cpu, tgid, tid, slot, phase, flags, cause, seq, work_done, work_total, stall_ns, how, uncertain from phases where id < 60
select cpu, policy, khz_from, khz, reason, load, latency_ns, tgid, tid, slot, phase, flags from decisions
select tgid, tid, slot, role, lease from leases
select cpu, khz, how from transitions group by 1, 2, 3
select policy, khz, total_ns from residency group by 1, 2, 3
select * from idle_states
select cpu, state, total_us, usage from idle group by 1, 2, 3, 4
select cpu, online from hotplug
select kind, name, path from thermal_sensors
select sensor, value from thermal group by 1, 2
select source, count, why from drops
select priority, source, text from notes where source not in ('perf', 'library', 'record') group by 1, 2, 3
select count(*) > 1, min(cpu_ns) > 0, max(cpu_ns) < 100000000000, max(wakeups) > min(wakeups), max(records) > 50, max(bytes) > 1000, min(rss_kib) > 1000 from costs
X2
}
# Every field of every record, known and unknown, at its bounds.
all_rows() {
	local t
	"$BUILD/unit" rows "$d/all.db"
	for t in $(sqlite3 "$d/all.db" "select name from sqlite_master where type = 'table' and name != 'names' order by name"); do
		echo "== $t"
		sqlite3 -nullvalue NULL "$d/all.db" "select * from $t"
	done
	sqlite3 "$d/all.db" "select count(*), sum(number) from names"
}
ok "rows of a board and its messages, and of each record type" expected rows eval "rows; all_rows"

# What is wrong with metrics: a sample of no family, or of another type than its family says, a name
# twice, buckets that fall or whose last is not the count.
cat >"$d/metrics.py" <<'X2'
# SPDX-License-Identifier: MIT
import re
import sys

types, samples, suffix = {}, {}, {"counter": ("_total",), "info": ("_info",), "gauge": ("",), "summary": ("_sum", "_count"),
                                  "histogram": ("_bucket", "_sum", "_count")}
for line in sys.stdin:
    if m := re.match(r"# TYPE (\S+) (\S+)$", line):
        types[m[1]] = m[2]
    elif not line.startswith("#"):
        m = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)\n', line)
        if not m:
            sys.exit(f"no sample: {line}")
        if not any(m[1] == name + s for name, t in types.items() for s in suffix[t] + ("",)):
            sys.exit(f"of no family: {line}")
        if (m[1], m[2]) in samples:
            sys.exit(f"twice: {line}")
        samples[m[1], m[2]] = float(m[3])
for (name, labels), value in samples.items():
    if name.endswith("_count") and types.get(name[:-6]) == "histogram":
        buckets = [v for (n, l), v in samples.items() if n == name[:-6] + "_bucket" and
                   (not labels or l.startswith(labels + ","))]
        if buckets != sorted(buckets) or buckets[-1] != value:
            sys.exit(f"buckets of {name}{{{labels}}}: {buckets}")
sys.exit(None if samples else "no sample")
X2
ok "metrics of a board are well-formed" python3 "$d/metrics.py" <"$d/metrics"
ok "metrics have the board's counts and readings" shows cat metrics <<'X2'
gchint_phases_total{service="board",phase="mark"} 33
gchint_decisions_total{reason="stw"} 1
gchint_hint_latency_seconds_sum 0.000030000
gchint_hint_latency_seconds_count 1
gchint_cpu_frequency_hertz{cpu="0"} 792000000
gchint_rail_watts{rail="adm1272-0-0060:power1",label="pin"} 2.500000
gchint_rail_volts{rail="regulator.1:vddarm",label="vddarm"} 0.975000
! gchint_rail_amperes{
gchint_rail_joules_total{rail="intel-rapl:0",label="package-0"}
gchint_slots 0
X2
"$BUILD/unit" metrics - >"$d/all-metrics"
metrics_of() { # AUDIENCE: the metrics for it; of each record type
	sed -n "/^== for $1/,/^== /{/^== /d;p}" "$d/all-metrics"
}
for audience in "the token" everyone; do
	ok "metrics of each record type are well-formed, for $audience" python3 "$d/metrics.py" < <(metrics_of "$audience")
done
ok "metrics of lengths at and beyond each bucket's bound" shows metrics_of "the group, format 0" <<'X2'
gchint_phase_seconds_total{phase="collect"} 1.000250000
gchint_phase_length_seconds_bucket{phase="collect",waits="none",le="0.0001"} 0
gchint_phase_length_seconds_bucket{phase="collect",waits="none",le="0.00025"} 1
gchint_phase_length_seconds_sum{phase="collect",waits="one"} 1.000000000
gchint_phase_length_seconds_bucket{phase="collect",waits="all",le="0.0001"} 1
X2
ok "metrics of rails, frequencies and losses, with all that is known" shows metrics_of "the token" <<'X2'
gchint_hint_latency_seconds_sum 0.000132000
gchint_hint_latency_seconds_count 18
gchint_cpu_frequency_hertz{cpu="511"} 4999999000
gchint_cpu_frequency_hertz{cpu="512"} 1000
gchint_cpu_transitions_total{cpu="0"} 2
gchint_rail_watts{rail="rail \"0\"",label="of power"} 4.500001
! label="gone"
! label="not read"
gchint_rail_amperes{rail="rail \"1\"",label="of current"} -0.250000
gchint_rail_joules_total{rail="after a minute",label=""} 9.999999
gchint_rail_joules_total{rail="rail \"0\"",label="of power"} 14.125000
gchint_dropped_total{source="genl",why="lost"} 9
gchint_dropped_total{source="queue",why="full"} 11
gchint_slots 12
gchint_slots_in_phase 13
gchint_daemon_cpu_seconds_total 1.500000
gchint_daemon_resident_bytes 35840
gchint_recording_bytes 22
gchint_recording_stopped 1
X2
ok "a stranger sees only rails of everyone, joules a minute old, and no phases" shows metrics_of everyone <<'X2'
! gchint_phase
! gchint_decisions
! gchint_slots
gchint_rail_watts{rail="rail \"1\"",label="of power"} 4.500001
! gchint_rail_watts{rail="rail \"0\""
gchint_rail_joules_total{rail="rail \"0\"",label="of power"} 3
gchint_rail_joules_total{rail="after a minute",label=""} 9
X2
ok "what is not known has no sample" shows metrics_of "the group, format 0" <<'X2'
! gchint_slots
! gchint_daemon_resident_bytes
gchint_recording_stopped 0
X2
