# SPDX-License-Identifier: MIT
# How fast frequencies rise after a wakeup, without hints; run in the guest.
# shellcheck shell=sh disable=SC1091,SC2154
. /board/guest.sh
policy=$(basename "$(ls -d "$cpufreq"/policy* | head -n 1)")
{
	echo "top $(cat "$cpufreq/$policy/cpuinfo_max_freq")"
	governor_set schedutil
	echo "limit $(cat "$cpufreq"/schedutil/rate_limit_us "$cpufreq/$policy"/schedutil/rate_limit_us 2>/dev/null)"
} >/tmp/result
/board/ramp "$policy" "$rounds" schedutil gchint >>/tmp/result
