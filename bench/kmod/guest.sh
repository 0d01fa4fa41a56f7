# SPDX-License-Identifier: MIT
# Shared by the scripts that run in the guest; sourced from /board.
# shellcheck shell=sh
set -eu
cpufreq=/sys/devices/system/cpu/cpufreq
# shellcheck disable=SC2034 # used by the scripts that source this
meter=/board/meter

govern() {
	for p in "$cpufreq"/policy*; do
		echo "$1" >"$p/scaling_governor"
	done
}

# tune NAME VALUE, in each directory of tunables
tune() {
	for f in "$cpufreq"/gchint/"$1" "$cpufreq"/policy*/gchint/"$1"; do
		[ ! -e "$f" ] || echo "$2" >"$f"
	done
}

# The same cap for the phases used, and no switch that no phase requests.
table() {
	govern gchint
	tune mode table
	tune min_latencies 0
	tune cap_pct 50
}
