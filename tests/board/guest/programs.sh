# SPDX-License-Identifier: MIT
# In the guest of tests/board/programs: a program that announces phases through
# the library, recorded; the host checks the recording.
# shellcheck shell=sh
set -u
tap=/tmp/tap
count=100

report() {
	count=$((count + 1))
	echo "$1 $count board: $2" | tee -a $tap
}

is() { # WHAT COMMAND...: it succeeds
	what=$1
	shift
	if "$@" >/tmp/said 2>&1; then
		report ok "$what"
	else
		sed 's/^/# /' /tmp/said | tee -a $tap
		report "not ok" "$what"
	fi
}

says() { # WORDS COMMAND...: whatever its status
	words=$1
	shift
	"$@" 2>&1 | tee /tmp/words
	grep -qF "$words" /tmp/words
}

is "gchintctl status sees the module" says loaded gchintctl status
if [ -d /sys/devices/system/cpu/cpufreq/policy0 ]; then
	for p in /sys/devices/system/cpu/cpufreq/policy*; do
		echo gchint >"$p/scaling_governor"
	done
else
	is "gchintctl status says that hints are all there is" \
		says "none: hints are recorded and have no other effect" gchintctl status
	is "gchintctl actuator says so, too" \
		says "hints are recorded and have no other effect" gchintctl actuator auto
	is "and fails" sh -c '! gchintctl actuator auto'
	is "the module offers no policy to act on" \
		sh -c '[ "$(cat /sys/class/misc/gchint/actuator/all)" = off ] && ! ls /sys/class/misc/gchint/actuator/policy*'
fi
is "a program with the library is recorded" gchintctl record -q -o /tmp/recording.db -- ten-phases

# tests/adapters/probes/collector.c: the host holds the recording against its log.
probed() {
	status=0
	gchintctl run -o /tmp/probed.db --probe 'copy,stw=:toy_collect(1=0) mark,stw=:toy_collect(1>0)' \
		-- toy calls threads >/tmp/probed.log || status=$?
	[ $status -eq 7 ]
}
is "a program without an adapter is recorded by probes on its functions" probed

# tests/daemon/profiled.c: three methods, one of which marks. The host checks
# their shares: an emulated machine loses ticks where the kernel must be quick,
# and more where a thread must answer and be read in time; the phase of a new
# lease is unknown at first.
profiled_by() { # NAME PART OPTION...: at least that share of it marks
	name=$1 part=$2
	shift 2
	gchintctl profile record -q -F 200 "$@" -o "/tmp/$name.db" -- profiled && gchintctl profile flame --folded "/tmp/$name.db" >/tmp/folded || return 1
	awk -v part="$part" '{ n = $NF; all += n } /^profiled;hot / { hot += n } /;cold / { cold += n } /^profiled;mark;cold / { marking += n }
		/^profiled;worker/ { worker += n } END {
		print all, "samples; hot", hot, "cold", cold, "of which it marks", marking, "worker", worker
		exit !(all > 60 && hot > .15 * all && cold >= part * all && marking >= .5 * cold && worker > .05 * all) }' /tmp/folded
}
is "a profile by the kernel's look into threads has its methods" profiled_by looked .1
is "and by a signal to them" profiled_by asked 0 --signal
