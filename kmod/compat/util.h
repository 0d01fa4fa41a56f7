/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.8 (11137d384996 "sched/fair: Simplify util_est"): one word.
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
/*
 * Utilisation that a thread brings along to the run queue: the higher of its
 * mean and of the estimate that outlives its sleep. 0..SCHED_CAPACITY_SCALE, of
 * the largest CPU. The thread runs here, or its run queue is locked.
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

/* The mean alone, which migrates with the thread. */
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

/*
 * Capacity of a CPU at its highest frequency, 1..SCHED_CAPACITY_SCALE. On x86
 * set by the driver from Linux 6.12 on, and the same for all CPUs before.
 */
static inline u32 gchint_util_capacity(unsigned int cpu)
{
	return clamp_t(unsigned long, arch_scale_cpu_capacity(cpu), 1,
		       SCHED_CAPACITY_SCALE);
}

static inline bool gchint_util_is_homogeneous(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (gchint_util_capacity(cpu) != SCHED_CAPACITY_SCALE)
			return false;
	return true;
}

/* Is utilisation frequency-invariant? The kernel does not export that. */
static inline bool gchint_util_invariant(void)
{
#ifdef CONFIG_X86
	return boot_cpu_has(X86_FEATURE_APERFMPERF);
#else
	return IS_ENABLED(CONFIG_GENERIC_ARCH_TOPOLOGY);
#endif
}

#endif /* _GCHINT_COMPAT_UTIL_H */
