# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sources that other tests do not cover: cost and waits of a thread, idle states, frequency without
# a tracepoint, counters, and what is absent.

# The feed sends events of thread 1 of process 1.
fresh threads
mkdir -p "$d/proc/self" "$d/proc/1/task/1"
echo "1 2 3" >"$d/proc/self/schedstat"
echo "5000000 700000 42" >"$d/proc/1/task/1/schedstat"
echo "se.nr_migrations                             :                   12" >"$d/proc/1/task/1/sched"
echo "1 (a b) c) S 0 1 1 0 -1 4194560 9 8 7 6 30 20 1 2 20 0 1 0 33 0 25" >"$d/proc/1/task/1/stat"
cpu=$d/sys/devices/system/cpu
printf '[cpufreq]\nperiod_ms = 50\n[cpuidle]\nperiod_ms = 50\n[sched]\nperiod_ms = 50\n' >"$d/conf"
start -c "$d/conf" --procfs "$d/proc" --tracefs "$d/none"
# One phase is open all the while; its thread has a lease to be sampled.
feed --events 2000001 --rate 4000 >/dev/null &
job=$!
wait_for 30 got 1 'select count(*) > 0 from sched'
wait_for 30 got 1 'select count(*) > 0 from idle'
wait_for 30 got 1 'select count(*) > 0 from residency'
wait_for 30 got 1 'select count(*) > 0 from transitions'
echo "9000000 800000 50" >"$d/proc/1/task/1/schedstat"
rm "$d/proc/1/task/1/sched"
echo 1497600 >"$cpu/cpufreq/policy1/scaling_cur_freq"
printf '300000 10\n960000 520\n2100000 42\n' >"$cpu/cpufreq/policy1/stats/time_in_state"
echo 223456 >"$cpu/cpu1/cpuidle/state0/time"
echo 101 >"$cpu/cpu1/cpuidle/state0/usage"
wait_for 30 got 1 'select count(*) > 0 from sched where run_ns = 9000000'
wait_for 30 got 1 'select count(*) > 0 from idle where usage = 101'
wait_for 30 got 1 'select count(*) > 0 from transitions where khz = 1497600'
wait_for 30 got 1 'select count(*) > 0 from residency where total_ns = 5200000000'
kill "$job"
wait "$job" 2>/dev/null
stop
ok "CPU time, run-queue delay and slices of a hinted thread are recorded" is "5000000|700000|42|12|300000000|200000000" \
	"$(sql 'select run_ns, wait_ns, slices, migrations, utime_ns, stime_ns from sched order by t limit 1')"
ok "the resident memory of its process is recorded" is $((25 * $(getconf PAGESIZE) / 1024)) \
	"$(sql 'select rss_kib from sched order by t limit 1')"
ok "they are running totals; a missing value is NULL" is "1|1|9000000|800000||300000000" \
	"$(sql 'select tgid, tid, run_ns, wait_ns, migrations, utime_ns from sched order by t desc limit 1')"
ok "idle states are recorded when they change: name, time, usage" is "WFI|123456|100 WFI|223456|101" \
	"$(sql 'select name, total_us, usage from idle join idle_states using (cpu, state) where cpu = 1 order by t' | paste -sd' ')"
ok "a CPU that did not change is recorded once" is 1 "$(sql 'select count(*) from idle where cpu = 0')"
ok "without a tracepoint frequencies are polled and marked so" is "1|960000|start 1|1497600|poll" \
	"$(sql 'select cpu, khz, how from transitions where cpu = 1 order by t' | paste -sd' ')"
ok "time in state is recorded when it changes" is "5000000000 5200000000" \
	"$(sql 'select total_ns from residency where policy = 1 and khz = 960000 order by t' | paste -sd' ')"

# Nothing there: one line each, with what is missing, and the rest continues.
fresh absent
mkdir "$d/empty"
start --sysfs "$d/empty" --procfs "$d/empty" --tracefs "$d/none" --debugfs "$d/none"
feed --events 10 >/dev/null
wait_for 30 got 5 'select count(t1) from phases'
stop
ok "each absent source is reported in one line" is "$("$gchintd" --list-sources | grep -vxE 'genl|hotspots|perf' | paste -sd' ')" \
	"$(sed -n 's/^gchintd: \(.*\): skipped: .*/\1/p' "$d/log" | sort | paste -sd' ')"
ok "absent sources are in the recording" is 0 \
	"$(sql "select count(*) from sources where state = 'absent' and (what is null or what = '')")"
ok "phases are recorded without these sources" is 5 "$(sql 'select count(t1) from phases')"

# More channels than the maximum.
fresh many
for n in $(seq 300); do echo 1 >"$d/sys/class/hwmon/hwmon0/power${n}_input"; done
start -p 1000 --tracefs "$d/none"
wait_for 5 grep -q 'over 256 rails' "$d/log"
stop
ok "rails beyond the maximum are reported once, with a remedy" is "1 256" \
	"$(grep -c 'hwmon: over 256 rails: .* choose some with match' "$d/log") $(sql "select count(*) from rails where source = 'hwmon'")"
# Files for root only: CVE-2020-8694 restricted energy counters.
fresh denied
chmod 400 "$d/sys/class/powercap/intel-rapl:0/energy_uj"
if user_can_change; then
	chmod 755 "$work" "$d"
	# The tree may be in a directory that other users cannot read.
	install -m 755 "$ctl" "$d/gchintctl"
	setpriv --reuid 65534 --clear-groups env GCHINT_SYSFS="$d/sys" "$d/gchintctl" status >"$d/status" 2>&1
	ok "counters for root only are reported in one line, with a remedy" is 1 \
		"$(grep -A1 'powercap' "$d/status" | paste -sd' ' | grep -c 'readable by root only.*CAP_DAC_READ_SEARCH')"
else
	skip "counters for root only are reported in one line, with a remedy" "needs root to be somebody else"
fi

# Counters, where the machine has them; the hinted thread is again that of process 1.
fresh counters
printf '[perf]\nenabled = yes\nperiod_ms = 50\n' >"$d/conf"
start -c "$d/conf" --tracefs "$d/none"
feed --events 801 --rate 2000 >/dev/null
stop
state=$(sql "select state || ': ' || what from sources where name = 'perf'")
case $state in
running*)
	ok "hardware counters of a hinted thread grow" test "$(sql 'select count(*) from perf where enabled_ns > 0')" -gt 1
	;;
*)
	ok "absent counters are reported with the reason" is 1 "$(grep -cE 'perf: skipped: hardware counters are not permitted; run as|perf: skipped: no hardware counters on this machine' "$d/log")"
	skip "hardware counters of a hinted thread grow" "${state#absent: }"
	;;
esac
