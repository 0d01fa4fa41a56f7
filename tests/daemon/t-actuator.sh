# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl actuator on trees that represent machines: its choice, what it writes, and that off restores
# the governors. A file is no sysfs: names are of one length.

fresh use
tree() { # GOVERNOR CAPACITY: two policies, the second CPU of that capacity
	rm -rf "$d/sys" "$d/before"
	mkdir -p "$d/sys/class/misc/gchint/actuator"
	echo off >"$d/sys/class/misc/gchint/actuator/all"
	for n in 0 1; do
		mkdir -p "$d/sys/devices/system/cpu/cpufreq/policy$n" "$d/sys/devices/system/cpu/cpu$n"
		echo "$1" >"$d/sys/devices/system/cpu/cpufreq/policy$n/scaling_governor"
		echo "walker gchint" >"$d/sys/devices/system/cpu/cpufreq/policy$n/scaling_available_governors"
	done
	echo 1024 >"$d/sys/devices/system/cpu/cpu0/cpu_capacity"
	echo "$2" >"$d/sys/devices/system/cpu/cpu1/cpu_capacity"
}
use() {
	GCHINT_SYSFS=$d/sys GCHINT_PROCFS=$d/proc GCHINT_GOVERNORS=$d/before "$ctl" actuator "$@" 2>&1
}
governors() {
	cat "$d"/sys/devices/system/cpu/cpufreq/policy*/scaling_governor | tr '\n' ' '
}
actuator() {
	cat "$d/sys/class/misc/gchint/actuator/all"
}

tree walker 1024
ok "use without an argument changes nothing" bash -c "$(declare -f use); d=$d ctl=$ctl; use | grep -q '^in force  off'"
use auto >"$d/out"
ok "equal cores: auto selects the governor" grep -q '^in force  governor: ' "$d/out"
ok "clamps are not suggested where all CPUs are equal" bash -c "! grep -q 'hints clamp' '$d/out'"
ok "each policy has the governor" is "gchintgchint" "$(governors | tr -d ' \n')"
use off >"$d/out"
ok "off restores the previous governors" is "walkerwalker" "$(governors | tr -d ' \n')"
ok "off removes the saved governors" test ! -e "$d/before"
tree walker 1024
mkdir -p "$d/sys/devices/system/cpu/amd_pstate"
echo guided >"$d/sys/devices/system/cpu/amd_pstate/status"
use auto >"$d/out"
ok "hardware that exceeds the request: auto selects limits" is limits "$(actuator)"
use governor >"$d/out"
ok "an explicit governor prints what is lost there" grep -q '^lost .*caps are only requests' "$d/out"
echo passive >"$d/sys/devices/system/cpu/amd_pstate/status"
use auto >"$d/out"
ok "an explicit governor prints no loss if hardware obeys" grep -q '^in force  governor: ' "$d/out"
tree walker 381
use auto >"$d/out"
ok "heterogeneous cores: auto selects limits" is limits "$(actuator)"
ok "use prints how a program can clamp its own threads" grep -q '^program .*gchintctl run --hints clamp' "$d/out"
ok "limits leave the governors" is "walker walker " "$(governors)"
use >"$d/out"
ok "use without an argument prints it too" grep -q '^program .*gchintctl run --hints clamp' "$d/out"
ok "removed actuators are refused" bash -c \
	"$(declare -f use); d=$d ctl=$ctl; use clamp >/dev/null; [ \$? = 2 ] && use affinity >/dev/null; [ \$? = 2 ]"
use governor >"$d/out"
ok "an explicit governor prints that Energy-Aware Scheduling ends" grep -q 'Energy-Aware Scheduling ends' "$d/out"
tree gchint 1024
ok "off does not guess an unknown governor" bash -c \
	"$(declare -f use); d=$d ctl=$ctl; ! use off >'$d/out' && grep -q 'policy0: the governor before gchint is not known' '$d/out'"
ok "an unknown actuator exits with 2" bash -c "$(declare -f use); d=$d ctl=$ctl; use nonsense >/dev/null; [ \$? = 2 ]"
rm -rf "$d/sys/class"
ok "without the module the message names it" bash -c \
	"$(declare -f use); d=$d ctl=$ctl; ! use limits >'$d/out' && grep -q 'modprobe cpufreq_gchint' '$d/out'"
# modprobe helps only where the running kernel's list has the module, also as nothing but a dependency.
not_built() { # LINE
	echo "$1" >"$d/modules.dep"
	GCHINT_MODULES=$d use limits >"$d/out"
	cat "$d/out"
	! grep -q modprobe "$d/out" && grep -q "is not built for Linux $(uname -r): run make modules_install" "$d/out"
}
ok "modprobe is not advised where the kernel has no such module" not_built "kernel/drivers/cpufreq/acpi-cpufreq.ko:"
ok "modprobe is not advised where a module only depends on it" not_built "extra/other.ko: updates/cpufreq_gchint.ko"
tree walker 1024
rm -rf "$d/sys/class"
echo "policy0 walker" >"$d/before"
ok "off without the module is done, in one line" is "in force  off: the module is not loaded, nothing to restore 0" \
	"$(said=$(use off); echo "$said $?")"
ok "off without the module removes the saved governors" test ! -e "$d/before"
rm -rf "$d/sys/devices"
ok "off on a machine without policies is done" is "in force  off: no cpufreq policy, nothing to restore 0" \
	"$(said=$(use off); echo "$said $?")"
