# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Drivers that never emit power:cpu_frequency, beside one that does: where no event was seen the
# frequency is polled, though the tracepoint is there.

fresh silent
policy=$d/sys/devices/system/cpu/cpufreq/policy
echo intel_pstate >"${policy}1/scaling_driver"
printf '[cpufreq]\nperiod_ms = 20\n' >"$d/conf"
start -c "$d/conf"
wait_for 5 got 2 "select count(*) from transitions where how = 'start'"
echo "          <idle>-0       [000] d.h.   100.000001: cpu_frequency: state=1190400 cpu_id=0" >"$d/trace/instances/gchintd/trace_pipe"
wait_for 5 got 1 "select count(*) from transitions where how = 'trace'"
echo 1728000 >"${policy}0/scaling_cur_freq"
for khz in 2400000 4700000 1200000; do
	echo "$khz" >"${policy}1/scaling_cur_freq"
	wait_for 5 got 1 "select count(*) from transitions where cpu = 1 and khz = $khz"
done
# The kernel's own mean comes first, where there is one.
echo 3100000 >"${policy}1/cpuinfo_avg_freq"
wait_for 5 got 1 "select count(*) from transitions where cpu = 1 and khz = 3100000"
rows=$(sql "select how, khz from transitions where cpu = 1 order by t" | tr '|' ' ' | paste -sd' ')
others=$(sql "select distinct how from transitions where cpu = 0" | sort | paste -sd' ')
stop
ok "a driver without events is polled" is "start 960000 poll 2400000 poll 4700000 poll 1200000 poll 3100000" \
	"$rows"
ok "a driver with events is not" is "start trace" "$others"
ok "and the recording says which" is 1 \
	"$(sql "select count(*) from notes where text = 'policy1: intel_pstate emits no event as it changes the frequency: it is polled, every 20 ms'")"
