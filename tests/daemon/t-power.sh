# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Energy counters of perf's power PMUs, a rail a core among them. No machine of the tests
# has them: their files are laid out here, and power.so is the kernel that counts.

pmus() { # two cores of two threads each, and the package
	local dev=$d/sys/bus/event_source/devices cpu=$d/sys/devices/system/cpu n
	mkdir -p "$dev"/power{,_core}/{events,format} "$cpu"/cpu{0,1}/topology "$d/counters"
	for n in power power_core; do
		echo config:0-7 >"$dev/$n/format/event"
	done
	echo 21 >"$dev/power_core/type"
	echo 0-1 >"$dev/power_core/cpumask"
	echo event=0x1 >"$dev/power_core/events/energy-core"
	echo 2.3283064365386962890625e-10 >"$dev/power_core/events/energy-core.scale"
	echo Joules >"$dev/power_core/events/energy-core.unit"
	echo 22 >"$dev/power/type"
	echo 0 >"$dev/power/cpumask"
	echo event=0x2 >"$dev/power/events/energy-pkg"
	echo 1e-6 >"$dev/power/events/energy-pkg.scale"
	echo Joules >"$dev/power/events/energy-pkg.unit"
	echo 0,2 >"$cpu/cpu0/topology/core_cpus_list"
	echo 1,3 >"$cpu/cpu1/topology/core_cpus_list"
	# Steps of 2^-32 J, and of 1 uJ.
	echo 0 >"$d/counters/21-1-0"
	echo 4294967296 >"$d/counters/21-1-1"
	echo 7000000 >"$d/counters/22-2-0"
}
counted() { # COMMAND...: in place of this shell, with counters
	GCHINT_POWER=$d/counters ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/power.so" exec "$@"
}
status() { # what is said of them, in one line
	(GCHINT_SYSFS=$d/sys GCHINT_TRACEFS=$d/none counted "$ctl" status 2>&1) | grep -A1 '^  power ' |
		grep -E '^  power |mend' | sed 's/^ *//; s/  */ /g' | paste -sd' '
}
started() { # OPTION...: gchintd with counters, ready
	counted "$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/none" --debugfs "$d/debug" \
		--feed "$d/feed" --marks "$d/marks" "$@" 2>>"$d/log" &
	pid=$!
	daemons+=("$pid")
	wait_for 10 test -S "$d/marks"
}

fresh power
ok "a machine without perf's energy counters says so" is \
	"power - no energy counter of perf's that powercap does not have" "$(status)"
pmus
ok "counters of cores are found, that of the package where powercap has none" is \
	"power + 2 energy counters of perf's, 2 of them of a core" "$(status)"
rm -r "$d/sys/class/powercap"
ok "where it has none, the package's too" is "power + 3 energy counters of perf's, 2 of them of a core" "$(status)"
mv "$d/counters/21-1-1" "$d/away"
started -p 20
wait_for 5 grep -q "power: power_core-1:energy-core: .*: No such file or directory" "$d/log"
ok "a counter that the kernel does not open is told by name" grep -q \
	"power: power_core-1:energy-core: .*: No such file or directory" "$d/log"
mv "$d/away" "$d/counters/21-1-1"
wait_for 10 grep -q "power_core-1:energy-core: back" "$d/log"
# Replaced whole: a read in between finds no half of it.
echo 2147483648 >"$d/half" && cat "$d/half" 1<>"$d/counters/21-1-0"
sleep 0.2
stop
ok "a rail a core, with its CPUs, in joules" is \
	"power-0:energy-pkg||7000000 power_core-0:energy-core|0,2|0 power_core-0:energy-core|0,2|500000 power_core-1:energy-core|1,3|1000000" \
	"$(sql "select distinct name, cpus, value from rails join samples on rail = id where source = 'power' and value is not null order by 1, 3" | paste -sd' ')"
ok "how often it counts on is beside it, and that the kernel knows its wrap" is "3|1000000|" \
	"$(sql "select count(*), max(update_ns), max(wraps_at) from rails where source = 'power'")"
