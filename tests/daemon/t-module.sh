# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl with the module loaded: module.c answers in its place.

fresh module
mkdir "$d/none"
# with WORDS ARGUMENT...: gchintctl, with the board in $d, and the module as WORDS say
with() {
	GCHINT_MODULE=$1 GCHINT_SYSFS=$d/sys GCHINT_PROCFS=$d/proc GCHINT_DEVICE=$d/none \
		ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/module.so" "$ctl" "${@:2}"
}
mkdir -p "$d/proc/71" "$d/sys/class/misc/gchint/actuator"
echo java >"$d/proc/71/comm"
echo governor >"$d/sys/class/misc/gchint/actuator/policy0"
cpu=$d/sys/devices/system/cpu
# Sources depend on the machine; t-text.sh tests them.
status() {
	with "$1" status | sed -e 's/ (.*Linux .*//' -e '/^sources/,$d'
}
ok "status" expected status status ""
ok "status of more sessions than are shown" shows status many <<'X2'
session 5000000255: ? (pid 325, uid 1255), 3 slots, may raise
sessions and 3 more
X2
ok "status where the module's files are missing" shows status bare <<'X2'
policy0 CPUs 0 governor schedutil driver cpufreq-dt
! gchint:
session 5000000001: java (pid 71, uid 1001), 1 slots, may raise
X2
ok "status where no hint acts" shows status off <<'X2'
gchint: mode off, last reason table, 5000000000 requests, fast switch
gchint: mode off, last reason model, 5000000001 requests, slow switch
X2
ok "status where limits act" shows status limits <<'X2'
gchint: by governor, mode table, last reason table, 5000000000 requests
gchint: by ?, mode model, last reason model, 5000000001 requests
X2
# What the module refuses, or how it fails, and the line that says so.
for c in "sessions=1 sessions shown to root only" "sessions=5 sessions Input/output error" "info=13 module cannot be queried: Permission denied" \
	"connect module cannot be queried: Protocol not supported" "unsent module cannot be queried: Input/output error" \
	"deaf module cannot be queried: Input/output error" "unloaded module not loaded: hints change no frequency"; do
	ok "status, ${c%% *}" shows status "${c%% *}" <<<"${c#* }"
done
ok "status where policies cannot be queried" shows status policies=5 <<'X2'
policy0 CPUs 0 governor schedutil driver cpufreq-dt
! gchint:
session 5000000002: ? (pid 72, uid 1002), 2 slots
X2
status_members() { # MODULE EXPRESSION...: of the JSON s
	with "$1" --json status | python3 -c 'import json, sys
s = json.load(sys.stdin)
print(*(eval(e) for e in sys.argv[1:]))' "${@:2}"
}
ok "status in JSON has the module's counts and each policy's mode" is \
	"True 7 3 12 2 5000000001 [('governor', 'table', 'table', True, 5000000000), (None, 'model', 'model', False, 5000000001)]" \
	"$(status_members "" '" ".join(str(s["module"][k]) for k in ("loaded", "abi", "sessions", "slots", "recorders", "lost"))' \
		'[tuple(p[k] for k in ("actuator", "mode", "reason", "fast", "transitions")) for p in s["policies"]]')"
ok "its policies have their frequencies, its sessions their processes" is \
	"{('schedutil', 'cpufreq-dt', 960000, 300000, 2100000)} [(70, 1000, 0, False, '?'), (71, 1001, 1, True, 'java'), (72, 1002, 2, False, '?')]" \
	"$(status_members "" '{tuple(p[k] for k in ("governor", "driver", "now_khz", "min_khz", "max_khz")) for p in s["policies"]}' \
		'[tuple(p[k] for k in ("pid", "uid", "slots", "may_raise", "comm")) for p in s["sessions"]]')"
ok "what is not known of a policy is no member" is "{'policy', 'cpus', 'governor', 'driver', 'now_khz', 'min_khz', 'max_khz', 'actuator'} []" \
	"$(status_members "bare sessions=1" '"{%s}" % ", ".join(map(repr, s["policies"][0]))' 's["sessions"]')"
ok "status of more sessions than are shown in JSON" is "256 3 0 255 3" \
	"$(with many --json status | python3 -c 'import json, sys
said = json.load(sys.stdin)
s = said["sessions"]
print(len(s), said["sessions_not_shown"], s[0]["slots"], s[255]["session"] - s[0]["session"], s[255]["slots"])')"
# Whether the scheduler places tasks by energy where CPUs differ.
echo 1024 >"$cpu/cpu0/cpu_capacity"
echo 512 >"$cpu/cpu1/cpu_capacity"
mkdir -p "$d/proc/sys/kernel"
echo 1 >"$d/proc/sys/kernel/sched_energy_aware"
for c in "1 schedutil True CPUs differ; the scheduler places by energy" "0 schedutil False CPUs differ; the scheduler does not place by energy" \
	"1 gchint False CPUs differ, and gchint as the governor has ended Energy-Aware Scheduling" \
	"0 gchint False CPUs differ, and gchint as the governor has ended Energy-Aware Scheduling"; do
	read -r aware governor placed text <<<"$c"
	echo "$aware" >"$d/proc/sys/kernel/sched_energy_aware"
	echo "$governor" >"$cpu/cpufreq/policy1/scaling_governor"
	ok "status shows placement on heterogeneous CPUs: $governor, energy-aware $aware" shows status "" <<<"placement $text"
	ok "and so does why" shows with "" why <<<"placement $text"
	ok "and JSON" is "$placed" "$(status_members "" 's["placement"]["energy_aware"]')"
done
echo schedutil >"$cpu/cpufreq/policy1/scaling_governor"
rm "$cpu"/cpu?/cpu_capacity

# What keeps a policy from its highest and lowest frequency.
ok "why names the actuator, its mode and its last reason" shows with "" why <<'X2'
policy0 now 960.0 MHz governor schedutil
hints: by governor, mode table, last reason table
policy1 now 960.0 MHz governor schedutil
hints: gchint is not loaded
X2
ok "why where the module's files are missing" shows with bare why <<<"hints: by governor"
ok "why where the mode is off" shows with off why <<<"hints: by governor, but its mode is off"
ok "why where policies cannot be queried" shows with policies=5 why <<<"hints: by governor"
echo off >"$d/sys/class/misc/gchint/actuator/policy0"
ok "why where hints are recorded only" shows with "" why <<<"hints: recorded, without other effect"
echo governor >"$d/sys/class/misc/gchint/actuator/policy0"
echo 1400000 >"$cpu/cpufreq/policy0/scaling_max_freq"
echo 2100000 >"$cpu/cpufreq/policy0/bios_limit"
echo 960000 >"$cpu/cpufreq/policy1/scaling_min_freq"
ok "why names a user's limits" shows with bare why <<'X2'
highest 1400.0 of 2100.0 MHz: scaling_max_freq, by a user or a daemon
lowest 960.0 instead of 300.0 MHz: scaling_min_freq, by a user or a daemon
X2
ok "why names gchint's own limits" shows with limits why <<'X2'
highest 1400.0 of 2100.0 MHz: gchint (limits, table)
lowest 960.0 instead of 300.0 MHz: gchint (limits)
X2
echo 2000000 >"$cpu/cpufreq/policy0/bios_limit"
ok "why names the firmware's limits" shows with "" why <<<"highest 1400.0 of 2100.0 MHz: the firmware"
for n in 0 1 2 3; do
	mkdir -p "$d/sys/class/thermal/cooling_device$n"
	echo $n >"$d/sys/class/thermal/cooling_device$n/cur_state"
done
echo fan >"$d/sys/class/thermal/cooling_device1/type"
echo Processor >"$d/sys/class/thermal/cooling_device2/type"
echo cpufreq-cpu1 >"$d/sys/class/thermal/cooling_device3/type"
rm "$cpu/cpufreq/policy1/scaling_governor"
echo 0 >"$cpu/cpufreq/policy1/scaling_cur_freq"
ok "why names a cooling device, and what is not known as ?" shows with limits why <<'X2'
highest 1400.0 of 2100.0 MHz: gchint (limits, table) the firmware maybe heat (cooling_device2 Processor)
policy1 now ? governor ?
X2
echo schedutil >"$cpu/cpufreq/policy1/scaling_governor"
echo 960000 >"$cpu/cpufreq/policy1/scaling_cur_freq"
rm -r "$d"/sys/class/thermal/cooling_device?

# A line per sample. Their time differs each time.
watch_print() { # MODULE ARGUMENT...
	with "$1" watch "${@:2}" | sed -E 's/^[0-9:]{8} /HH:MM:SS /'
}
ok "watch" expected watch watch_print "" -n 1
ok "watch where the module's files are missing" shows watch_print bare -n 1 <<'X2'
policy0 960.0 ? 300.0-1400.0 ? schedutil governor ?
policy1 960.0 ? 960.0-2100.0 ? schedutil not loaded -
X2
watch_members() { # MODULE MEMBER...: of each line of its JSON
	with "$1" --json watch -n 1 | python3 -c 'import json, sys
for line in sys.stdin:
    said = json.loads(line)
    print(*(said[k] for k in sys.argv[1:]), len(said), end="; ")' "${@:2}"
}
ok "watch in JSON" is "policy0 960000 None 300000 1400000 None schedutil governor table table 11; policy1 960000 None 960000 2100000 None schedutil None model model 11; " \
	"$(watch_members "" policy khz mean_khz min_khz max_khz changes governor hints mode reason)"
ok "watch in JSON, where the module's files are missing" is "governor None None 11; None None None 11; " "$(watch_members bare hints mode reason)"
rm "$cpu"/cpufreq/policy?/stats/total_trans 2>/dev/null
ok "changes are counted from the second sample on" is "? ? 0 0" "$(watch_print "" -d 0.1 -n 2 | awk 'NR > 1 { print $6 }' | paste -sd' ')"
ok "after twenty lines its head comes again" is "1 22" "$(watch_print "" -d 0.1 -n 11 | grep -n '^TIME' | cut -d: -f1 | paste -sd' ')"
