# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Current state of policies: a line per sample, means and changes between two of them.

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
ok "a header, and a line per policy and sample" is "1 6 6" \
	"$(grep -c '^TIME' "$d/lines") $(grep -c ' policy0 ' "$d/lines") $(grep -c ' policy1 ' "$d/lines")"
ok "the first sample has no mean and no changes" is "960.0 ? 300.0-2100.0 ? schedutil not loaded -" \
	"$(awk '$2 == "policy0" { $1 = $2 = ""; print; exit }' "$d/lines" | xargs)"
ok "later samples have the mean and the number of changes" is 1 \
	"$(awk '$2 == "policy0" && $4 == "1530.0" && $6 == 7' "$d/lines" | wc -l)"
ok "the mean is unknown if nothing was counted; no change is 0" is "? 0" \
	"$(awk '$2 == "policy0" { last = $4 " " $6 } END { print last }' "$d/lines")"
ok "the limits in force are shown" is "300.0-1400.0" "$(awk '$2 == "policy0" { last = $5 } END { print last }' "$d/lines")"
ok "without statistics mean and changes are unknown" is "? ?" "$(awk '$2 == "policy1" { last = $4 " " $6 } END { print last }' "$d/lines")"
ok "a policy is selected by name" is policy1 "$(watch -n 1 policy1 | awk 'NR > 1 { print $2 }' | xargs)"
ok "a policy is selected by any of its CPUs" is "policy0 policy1" \
	"$(watch -n 1 2 | awk 'NR > 1 { print $2 }' | xargs) $(watch -n 1 1 | awk 'NR > 1 { print $2 }' | xargs)"
mkdir -p "$d/sys/class/misc/gchint/actuator"
echo limits >"$d/sys/class/misc/gchint/actuator/policy1"
ok "the actuator is shown; an unknown reason is ?" is "limits ?" "$(watch -n 1 1 | awk 'NR > 1 { print $8, $9 }')"
ok "JSON is one object per line, null for unknown values" is "policy1 960000 None schedutil limits None" "$(GCHINT_SYSFS=$d/sys "$ctl" \
	watch --json -n 1 1 | python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["policy"], o["khz"], o["mean_khz"], o["governor"], o["hints"], o["reason"])')"
ok "an unknown policy exits with 1" bash -c \
	"GCHINT_SYSFS='$d/sys' '$ctl' watch -n 1 policy9 2>&1 | grep -q 'no policy policy9' && ! GCHINT_SYSFS='$d/sys' '$ctl' watch -n 1 9 2>/dev/null"
ok "a machine without policies is reported" bash -c "GCHINT_SYSFS='$d/none' '$ctl' watch -n 1 2>&1 | grep -q 'this machine has no cpufreq policy'"
ok "a delay out of range exits with 2" bash -c "'$ctl' watch -d 0 2>/dev/null; [ \$? = 2 ]"
