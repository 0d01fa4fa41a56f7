// SPDX-License-Identifier: MIT
/* Doorbells: whether an edge has to be reported to the kernel at once. */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>

#include "doorbell.h"

/*
 * The kernel keeps the number of the CPU in the thread's rseq area, which glibc
 * 2.35 and newer registers. The symbols are weak: an older C library has none.
 */
#if defined(__has_include) && defined(__has_builtin)
#if __has_include(<sys/rseq.h>) && __has_builtin(__builtin_thread_pointer)
#define HAVE_RSEQ 1
#endif
#endif
#ifdef HAVE_RSEQ
#include <sys/rseq.h>
#pragma weak __rseq_offset
#pragma weak __rseq_size

static int rseq_cpu(void)
{
	const struct rseq *area;

	if (!&__rseq_size || !__rseq_size)
		return -1;
	area = (const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
	/* Negative (RSEQ_CPU_ID_*) if the thread is not registered. */
	return (int)load_relaxed(&area->cpu_id);
}
#else
static int rseq_cpu(void)
{
	return -1;
}
#endif

int current_cpu(void)
{
	int cpu = rseq_cpu();

	return cpu >= 0 ? cpu : sched_getcpu();
}

int doorbell_heard(const struct gchint_session *s, const struct gchint_info *info, uint32_t phase,
		   int own)
{
	return !own || doorbell_asked(&info->record, phase) ||
	       doorbell_governed(info, load_relaxed(&s->cpus), current_cpu());
}

static int policy_is_governed(const struct gchint_info_policy *policy)
{
	return (load_relaxed(&policy->flags) & GCHINT_POLICY_GCHINT) != 0;
}

int doorbell_governed(const struct gchint_info *info, const void *cpus, int cpu)
{
	const struct gchint_info_policy *entry;
	uint8_t policy;

	if (cpu < 0)
		return 1;
	entry = cpu_policy_entry(info, cpus, cpu);
	if (entry)
		return policy_is_governed(entry);
	if (cpu >= GCHINT_INFO_CPUS)
		return 1;
	policy = load_relaxed(&info->cpu_policy[cpu]);
	if (policy >= GCHINT_INFO_POLICIES)
		return policy == GCHINT_INFO_UNLISTED;
	return policy_is_governed(&info->policy[policy]);
}
