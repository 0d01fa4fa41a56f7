# SPDX-License-Identifier: MIT
# Instructions of the scheduler's hooks and of a doorbell; run in the guest.
# shellcheck shell=sh disable=SC1091,SC2154
. /board/guest.sh
echo 0 >/proc/sys/kernel/kptr_restrict

# function_count NAME [MODULE]: have the plugin count a function
function_count() {
	address=$(awk -v name="$1" -v module="${2:+[$2]}" \
		'$3 == name && $4 == module { print $1; exit }' /proc/kallsyms)
	[ -n "$address" ] || { echo "count.sh: this kernel has no function $1" >&2; exit 1; }
	"$meter" print symbol "$1" "$address"
}

# load_count NAME ARG...: some load, counted under that name
load_count() {
	name=$1
	shift
	"$meter" load 200 2 "$@"
	"$meter" print section "$name"
	"$meter" load 400 2 "$@"
	"$meter" print section
}

function_count sugov_update_single_freq
function_count policy_hook cpufreq_gchint
function_count wake_thread cpufreq_gchint
function_count watch_sched_switch cpufreq_gchint
function_count __x64_sys_ioctl
for round in $(seq "$rounds"); do
	governor_set schedutil
	load_count "schedutil.$round"
	governor_set gchint
	tunable_set mode model
	load_count "none.$round"
	load_count "phases.$round" hint
done
table_mode
"$meter" doorbell 2 1000 >/dev/null
cp /proc/kallsyms /tmp/kallsyms
