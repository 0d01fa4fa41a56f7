# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a policy does now: a line a look, means and changes between two of them.

fresh watch
policies=$d/sys/devices/system/cpu/cpufreq
watch() {
	GCHINT_SYSFS=$d/sys "$ctl" watch "$@"
}
echo "0 2" >"$policies/policy0/related_cpus"
echo 10 >"$policies/policy0/stats/total_trans"
GCHINT_SYSFS=$d/sys "$ctl" watch -d 0.5 -n 6 >"$d/lines" &
job=$!
wait_for 10 grep -q policy1 "$d/lines"
# A second at 960 MHz and one at 2100, seven changes, another limit.
printf '300000 10\n960000 600\n2100000 142\n' >"$policies/policy0/stats/time_in_state.new"
mv "$policies/policy0/stats/time_in_state.new" "$policies/policy0/stats/time_in_state"
echo 17 >"$policies/policy0/stats/total_trans"
echo 1400000 >"$policies/policy0/scaling_max_freq"
wait $job
ok "a head, and a line for each policy at each look" is "1 6 6" \
	"$(grep -c '^TIME' "$d/lines") $(grep -c ' policy0 ' "$d/lines") $(grep -c ' policy1 ' "$d/lines")"
ok "the first look knows no mean and no changes" is "960.0 ? 300.0-2100.0 ? schedutil not loaded -" \
	"$(awk '$2 == "policy0" { $1 = $2 = ""; print; exit }' "$d/lines" | xargs)"
ok "a later one the mean over time, and how many changes" is 1 \
	"$(awk '$2 == "policy0" && $4 == "1530.0" && $6 == 7' "$d/lines" | wc -l)"
ok "where nothing was counted since, the mean is not known; no change is none" is "? 0" \
	"$(awk '$2 == "policy0" { last = $4 " " $6 } END { print last }' "$d/lines")"
ok "limits are those in force" is "300.0-1400.0" "$(awk '$2 == "policy0" { last = $5 } END { print last }' "$d/lines")"
ok "no statistics, no number" is "? ?" "$(awk '$2 == "policy1" { last = $4 " " $6 } END { print last }' "$d/lines")"
ok "one by its name" is policy1 "$(watch -n 1 policy1 | awk 'NR > 1 { print $2 }' | xargs)"
ok "or by one of its CPUs, first or not" is "policy0 policy1" \
	"$(watch -n 1 2 | awk 'NR > 1 { print $2 }' | xargs) $(watch -n 1 1 | awk 'NR > 1 { print $2 }' | xargs)"
mkdir -p "$d/sys/class/misc/gchint/actuator"
echo limits >"$d/sys/class/misc/gchint/actuator/policy1"
ok "how hints act, and a reason that the module did not tell" is "limits ?" "$(watch -n 1 1 | awk 'NR > 1 { print $8, $9 }')"
ok "an object a line, null for what is not known" is "policy1 960000 None schedutil limits None" "$(GCHINT_SYSFS=$d/sys "$ctl" \
	watch --json -n 1 1 | python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["policy"], o["khz"], o["mean_khz"], o["governor"], o["hints"], o["reason"])')"
ok "a policy that is not there is exit 1" bash -c \
	"GCHINT_SYSFS='$d/sys' '$ctl' watch -n 1 policy9 2>&1 | grep -q 'no policy policy9' && ! GCHINT_SYSFS='$d/sys' '$ctl' watch -n 1 9 2>/dev/null"
ok "no policies at all are told" bash -c "GCHINT_SYSFS='$d/none' '$ctl' watch -n 1 2>&1 | grep -q 'no cpufreq policy here'"
ok "a delay out of range is exit 2" bash -c "'$ctl' watch -d 0 2>/dev/null; [ \$? = 2 ]"
