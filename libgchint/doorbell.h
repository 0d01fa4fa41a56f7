/* SPDX-License-Identifier: MIT */
/* Doorbells: whether an edge has to be reported to the kernel at once. */
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
 * Without a recorder, only on CPUs whose policy is governed by gchint. The CPU of another
 * thread is unknown, so its doorbell always counts.
 */
int doorbell_heard(const struct gchint_session *s, const struct gchint_info *info, uint32_t phase,
		   int own);

/**
 * doorbell_governed() - may the policy of a CPU be governed by gchint?
 * @info: the information page
 * @cpus: the kernel's mapping of all CPUs, or NULL
 * @cpu: the CPU; negative if unknown
 *
 * A CPU that the kernel does not list may be.
 */
int doorbell_governed(const struct gchint_info *info, const void *cpus, int cpu);

/** cpu_policy_entry() - the entry of @cpu (not negative) in @cpus; NULL if there is none. */
static inline const struct gchint_info_policy *cpu_policy_entry(const struct gchint_info *info,
								const void *cpus, int cpu)
{
	if (!cpus || (uint32_t)cpu >= load_relaxed(&info->nr_cpus))
		return NULL;
	/* Entries of a newer kernel may be longer; they start with the same fields. */
	return (const void *)((const char *)cpus + (size_t)cpu * load_relaxed(&info->cpu_size));
}

/** current_cpu() - the CPU that the caller runs on, or -1. Mostly no system call. */
int current_cpu(void);

#endif /* GCHINT_DOORBELL_H */
