# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# The part of `here` that runs as root: module and governors, restored however it ends.
set -eu
# shellcheck disable=SC1091
. "$(dirname -- "$0")/measure.sh"

before=
for p in "$policies"/policy*; do
	before="$before $p/scaling_governor=$(cat "$p/scaling_governor")"
done
loaded=
give_back() {
	trap - EXIT INT TERM HUP
	for b in $before; do
		echo "${b#*=}" >"${b%%=*}" || true
	done
	[ -z "$loaded" ] || rmmod cpufreq_gchint
	chown -R "$OWNER" "$RUNS_IN" 2>/dev/null || true
}
trap give_back EXIT
trap 'exit 130' INT TERM HUP

if [ ! -d /sys/module/cpufreq_gchint ]; then
	insmod "$MODULE"
	loaded=1
fi
measure
