/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.8 (11137d384996 "sched/fair: Simplify util_est") made the estimate one
 * word.
 */
#ifndef _GCHINT_COMPAT_UTIL_H
#define _GCHINT_COMPAT_UTIL_H

#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/topology.h>
#include <linux/topology.h>
#include <linux/version.h>

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#endif

#ifdef CONFIG_SMP
/**
 * gchint_util - what the scheduler keeps of a thread's use of its CPU
 * @task: the thread; the one that runs here, or one whose run queue is locked
 *
 * The higher of its mean and of the estimate that outlives its sleep: what it
 * brings along to the run queue.
 *
 * Return: 0..SCHED_CAPACITY_SCALE, of the largest CPU.
 */
static inline u32 gchint_util(const struct task_struct *task)
{
	const struct sched_avg *avg = &task->se.avg;
	unsigned long estimate;

#if KERNEL_VERSION(6, 8, 0) > LINUX_VERSION_CODE
	estimate = max(READ_ONCE(avg->util_est.ewma),
		       READ_ONCE(avg->util_est.enqueued) & ~UTIL_AVG_UNCHANGED);
#else
	estimate = READ_ONCE(avg->util_est) & ~UTIL_AVG_UNCHANGED;
#endif
	return min(max(READ_ONCE(avg->util_avg), estimate),
		   (unsigned long)SCHED_CAPACITY_SCALE);
}

/**
 * gchint_util_mean - its mean alone, which moves with it from CPU to CPU
 * @task: as above
 *
 * Return: 0..SCHED_CAPACITY_SCALE, of the largest CPU.
 */
static inline u32 gchint_util_mean(const struct task_struct *task)
{
	return min_t(unsigned long, READ_ONCE(task->se.avg.util_avg),
		     SCHED_CAPACITY_SCALE);
}
#else
static inline u32 gchint_util(const struct task_struct *task)
{
	return 0;
}

static inline u32 gchint_util_mean(const struct task_struct *task)
{
	return 0;
}
#endif

/**
 * gchint_util_capacity - capacity of a CPU at its highest frequency
 * @cpu: the CPU
 *
 * As the scheduler has it: of the architecture's topology, on x86 as the driver
 * found it (from Linux 6.12 on; all are alike before).
 *
 * Return: 1..SCHED_CAPACITY_SCALE.
 */
static inline u32 gchint_util_capacity(unsigned int cpu)
{
	return clamp_t(unsigned long, arch_scale_cpu_capacity(cpu), 1,
		       SCHED_CAPACITY_SCALE);
}

/**
 * gchint_util_least - capacity of the least capable kind of CPU
 *
 * Return: SCHED_CAPACITY_SCALE if all are alike.
 */
static inline u32 gchint_util_least(void)
{
	u32 least = SCHED_CAPACITY_SCALE;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		least = min(least, gchint_util_capacity(cpu));
	return least;
}

static inline bool gchint_util_alike(void)
{
	return gchint_util_least() == SCHED_CAPACITY_SCALE;
}

/**
 * gchint_util_invariant - does the scheduler count time by frequency?
 *
 * Whether it does is not exported. If it does not, a thread that always runs
 * is at full use at any frequency.
 *
 * Return: true if gchint_util() is of a CPU at its highest frequency, false if
 * it is of a CPU at the frequency in force.
 */
static inline bool gchint_util_invariant(void)
{
#ifdef CONFIG_X86
	return boot_cpu_has(X86_FEATURE_APERFMPERF);
#else
	return IS_ENABLED(CONFIG_GENERIC_ARCH_TOPOLOGY);
#endif
}

#endif /* _GCHINT_COMPAT_UTIL_H */
