# SPDX-License-Identifier: MIT
# The kernel's own tools/testing/selftests/cpufreq under our governor, in the
# guest. Those scripts hardly can fail: what counts is how they leave the
# machine, and the kernel's log, which the rig judges.
# shellcheck shell=sh
set -eu
cpufreq=/sys/devices/system/cpu/cpufreq
tap=/tmp/tap
count=100

report() {
	count=$((count + 1))
	echo "$1 $count board: $2" | tee -a $tap
}

# Which governor, which limits, which CPUs, what tunables.
state() {
	cat /sys/devices/system/cpu/online
	for p in "$cpufreq"/policy*; do
		for f in scaling_governor scaling_min_freq scaling_max_freq; do
			echo "$p/$f $(cat "$p/$f")"
		done
	done
	for f in "$cpufreq"/gchint/* "$cpufreq"/policy*/gchint/*; do
		[ ! -f "$f" ] || echo "$f $(cat "$f")"
	done
}

# What a script set on purpose is set back: it must still be able to. Limits too:
# sptest4 gives back its own while it has taken the CPU away, and so may not.
set_back() {
	echo "$1" | while read -r file value; do
		case $file in
		*/scaling_*) echo "$value" >"$file" || true ;;
		esac
	done 2>/dev/null
}

# settled WANTED: what the scripts left in the background comes to its end
settled() {
	tries=0
	set_back "$1"
	while [ "$(state)" != "$1" ] && [ $tries -lt 60 ]; do
		sleep 1
		set_back "$1"
		tries=$((tries + 1))
	done
	[ "$(state)" = "$1" ]
}

# part NAME ARG...: run a test of main.sh, then hold the machine to its state before
part() {
	name=$1
	shift
	for p in "$cpufreq"/policy*; do
		echo gchint >"$p/scaling_governor"
	done
	before=$(state)
	status=0
	timeout 240 bash ./main.sh -o /tmp/cpufreq "$@" >/tmp/cpufreq.log 2>&1 || status=$?
	if [ "$status" -eq 0 ] && settled "$before"; then
		report ok "selftests cpufreq: $name ends as it began, under gchint"
	else
		tail -n 15 /tmp/cpufreq.log | sed 's/^/# /'
		state >/tmp/after
		echo "$before" | diff - /tmp/after | sed 's/^/# /' || true
		report "not ok" "selftests cpufreq: $name (exit $status)"
	fi
}

# It asks for these; both are this small.
printf '#!/bin/sh\nexec "$@"\n' >/usr/bin/sudo
chmod +x /usr/bin/sudo
printf '\n' >/proc/sys/kernel/modprobe
cp /lib/modules/"$(uname -r)"/extra/cpufreq_gchint.ko /suite/
cd /suite

part basic -t basic
grep -q 'Switched governor for policy0 to gchint' /tmp/cpufreq.log ||
	report "not ok" "selftests cpufreq: basic never chose gchint"
part "sptest1, a switch under lockdep" -t sptest1
part "sptest2, switches of all policies at once" -t sptest2
part "sptest3, races between governors" -t sptest3
part "sptest4, hotplug with changes of the limits" -t sptest4

# The module itself, loaded and unloaded by the suite.
for p in "$cpufreq"/policy*; do
	echo performance >"$p/scaling_governor"
done
rmmod cpufreq_gchint
timeout 240 bash ./main.sh -o /tmp/cpufreq -t modtest -g cpufreq_gchint.ko >/tmp/cpufreq.log 2>&1 || true
if grep -q 'Pass: unable to remove cpufreq_gchint.ko while' /tmp/cpufreq.log &&
	! grep -qE 'WARN|failed' /tmp/cpufreq.log && [ ! -d /sys/module/cpufreq_gchint ]; then
	report ok "selftests cpufreq: modtest, no unload while in use, then unloaded"
else
	tail -n 15 /tmp/cpufreq.log | sed 's/^/# /'
	report "not ok" "selftests cpufreq: modtest"
fi
insmod cpufreq_gchint.ko
