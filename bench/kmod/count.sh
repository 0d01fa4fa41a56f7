# SPDX-License-Identifier: MIT
# Instructions of the scheduler's hooks and of a doorbell; run in the guest.
# shellcheck shell=sh disable=SC1091,SC2154
. /board/guest.sh
echo 0 >/proc/sys/kernel/kptr_restrict

# count NAME [MODULE]: have the plugin count a function
count() {
	address=$(awk -v name="$1" -v module="${2:+[$2]}" \
		'$3 == name && $4 == module { print $1; exit }' /proc/kallsyms)
	[ -n "$address" ] || { echo "count.sh: this kernel has no function $1" >&2; exit 1; }
	"$meter" print symbol "$1" "$address"
}

# part NAME ARG...: some load, counted under that name
part() {
	name=$1
	shift
	"$meter" load 200 2 "$@"
	"$meter" print section "$name"
	"$meter" load 400 2 "$@"
	"$meter" print section
}

count sugov_update_single_freq
count hook cpufreq_gchint
count watch_sched_switch cpufreq_gchint
count __x64_sys_ioctl
for round in $(seq "$rounds"); do
	govern schedutil
	part "schedutil.$round"
	govern gchint
	tune mode model
	part "none.$round"
	part "phases.$round" hint
done
table
"$meter" doorbell 2 1000 >/dev/null
cp /proc/kallsyms /tmp/kallsyms
