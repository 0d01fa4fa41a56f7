# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# GCW on the bundled concurrent collector, and w3m on the Boehm collector, each under schedutil and
# gchint; a recording of each run in $RUNS_IN. Runs on the measured machine, as root, with the
# module loaded. The caller sets RUNS (how often), PAGE (what w3m shows), WRAP (a prefix of each
# command).
policies=/sys/devices/system/cpu/cpufreq
gcw="gchint-bench gcw --iterations=1 --total=48M --threads=2 --gc=plan=cms,sizing=fixed,heap=24M,max=24M"

govern() {
	for p in "$policies"/policy*; do
		echo "$1" >"$p/scaling_governor"
		[ "$(cat "$p/scaling_governor")" = "$1" ]
	done
	sleep 0.1
}

# record PROGRAM NAME GOVERNOR NUMBER COMMAND...
record() {
	name=$2-$3-$4
	label="$1 / $3"
	shift 4
	# shellcheck disable=SC2086 # WRAP is a command or nothing
	gchintctl record -q -o "$RUNS_IN/$name.db" -l "$label" -p "${PERIOD:-10}" -- $WRAP "$@" \
		>/tmp/demo.out 2>/tmp/demo.err || {
		tail -n 5 /tmp/demo.err
		echo "demo: $name failed"
		return 1
	}
	echo "$name $(sed -n 's/^measured begin_ns \([0-9]*\).*/\1/p' /tmp/demo.out)" >>"$RUNS_IN/order"
	echo "demo: $name done"
}

measure() {
	mkdir -p "$RUNS_IN"
	w3m=1
	if ! command -v w3m >/dev/null; then
		w3m=
		echo "demo: w3m is not installed: GCW alone"
	elif [ -n "${ADAPTER-}" ] && ! [ -e "$ADAPTER" ]; then
		w3m=
		echo "demo: ${ADAPTER##*/} was not built, without libgc-dev: GCW alone"
	fi
	number=1
	while [ "$number" -le "$RUNS" ]; do
		for governor in schedutil gchint; do
			govern $governor
			# shellcheck disable=SC2086 # a command and its arguments
			record "GCW on CMS" gcw $governor $number $gcw --listener=gchint
			[ -n "$w3m" ] || continue
			record "w3m on Boehm" w3m $governor $number env LD_PRELOAD="${ADAPTER:-libgchint-boehm.so}" \
				w3m -dump -cols 120 -T text/html "$PAGE"
		done
		number=$((number + 1))
	done
}
