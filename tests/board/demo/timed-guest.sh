# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Runs on the timed board: each program under schedutil, with the same collector (GCW alone has a
# choice), with a cap set by hand, and under gchint. Its own figures and its energy, RUNS times. Of
# GCW and w3m one more run under schedutil and gchint is recorded: a recorder uses energy, too.
set -eu
# shellcheck disable=SC1091 # from the host: RUNS, CAP
. /board/settings
policies=/sys/devices/system/cpu/cpufreq
runs=/tmp/runs
mkdir -p $runs
/board/seed
sh /board/page 150 >/tmp/page.html

each() {
	for p in "$policies"/policy*; do
		echo "$2" >"$p/$1"
	done
}

govern() { # SETTING
	each scaling_max_freq "$(cat $policies/policy0/cpuinfo_max_freq)"
	case $1 in
	gchint) each scaling_governor gchint ;;
	*) each scaling_governor schedutil ;;
	esac
	[ "$1" != cap ] || each scaling_max_freq "$CAP"
	sleep 0.1
}

# run NAME SETTING NUMBER COMMAND...
run() {
	as=$1-$2-$3
	label="$1 / $2"
	[ "$2" != same ] || label="$1 / schedutil"
	shift 3
	# shellcheck disable=SC2086 # a command, or nothing
	${recorder:+$recorder $runs/"$as".db -l "$label" --} measured "$@" >/tmp/out 2>/tmp/err || {
		tail -n 5 /tmp/err
		echo "demo: $as failed"
		exit 1
	}
	sed '/^measured /d' /tmp/out >$runs/"$as".csv
	echo "$as $(sed -n 's/^measured begin_ns \([0-9]*\).*/\1/p' /tmp/out)" >>$runs/order
}

number=0
# shellcheck disable=SC2153 # of the settings
while [ "$number" -le "$RUNS" ]; do
	while IFS='|' read -r name _ _ command <&3; do
		for setting in schedutil same cap gchint; do
			recorder=
			case "$number $name $setting $command" in
			"0 gcw same "* | "0 gcw gchint "* | "0 w3m schedutil "* | "0 w3m gchint "*)
				recorder='gchintctl record -q -p 10 -o'
				;;
			"0 "*) continue ;;
			*" same "*@POLICY@*) ;;
			*" same "*) continue ;;
			esac
			policy=adaptive
			[ $setting != schedutil ] || policy=default
			govern $setting
			# shellcheck disable=SC2046 # a command and its arguments
			run "$name" $setting "$number" $(echo "$command" | sed "s/@POLICY@/$policy/")
		done
	done 3<<-END
		$(grep -v '^#' /board/programs)
	END
	[ "$number" -gt 0 ] || echo "demo: recordings done"
	[ "$number" -eq 0 ] || echo "demo: round $number of $RUNS done"
	number=$((number + 1))
done
govern schedutil
