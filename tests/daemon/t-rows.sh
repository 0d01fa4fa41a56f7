# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Every row that gchintd writes for a board and for fixed messages, without times, compared with the
# files in words/ (t-words.sh). Of a policy's states the first and the last: two files make one, and the
# recorder may read between their changes.

fresh rows
port=$(free_port)
(umask 077 && echo 0123456789abcdef >"$d/token")
cat >"$d/conf" <<X2
[metrics]
listen = 127.0.0.1:$port
token_file = $d/token
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
ok "rows of a board and its messages" words rows rows
ok "metrics of a board, except values that depend on time" words metrics \
	sed -E '/^gchint_(pause|phase_length|phase_seconds|daemon|recording|recorder|build|rail_joules|rows|records|written)/s/ [0-9.e+-]+$//' "$d/metrics"

# Every field of every record, known and unknown, at its bounds.
ok "metrics of each record type" words metrics-all "$BUILD/unit" metrics -
all_rows() {
	local t
	"$BUILD/unit" rows "$d/all.db"
	for t in $(sqlite3 "$d/all.db" "select name from sqlite_master where type = 'table' and name != 'names' order by name"); do
		echo "== $t"
		sqlite3 -nullvalue NULL "$d/all.db" "select * from $t"
	done
	sqlite3 "$d/all.db" "select count(*), sum(number) from names"
}
ok "rows of each record type" words rows-all all_rows
