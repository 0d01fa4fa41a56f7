# SPDX-License-Identifier: MIT
# Shared by the scripts that run in the guest; sourced from /board.
# shellcheck shell=sh
set -eu
cpufreq=/sys/devices/system/cpu/cpufreq
# shellcheck disable=SC2034 # used by the scripts that source this
meter=/board/meter

governor_set() {
	for p in "$cpufreq"/policy*; do
		echo "$1" >"$p/scaling_governor"
	done
}

# tunable_set NAME VALUE, in each directory of tunables
tunable_set() {
	for f in "$cpufreq"/gchint/"$1" "$cpufreq"/policy*/gchint/"$1"; do
		[ ! -e "$f" ] || echo "$2" >"$f"
	done
}

# The same cap for the phases used, and no switch that no phase requests.
table_mode() {
	governor_set gchint
	tunable_set mode table
	tunable_set min_latencies 0
	tunable_set cap_pct 50
}
