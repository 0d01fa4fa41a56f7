# SPDX-License-Identifier: MIT
# In the guest of tests/board/programs: a program that gives phases through the library,
# recorded; the host looks at what was.
# shellcheck shell=sh
set -u
tap=/tmp/tap
count=100

report() {
	count=$((count + 1))
	echo "$1 $count board: $2" | tee -a $tap
}

is() { # WHAT COMMAND...: it ends well
	what=$1
	shift
	if "$@" >/tmp/said 2>&1; then
		report ok "$what"
	else
		sed 's/^/# /' /tmp/said | tee -a $tap
		report "not ok" "$what"
	fi
}

says() { # WORDS COMMAND...: whatever its end
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
		says "none: hints are recorded, and nothing else happens" gchintctl status
	is "gchintctl use says so, too" \
		says "hints are recorded, and nothing else happens" gchintctl use auto
	is "and fails" sh -c '! gchintctl use auto'
	is "the module offers no policy to act on" \
		sh -c '[ "$(cat /sys/class/misc/gchint/actuator/all)" = off ] && ! ls /sys/class/misc/gchint/actuator/policy*'
fi
is "a program with the library is recorded" gchintctl record -q -o /tmp/recording.db -- ten-phases
