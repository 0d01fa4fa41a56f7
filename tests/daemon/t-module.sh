# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl with the module loaded: module.c answers in its place. Compared with the files in words/
# (t-words.sh).

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
# Sources depend on the machine; t-words.sh tests them.
status() {
	with "$1" status | sed -e 's/ (.*Linux .*//' -e '/^sources/,$d'
}
members() {
	with "$1" --json status | python3 -c 'import json, sys
said = json.load(sys.stdin)
del said["kernel"], said["machine"], said["sources"]
print(json.dumps(said, indent=0))'
}
all_status() {
	local words
	echo "== many"
	status many | tail -n 2
	for words in "" bare off limits sessions=1 sessions=5 info=13 policies=5 connect unloaded unsent deaf; do
		echo "== $words"
		status "$words"
	done
}
ok "status with the module" words module-status all_status
ok "status with the module in JSON" words module-status.json members ""
ok "status with missing attributes in JSON" words module-status-bare.json members "bare sessions=1"
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
unlike() {
	local aware governor
	for aware in 1 0; do
		for governor in schedutil gchint; do
			echo $aware >"$d/proc/sys/kernel/sched_energy_aware"
			echo $governor >"$cpu/cpufreq/policy1/scaling_governor"
			echo "== energy-aware $aware, $governor"
			status "" | sed -n '/^placement/,/^session/p' | grep -v ^session
			with "" why | sed -n '/^placement/,$p'
			with "" --json status | python3 -c 'import json, sys; print(json.load(sys.stdin)["placement"])'
		done
	done
	echo schedutil >"$cpu/cpufreq/policy1/scaling_governor"
}
ok "status shows energy-aware placement on heterogeneous CPUs" words module-placement unlike
rm "$cpu"/cpu?/cpu_capacity

# What keeps a policy from its highest and lowest frequency.
whys() {
	local words
	for words in "" bare off limits policies=5; do
		echo "== $words"
		with "$words" why
	done
	echo off >"$d/sys/class/misc/gchint/actuator/policy0"
	echo "== recorded only"
	with "" why
	echo governor >"$d/sys/class/misc/gchint/actuator/policy0"
	echo 1400000 >"$cpu/cpufreq/policy0/scaling_max_freq"
	echo 2100000 >"$cpu/cpufreq/policy0/bios_limit"
	echo 960000 >"$cpu/cpufreq/policy1/scaling_min_freq"
	for words in bare limits; do
		echo "== bounded, $words"
		with $words why
	done
	echo 2000000 >"$cpu/cpufreq/policy0/bios_limit"
	echo "== by the firmware"
	with "" why
	for n in 0 1 2 3; do
		mkdir -p "$d/sys/class/thermal/cooling_device$n"
		echo $n >"$d/sys/class/thermal/cooling_device$n/cur_state"
	done
	echo fan >"$d/sys/class/thermal/cooling_device1/type"
	echo Processor >"$d/sys/class/thermal/cooling_device2/type"
	echo cpufreq-cpu1 >"$d/sys/class/thermal/cooling_device3/type"
	rm "$cpu/cpufreq/policy1/scaling_governor"
	echo 0 >"$cpu/cpufreq/policy1/scaling_cur_freq"
	echo "== and by heat"
	with limits why
	echo schedutil >"$cpu/cpufreq/policy1/scaling_governor"
	echo 960000 >"$cpu/cpufreq/policy1/scaling_cur_freq"
	rm -r "$d"/sys/class/thermal/cooling_device?
}
ok "why with the module" words module-why whys

# A line per sample. Their time differs each time.
looks() {
	local words
	for words in "" bare limits policies=5; do
		echo "== $words"
		with "$words" watch -n 1 | sed -E 's/^[0-9:]{8} /HH:MM:SS /'
		with "$words" --json watch -n 1 | sed -E 's/"t":[0-9]+/"t":T/'
	done
	rm "$cpu"/cpufreq/policy?/stats/total_trans 2>/dev/null
	echo "== twice"
	with "" watch -d 0.1 -n 2 | sed -E 's/^[0-9:]{8} /HH:MM:SS /'
	echo "== a head again"
	with "" watch -d 0.1 -n 11 | sed -E 's/^[0-9:]{8} .*/./'
}
ok "watch with the module" words module-watch looks
