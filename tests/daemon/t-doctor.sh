# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What gchintctl doctor reports and collects of a machine made of files, with a program without
# hints in place of the bench; tests/packaging/doctor runs real ones.

fresh doctor
policy=$d/sys/devices/system/cpu/cpufreq/policy0
machine() {
	local name file
	rm -rf "$d/sys" "$d/debug" "$d/proc"
	mkdir -p "$d/sys/class/dmi/id" "$d/debug/gchint" "$d/proc" "$d/bin" "$d/sys/devices/system/cpu/cpuidle"
	# Both of CPU 0; an unknown one, one in no set, one without limits.
	for name in policy0 policy00 policy1000 policy5000 policy7; do
		mkdir -p "$d/sys/devices/system/cpu/cpufreq/$name"
		cd "$d/sys/devices/system/cpu/cpufreq/$name" || return
		echo 0 >affected_cpus
		echo walker-dvfs >scaling_driver
		echo walker >scaling_governor
		echo "walker gchint" >scaling_available_governors
		for file in cpuinfo_min_freq scaling_min_freq; do echo 300000 >$file; done
		for file in cpuinfo_max_freq scaling_max_freq scaling_cur_freq; do echo 900000 >$file; done
	done
	rm "$d/sys/devices/system/cpu/cpufreq/policy7/scaling_max_freq"
	rm "$d/sys/devices/system/cpu/cpufreq/policy00/scaling_cur_freq"
	cd "$d" || return
	echo "700000 300000 600000 900000 400000 500000" >"$policy/scaling_available_frequencies"
	echo 40000 >"$policy/cpuinfo_transition_latency"
	echo "Walker Works" >"$d/sys/class/dmi/id/sys_vendor"
	echo "Walker Board 3" >"$d/sys/class/dmi/id/product_name"
	echo planted4711 >"$d/sys/class/dmi/id/product_serial"
	echo walker_idle >"$d/sys/devices/system/cpu/cpuidle/current_driver"
	printf 'processor : 0\nmodel name : Walker 9000\nmodel name : Other\n' >"$d/proc/cpuinfo"
	printf '#!/bin/sh\nexit %s\n' "${1-0}" >"$d/bin/gchint-bench"
	chmod 755 "$d/bin/gchint-bench"
}
quick() { # [CODE]: with one frequency to measure at
	machine "$@"
	echo 300000 >"$policy/scaling_available_frequencies"
	rm -r "$policy"?*
}
doctor() { # ARGUMENT...: its status and output, without the runtimes of this machine
	local code=0
	env -u SUDO_USER GCHINT_SYSFS="$d/sys" GCHINT_PROCFS="$d/proc" GCHINT_DEBUGFS="$d/debug" GCHINT_TRACEFS="$d/none" \
		GCHINT_GOVERNORS="$d/governors" USER=planteduser PATH="$d/bin:$PATH" \
		"$ctl" doctor "$@" >"$d/all" 2>&1 || code=$?
	sed -e '/^left out  \(python\|node\|ruby\), /d' -e "/^left out  looking for the /d" -e "s|$d/|D/|g" -e 's/searched for [0-9]*/searched for N/' "$d/all"
	echo "exit $code"
	rm -rf "$d/open"
	if [ -e "$d/a.tgz" ]; then
		mkdir "$d/open"
		tar -C "$d/open" -xzf "$d/a.tgz"
	fi
}
opened=$d/open/gchint-report
first() {
	machine
	doctor -r 2 -o "$d/a.tgz"
	(cd "$opened" && ls)
	sed -e '/^kernel /d' -e '/^gchintctl /d' -e '/^runtimes by /d' "$opened/machine.txt"
	awk -F, 'NR == 1 { print } NR > 1 { print $1, $2, $3, ($4 > 0 && $4 < 1000), ($5 > 0 && $5 < 10000) }' "$opened/loops.csv"
	cd "$d/sys/devices/system/cpu/cpufreq" && grep . policy0*/scaling_{min,max}_freq
}
ok "the archive has what the machine shows, and lists what is left out" expected doctor first
ok "the archive has the version, the kernel and all messages" is "1 1 0" \
	"$(grep -c "^gchintctl  *$("$ctl" --version | sed 's/^gchintctl //')$" "$opened/machine.txt")" \
	"$(grep -c "^kernel  *$(uname -r), $(uname -m)$" "$opened/machine.txt")" \
	"$(grep -E '^(did|left out) ' "$d/all" | diff - <(grep -E '^(did|left out) ' "$opened/README") | wc -l)"
runtimes_described() { # adapter or probes: as the list of runtimes has them
	diff <("$ctl" --json runtimes | tr '{' '\n' | sed -n "s/.*\"name\":\"\([^\"]*\)\".*\"by\":\"$1\".*/\1/p") \
		<(sed -n "s/^runtimes by $1 *//p" "$opened/machine.txt" | sed 's/ ([a-z ]*)//g; s/, /\n/g')
}
ok "the archive has the runtimes that are seen by an adapter" runtimes_described adapter
ok "the archive has the runtimes that are seen by probes" runtimes_described probes
clean() { # prints what there is of the user, and what a reader lacks
	local db
	for db in "$opened"/gcw-own-{1,2}.db; do
		db=$db sql "select 'a name' from processes where uid not null or cmdline not null or comm not like 'thread %'
			union all select 'an image' from images
			union all select 'meta ' || key from meta where key not like 'board.%' and key not in ('end_ns', 'label', 'program', 'schema', 'start_ns')
			union all select 'meta ' || key from meta where key in ('board.host', 'board.boot_id')
			union all select 'a program' from annotations where text like '%gchint-bench%'"
		[ "$(db=$db sql "select value from meta where key = 'label'")" = "gcw own" ] || echo "no label"
	done
	grep -ra -e planteduser -e planted4711 "$d/open"
}
ok "recordings are included without names" is "" "$(clean)"
ok "no temporary file is left" is "" "$(ls "$TMPDIR")"

quick
echo planted4711 >"$policy/cpuinfo_transition_latency"
ok "a file that still has a serial number is withheld" shows doctor -r 1 -o "$d/a.tgz" <<'X2'
left out machine.txt: the serial number was in it
exit 0
X2
ok "and is not in the archive" is "README gcw-own-1.db loops.csv" "$(cd "$opened" && LC_ALL=C ls | paste -sd' ')"

quick
mkdir -p "$d/sys/class/misc/gchint/actuator"
echo off >"$d/sys/class/misc/gchint/actuator/all"
echo "walker 300000" >"$d/debug/gchint/opps"
ok "a program is recorded without hints and with them" shows doctor -r 1 -o "$d/a.tgz" <<'X2'
did gcw, own: recorded, runs: 1
did hints in force by off, as gchintctl actuator auto chooses
did gcw, gchint: recorded, runs: 1
left out D/debug/gchint/latency: it cannot be read
X2
ok "both are in the archive, with the module's files, and the governor is restored" is \
	"README gcw-gchint-1.db gcw-own-1.db loops.csv machine.txt opps.txt walker 300000 walker" \
	"$(cd "$opened" && LC_ALL=C ls | paste -sd' ') $(cat "$opened/opps.txt" "$policy/scaling_governor" | paste -sd' ')"
echo limits >"$d/sys/class/misc/gchint/actuator/all"
ok "hints that are in force stay so" shows doctor -r 1 -o "$d/a.tgz" <<'X2'
left out under its own governor: hints are in force by limits already
did gcw, gchint: recorded, runs: 1
X2
ok "the actuator is as it was" is limits "$(cat "$d/sys/class/misc/gchint/actuator/all")"

quick 7
rm -f "$d/a.tgz"
ok "a program that fails is reported, and without any there is no archive" shows doctor -r 3 -o "$d/a.tgz" <<'X2'
left out gcw, own: exit 7
gchintctl: doctor: nothing was recorded
exit 1
X2
quick
rm -r "$d/sys/devices/system/cpu/cpufreq"
ok "an archive that cannot be written is reported" shows doctor -r 1 -o "$d/none/a.tgz" <<'X2'
left out loops at each frequency: this machine has no cpufreq policy
gchintctl: doctor: D/none/a.tgz:
exit 3
X2
ok "and none is left" is "" "$(ls -d "$d"/a.tgz* "$d"/none 2>/dev/null)"
for wrong in "-r 0" "-r 21" "-r 2x" "-r +2" "--rounds" more --nonsense; do
	# shellcheck disable=SC2086 # words
	ok "a mistake is named: $wrong" shows doctor -o "$d/a.tgz" $wrong <<<"${wrong#-r }"$'\nexit 2'
done
quick
rm -f "$d/bin/gchint-bench" "$d/a.tgz"
ok "a missing program is reported" shows doctor -r 1 -o "$d/a.tgz" <<'X2'
left out gcw, own: no gchint-bench here
exit 1
X2

interrupted() {
	quick
	rm -f "$d/a.tgz" "$d/began"
	# shellcheck disable=SC2016 # expanded by that shell
	printf '#!/bin/sh\n: >%s/began\nexec sleep 50\n' "$d" >"$d/bin/gchint-bench"
	chmod 755 "$d/bin/gchint-bench"
	GCHINT_SYSFS="$d/sys" GCHINT_PROCFS="$d/proc" GCHINT_DEBUGFS="$d/debug" GCHINT_TRACEFS="$d/none" \
		GCHINT_GOVERNORS="$d/governors" PATH="$d/bin:$PATH" "$ctl" doctor -r 1 -o "$d/a.tgz" >"$d/all" 2>&1 &
	job=$!
	wait_for 60 test -e "$d/began"
	kill -TERM $job
	wait $job
	echo "exit $?"
	tail -n 1 "$d/all"
	cat "$policy"/scaling_{governor,min_freq,max_freq} | paste -sd' '
	ls "$d/a.tgz"* 2>/dev/null
}
ok "when interrupted it reports so, restores the settings and leaves no archive" is \
	"exit 143 gchintctl: doctor: interrupted; limits and governors are restored walker 300000 900000" \
	"$(interrupted | paste -sd' ')"
