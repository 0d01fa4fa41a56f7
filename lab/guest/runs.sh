# SPDX-License-Identifier: MIT
# What lab/run runs in the guest; its script goes on with what to run. It sets last (the
# last core), mask (all others) and little (the second cluster's cores, decimal), then for
# each workload its arguments and warm.
cd /board
export GCHINT_PROFILES=/board
cpus=/sys/devices/system/cpu
cpufreq=$cpus/cpufreq
actuator=/sys/class/misc/gchint/actuator
policies_write() { for p in $cpufreq/policy*; do echo "$2" >$p/$1 || exit 1; done; }
modprobe cpufreq_gchint || exit 1
grep -h . $cpufreq/policy0/cpuinfo_max_freq >/tmp/max
grep -h . $cpufreq/policy0/cpuinfo_min_freq >/tmp/min
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
tracing=/sys/kernel/tracing
traced=
echo 1 >$tracing/events/sched/sched_migrate_task/enable
delay_total() { awk '/^cpu/ { s += $9 } END { printf "%d\n", s / 1000 }' /proc/schedstat; }
echo 1 >/proc/sys/kernel/sched_schedstats

# tunable_set GOVERNOR WHAT=VALUE: of every policy; a governor's tunables may be common to all
tunable_set() {
	case $2 in
	floor=*) policies_write scaling_min_freq ${2#*=} ;;
	cap=*) policies_write scaling_max_freq ${2#*=} ;;
	nice=*) env="$env LAB_NICE=${2#*=}" ;;
	gc-max=*) env="$env LAB_CLAMP=${2#*=}" ;;
	gc-min=*) env="$env LAB_CLAMP_MIN=${2#*=}" ;;
	mutator-max=*) env="$env LAB_MUTATOR_CLAMP=${2#*=}" ;;
	mutator-min=*) env="$env LAB_MUTATOR_CLAMP_MIN=${2#*=}" ;;
	all-max=*) env="$env LAB_CLAMP=${2#*=} LAB_MUTATOR_CLAMP=${2#*=}" ;;
	all-min=*) env="$env LAB_CLAMP_MIN=${2#*=} LAB_MUTATOR_CLAMP_MIN=${2#*=}" ;;
	gc-cpus=little)
		[ "$little" ] || { echo "this board has no second cluster" >&2; exit 1; }
		env="$env LAB_CPUS=$little"
		;;
	wake=*) cpus_wake ${2#*=} ;;
	leadfoot=*)
		echo ${2#*=} >$cpufreq/policy$last/scaling_max_freq || exit 1
		env="$env LAB_CPUS=$((1 << last))"
		wrap="taskset $mask"
		;;
	use=*)
		echo ${2#*=} >$actuator/all || exit 1
		env="$env $hint"
		;;
	*)
		for tunable in $cpufreq/$1/${2%%=*} $cpufreq/policy*/$1/${2%%=*}; do
			[ -e "$tunable" ] || continue
			echo ${2#*=} >$tunable || exit 1
			set -- $1 "$2" found
		done
		[ "${3-}" ] || { echo "$1 has no tunable ${2%%=*}" >&2; exit 1; }
		;;
	esac
}

# cpus_wake US: the longest exit latency that an idle state may have (PM QoS); 0: any
cpus_wake() { for cpu in $cpus/cpu[0-9]*; do echo $1 >$cpu/power/pm_qos_resume_latency_us || exit 1; done; }

# set_governor NAME: sets env and wrap for the command
set_governor() {
	env= wrap= pin= program=gchint-bench arguments=$workload hint=LAB_HINT=1
	case $workload in
	libgc:*)
		program=gchint-bench-libgc arguments=${workload#libgc:}
		hint=LD_PRELOAD=libgchint-boehm.so
		;;
	esac
	echo off >$actuator/all || exit 1
	policies_write scaling_min_freq $(cat /tmp/min)
	policies_write scaling_max_freq $(cat /tmp/max)
	cpus_wake 0
	# Tunables go with the last policy that has the governor.
	policies_write scaling_governor performance
	case $1 in
	gchint-*)
		policies_write scaling_governor gchint
		mode=${1#gchint-}
		echo ${mode%%+*} >$cpufreq/gchint/mode || exit 1
		for setting in $(echo "$mode" | tr + ' ' | cut -s -d ' ' -f 2-); do
			tunable_set gchint $setting
		done
		env=$hint
		;;
	ondemand-nice)
		policies_write scaling_governor ondemand
		echo 1 >$cpufreq/ondemand/ignore_nice_load || exit 1
		env="LAB_NICE=4"
		;;
	schedutil-clamp*)
		policies_write scaling_governor schedutil
		env="LAB_CLAMP=${1#schedutil-clamp}"
		;;
	schedutil-cap*)
		policies_write scaling_governor schedutil
		policies_write scaling_max_freq ${1#schedutil-cap}
		;;
	fixed-*)
		policies_write scaling_governor userspace
		policies_write scaling_setspeed ${1#fixed-}
		;;
	phases-*)
		policies_write scaling_governor userspace
		env="LAB_PHASES=$(echo ${1#phases-} | tr - ,)"
		;;
	oracle-*)
		policies_write scaling_governor userspace
		khz=${1#oracle-}
		policies_write scaling_setspeed ${khz%-*}
		echo ${khz#*-} >$cpufreq/policy$last/scaling_setspeed || exit 1
		wrap="taskset $mask"
		pin=",pin=$last"
		;;
	*+*)
		policies_write scaling_governor ${1%%+*}
		for setting in $(echo "${1#*+}" | tr + ' '); do
			tunable_set ${1%%+*} $setting
		done
		;;
	*) policies_write scaling_governor $1 ;;
	esac
}

workload_run() {
	echo "RUN $1 $2 $3"
	set_governor $2
	sleep 0.05
	echo >$tracing/trace
	before=$(delay_total)
	env LAB_WARM=$warm $env ${traced:+$hint} $wrap /board/measured /board/$program $arguments$pin --format=csv >/tmp/out 2>/tmp/err
	status=$?
	after=$(delay_total)
	echo "STAT migrations $(grep -cE 'comm=(gchint-bench|gc-daemon)' $tracing/trace) delay_us $((after - before)) exit $status"
	grep ^measured /tmp/out
	sed -n 's/^/CSV /p' /tmp/out | grep -v 'CSV measured'
	sed 's/^/ERR /' /tmp/err
}

# workload_trace NUMBER GOVERNOR: with phases and switches in the kernel's trace
mkdir -p /traces
workload_trace() {
	echo mono >$tracing/trace_clock
	echo 16384 >$tracing/buffer_size_kb
	for e in sched/sched_switch gchint/gchint_phase gchint/gchint_decision; do
		echo 1 >$tracing/events/$e/enable || exit 1
	done
	traced=yes
	workload_run $1 $2 -1
	traced=
	cat $tracing/trace >/traces/$1
	for e in sched/sched_switch gchint/gchint_phase gchint/gchint_decision; do
		echo 0 >$tracing/events/$e/enable
	done
}
