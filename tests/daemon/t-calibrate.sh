# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl calibrate from outside: a machine whose rails show what its CPUs do (draw.c), with
# values that it has to find; the result, restored settings, and refusals. A file is no sysfs: of
# two numbers the shorter one leaves a blank line.

mkdir "$work/calibrate"
d=$work/calibrate
policy() { # N CAPACITY CPUS KHZ...
	local p=$d/sys/devices/system/cpu/cpufreq/policy$1 cpu
	mkdir -p "$p" "$d/sys/class"
	echo "$3" >"$p/affected_cpus"
	echo "${*:4}" >"$p/scaling_available_frequencies"
	echo "$4" >"$p/cpuinfo_min_freq"
	echo "${*: -1}" >"$p/cpuinfo_max_freq"
	echo "$5" >"$p/scaling_min_freq"
	echo "${*: -1}" >"$p/scaling_max_freq"
	for cpu in $3; do
		mkdir -p "$d/sys/devices/system/cpu/cpu$cpu"
		echo "$2" >"$d/sys/devices/system/cpu/cpu$cpu/cpu_capacity"
	done
}
counter() { # NAME
	mkdir -p "$d/sys/class/powercap/$1"
	echo 0 >"$d/sys/class/powercap/$1/energy_uj"
	echo 1000000 >"$d/sys/class/powercap/$1/max_energy_range_uj"
}
monitor() {
	mkdir -p "$d/sys/class/hwmon/hwmon0"
	echo meter >"$d/sys/class/hwmon/hwmon0/name"
	echo 0 >"$d/sys/class/hwmon/hwmon0/power1_input"
}
calibrate() {
	GCHINT_SYSFS=$d/sys GCHINT_PROCFS=$d/proc GCHINT_DRAW=$d/draw \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/draw.so" \
		"$ctl" calibrate --window 60 --settle 5 --repeats 3 "$@"
}
# STATUS WORDS COMMAND...: its status, and its error message, which is its last line
answers_of() {
	local want=$1 words=$2 status
	shift 2
	"$@" >/dev/null 2>"$d/said"
	status=$?
	[ "$status" = "$want" ] && tail -n 1 "$d/said" | grep -qF -- "$words" && return
	echo "status $status"
	cat "$d/said"
	return 1
}
limits() {
	cat "$d"/sys/devices/system/cpu/cpufreq/policy*/scaling_{min,max}_freq | grep . | paste -sd' '
}
# Values of the machine that differ from the file's by more than 5 %; what it does not draw is 0.
off() { # FILE; for a value of zero 100 uW are accepted, a five-hundredth of the lowest OPP
	awk 'NR == FNR { if ($1 == "opp") want["opp " $2 " " $3] = $4
			if ($1 == "awake") want["awake " $2] = $3
			if ($1 == "memory") want["memory " $2] = $3 * 1000
			if ($1 == "idle") want["idle"] = $2; next }
		$1 == "policy" { p = $2 }
		$1 == "opp" { check("opp " p " " $2, $3, $4) }
		$1 == "awake" || $1 == "memory" { check($1 " " p, $2, $3) }
		$1 == "idle" { check("idle", $2, $3) }
		function check(name, got, error) {
			by = got - want[name]; if (by < 0) by = -by
			if (by > .05 * want[name] && by > 100) print name ": " got " for " want[name]
			delete want[name] }
		END { for (name in want) print name ": not found" }' "$d/draw" "$1"
}

# Two cores on one clock in a cluster, two others: some of rk3399's values.
policy 0 485 "0 1" 408000 816000 1200000 1416000
policy 2 1024 "2 3" 408000 1008000 1416000 1800000
counter intel-rapl:0
counter intel-rapl:0:0
cat >"$d/draw" <<'X'
idle 91000
core 0 0 0
core 1 0 0
core 2 2 1
core 3 2 1
awake 0 50000
awake 2 110000
opp 0 408000 33000
opp 0 816000 71000
opp 0 1200000 130000
opp 0 1416000 190000
opp 2 408000 120000
opp 2 1008000 330000
opp 2 1416000 700000
opp 2 1800000 1330000
memory 0 140 30
memory 2 115 22
X
before=$(limits)
ok "a machine is calibrated" calibrate -o "$d/file"
ok "calibrated powers are within 5 % of the board's" is "" "$(off "$d/file")"
ok "each figure has an error" bash -c "! grep -v '^#\|^gchint-calibration\|^policy' '$d/file' | grep -qv '^[a-z]*\( [0-9]*\)*\$' &&
	[ \$(grep -c '^opp [0-9]* [0-9]* [1-9][0-9]*\$' '$d/file') = 8 ]"
ok "the file names the rail without the rail's parts" is "# rail intel-rapl:0" "$(grep '^# rail' "$d/file")"
ok "limits are restored after a calibration" is "$before" "$(limits)"
echo "noise 4" >>"$d/draw"
ok "errors are larger on a noisy board" bash -c "$(declare -f calibrate); d=$d BUILD=$BUILD ctl=$ctl; calibrate -o '$d/noise' &&
	awk '\$1 == \"opp\" { s[FILENAME] += \$4 / \$3 } END { exit !(s[ARGV[2]] > 1.5 * s[ARGV[1]]) }' '$d/file' '$d/noise'"
sed -i /noise/d "$d/draw"

two_cores() { # each with a clock of its own
	cat <<'X'
core 0 0 0
core 1 1 0
opp 0 300000 57600
opp 0 960000 214400
opp 0 2150400 721600
opp 1 300000 57600
opp 1 960000 214400
opp 1 2150400 721600
X
}
# A power meter instead of an energy counter; a clock per core.
rm -rf "$d/sys"
monitor
for n in 0 1; do policy $n 1024 $n 300000 960000 2150400; done
{
	echo "idle 12345"
	two_cores
	printf 'memory %d 110 40\n' 0 1
} >"$d/draw"
ok "a machine with a power meter is calibrated" calibrate -o "$d/two"
ok "the power meter's values are found where nothing is shared" is "" "$(off "$d/two")"

# Each board of the lab, by its file: the power of its OPPs and clusters and the times of its
# memory, found from outside. Idle leakage is that of the lowest OPP, as draw.c supports no other.
as_board() { # FILE: a tree and its power
	local cpu=0 cluster=0 cores clock first n
	rm -rf "$d/sys"
	counter intel-rapl:0
	"$BUILD/lab-board" show "$1" >"$d/shown"
	: >"$d/draw"
	while read -r cores clock; do
		cluster=$((cluster + 1))
		# shellcheck disable=SC2046 # frequencies are words
		set -- "$1" $(awk -v n=$cluster '/cores,/ { c++ } c == n && /^ *[0-9.]+ / { printf "%d ", $1 * 1000 + .5 }' "$d/shown")
		first=$cpu
		for ((n = 0; n < cores; n++, cpu++)); do
			[ "$clock" = one ] || first=$cpu
			echo "core $cpu $first $cluster" >>"$d/draw"
		done
		for ((n = cpu - cores; n < cpu; n++)); do
			if [ "$clock" = one ]; then
				[ $n = $((cpu - cores)) ] || continue
				policy $n $((cluster * 100)) "$(seq -s ' ' $n $((cpu - 1)))" "${@:2}"
			else
				policy $n $((cluster * 100)) $n "${@:2}"
			fi
			awk -v n=$cluster -v p=$n -v cores="$cores" 'FNR == NR {
					if ($1 == "cluster") at++
					if ($1 ~ /^(wfi_share|awake_mw|retained_mw|mem_ns)$/) v[$1, at ? at : 1] = $2
					next }
				/cores,/ { c++ }
				c == n && /^ *[0-9.]+ / {
					printf "opp %d %d %.0f\n", p, $1 * 1000 + .5, 1000 * ($3 + $5 * (1 - v["wfi_share", n]))
					if (!idle++) printf "rest %.0f\n", 1000 * (v["retained_mw", n] + cores * $5 * v["wfi_share", n]) }
				END { printf "awake %d %.0f\nmemory %d %.1f 25\n", p, 1000 * (v["awake_mw", n] - v["retained_mw", n]), p, v["mem_ns", n] }' \
				"$1" "$d/shown" >>"$d/draw"
		done
	done < <(sed -n 's/^.*: \([0-9]*\) cores, \(one\|own\) clock.*/\1 \2/p' "$d/shown")
	# Cluster power at idle once, not once per policy.
	n=$(awk '$1 == "rest" && !seen[$2]++ { sum += $2 } END { print sum }' "$d/draw")
	echo "idle $n" >>"$d/draw"
}
for b in "$here"/../../lab/boards/*.board; do
	as_board "$b"
	n=$(basename "$b" .board)
	rm -f "$d/board"
	calibrate --window 40 -o "$d/board" 2>"$d/said"
	ok "$n is found within 5 %, $(grep -c '^opp' "$d/board") powers of it" bash -c "$(declare -f off); d=$d
		[ -s '$d/board' ] && [ \$(grep -c '^opp' '$d/board') = \$(grep -c '^opp' '$d/draw') ] && said=\$(off '$d/board') &&
		[ -z \"\$said\" ] || { echo \"\$said\"; cat '$d/said'; exit 1; }"
done

# Limits are restored in any case.
rm -rf "$d/sys"
monitor
for n in 0 1; do policy $n 1024 $n 300000 960000 2150400; done
two_cores >"$d/draw"
before=$(limits)
GCHINT_SYSFS=$d/sys GCHINT_DRAW=$d/draw LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/draw.so" \
	"$ctl" calibrate --repeats 50 -o "$d/never" 2>"$d/said" &
job=$!
wait_for 10 grep -q 300000 "$d/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq"
kill -TERM "$job"
wait "$job"
ok "a calibration that a signal ends reports it" bash -c "[ $? = 143 ] && grep -q 'interrupted by a signal' '$d/said'"
ok "limits are restored after a signal" is "$before" "$(limits)"
ok "an interrupted calibration leaves no file" test ! -e "$d/never"
sed -i 's/^opp \([01]\) 960000 .*/opp \1 960000 30000/' "$d/draw"
ok "a higher frequency that draws less is rejected" answers_of 1 "policy0: 960000 kHz draws less than 300000 kHz" calibrate
ok "limits are restored after a rejected calibration" is "$before" "$(limits)"
sed -i 's/^opp \([01]\) .*/opp \1 300000 0/' "$d/draw"
ok "a rail that does not follow the load is rejected" answers_of 1 "the rail does not supply the CPUs" calibrate

# Refusals, one line each.
mkdir -p "$d/sys/class/hwmon/hwmon1"
echo other >"$d/sys/class/hwmon/hwmon1/name"
echo 5 >"$d/sys/class/hwmon/hwmon1/power1_input"
ok "several rails: one must be named" answers_of 2 "name those of the CPUs with --rail: meter:power1 other:power1" calibrate
ok "an unknown rail is reported" answers_of 2 "there is no rail nonsense" calibrate --rail nonsense
rm -rf "$d/sys/class/hwmon"
ok "without a rail the message names what is missing" answers_of 1 "no rail measures power or energy" calibrate
rm -rf "$d/sys/devices"
ok "without a policy the message names what is missing" answers_of 1 "no cpufreq policy" calibrate
ok "fewer than two repeats are refused" answers_of 2 "--repeats takes a number from 2 to 50, not 1" calibrate --repeats 1
ok "two actions at once are refused" answers_of 2 "--load FILE or --forget only alone" calibrate --load x --forget

# Loading a file into the module.
policy 0 1024 "0 1" 300000 600000 900000
load() { # LINE...: a file of these lines, loaded into the module
	printf '%s\n' "$@" >"$d/given"
	: >"$d/asked"
	GCHINT_SYSFS=$d/sys GCHINT_ASKED=$d/asked GCHINT_MODULE=${module:-} \
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/module.so" "$ctl" calibrate --load "$d/given"
}
h="gchint-calibration 1"
ok "a calibration file is loaded into the module" load "$h" "idle 9 1" "policy 0 # the only one" "awake 3 3" "memory 110000 9" "opp 300000 5 1" "" \
	"opp 600000 7 1" "opp 900000 7 1"
ok "the module receives all values of the file" is "cpu 0 idle 9 opps 300000:5 600000:7 900000:7" "$(sed 's/.*version [0-9]* //' "$d/asked")"
refused() { # WORDS LINE...: refused with this message, without any request to the module
	answers_of 3 "$1" load "${@:2}" && [ ! -s "$d/asked" ]
}
ok "an empty file is refused" refused "line 1: no policy" ""
ok "a file of another format is refused" refused 'line 1: "gchint-calibration 1" is wanted first' "policy 0"
ok "a later format version is refused" refused 'line 1: "gchint-calibration 1" is wanted first' "gchint-calibration 2"
ok "an unknown keyword is refused" refused "line 2: awake, idle, memory, opp or policy is wanted" "$h" "power 3"
ok "a negative number is refused" refused "line 3: opp takes kHz" "$h" "policy 0" "opp -3 5 1"
ok "a leading zero is refused" refused "line 3: opp takes kHz" "$h" "policy 0" "opp 0300000 5 1"
ok "a power above the maximum is refused" refused "line 3: opp takes kHz, uW up to 1000000000" "$h" "policy 0" "opp 300000 1000000001 1"
ok "a value without an error is refused" refused "line 3: opp takes 3 words" "$h" "policy 0" "opp 300000 5"
ok "an extra word is refused" refused "line 3: too many words" "$h" "policy 0" "opp 300000 5 1 1"
ok "a power of zero is refused" refused "line 3: no busy CPU draws nothing" "$h" "policy 0" "opp 300000 0 1"
ok "a power below that of a lower OPP is refused" refused "line 4: opp 600000 draws less" "$h" "policy 0" "opp 300000 5 1" "opp 600000 4 1"
ok "OPPs out of order are refused" refused "line 4: opp 300000 is not above" "$h" "policy 0" "opp 300000 5 1" "opp 300000 6 1"
ok "an OPP outside of a policy is refused" refused "line 2: opp is of a policy" "$h" "opp 300000 5 1"
ok "a policy without OPPs is refused" refused "line 3: policy 0 has no opp" "$h" "policy 0" "policy 1"
ok "policies out of order are refused" refused "line 4: policy 0 is not above" "$h" "policy 0" "opp 300000 5 1" "policy 0"
ok "a repeated value is refused" refused "line 4: awake is there twice" "$h" "policy 0" "awake 3 1" "awake 3 1"
ok "idle power inside a policy is refused" refused "line 3: idle is of the machine" "$h" "policy 0" "idle 3 1"
ok "a file with other frequencies is refused" answers_of 1 "policy0 has other frequencies" load "$h" "policy 0" "opp 300000 5 1"
ok "a file with a policy that the machine lacks is refused" answers_of 1 "this machine has no policy4" load "$h" "policy 0" "opp 300000 5 1" "opp 600000 7 1" "opp 900000 7 1" \
	"policy 4" "opp 300000 5 1"
ok "nothing is loaded from a refused file" test ! -s "$d/asked"
all=("$h" "policy 0" "opp 300000 5 1" "opp 600000 7 1" "opp 900000 8 1")
module=set=22 ok "what the module says of a mistake is told" answers_of 1 "policy0: the module refuses the calibration: nonsense, said the module" load "${all[@]}"
module=set=1 ok "and who may give it" answers_of 1 "only root (CAP_NET_ADMIN) may load a calibration" load "${all[@]}"
module=set=95 ok "and that it is older" answers_of 1 "is too old to take a calibration" load "${all[@]}"
module=unloaded ok "and that it is not there" answers_of 1 "modprobe cpufreq_gchint" load "${all[@]}"
: >"$d/asked"
ok "--forget clears the module's table" env GCHINT_SYSFS="$d/sys" GCHINT_ASKED="$d/asked" GCHINT_MODULE= \
	LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/module.so" "$ctl" calibrate --forget
ok "the module receives an empty list" is "cpu 0 opps" "$(sed 's/.*version [0-9]* //' "$d/asked")"
ok "a missing file is reported" answers_of 3 "No such file" "$ctl" calibrate --load "$d/nowhere"
