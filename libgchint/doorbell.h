/* SPDX-License-Identifier: MIT */
/* Whether the kernel wants to hear of an edge at once. */
#ifndef GCHINT_DOORBELL_H
#define GCHINT_DOORBELL_H

#include <stddef.h>

#include "page.h"

/** doorbell_asked() - does @mask, of the information page, ask for @phase? */
static inline int doorbell_asked(const uint32_t *mask, uint32_t phase)
{
	return phase < 32 && load_relaxed(mask) >> phase & 1;
}

/**
 * doorbell_heard() - is a doorbell for @phase worth its system call?
 * @s: the session
 * @info: its information page
 * @phase: enum gchint_phase
 * @own: the hinted thread is the one that runs here
 *
 * Unless somebody records, only on CPUs whose policy is governed by gchint. Where
 * another thread runs is not known, so it is.
 */
int doorbell_heard(const struct gchint_session *s, const struct gchint_info *info, uint32_t phase,
		   int own);

/**
 * doorbell_governed() - may the policy of a CPU be governed by gchint?
 * @info: the information page
 * @cpus: what the kernel tells of each CPU, or NULL
 * @cpu: the CPU; negative if unknown
 *
 * One of which nothing is told may be.
 */
int doorbell_governed(const struct gchint_info *info, const void *cpus, int cpu);

/** cpu_told() - what @cpus tells of @cpu, which is not negative; NULL if nothing. */
static inline const struct gchint_info_policy *cpu_told(const struct gchint_info *info,
							const void *cpus, int cpu)
{
	if (!cpus || (uint32_t)cpu >= load_relaxed(&info->nr_cpus))
		return NULL;
	/* A newer kernel's entries may be longer; they begin the same. */
	return (const void *)((const char *)cpus + (size_t)cpu * load_relaxed(&info->cpu_size));
}

/** current_cpu() - the CPU that the caller runs on, or -1. Mostly no system call. */
int current_cpu(void);

#endif /* GCHINT_DOORBELL_H */
