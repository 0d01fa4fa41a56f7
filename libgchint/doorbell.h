/* SPDX-License-Identifier: MIT */
/* Whether the kernel wants to hear of an edge at once. */
#ifndef GCHINT_DOORBELL_H
#define GCHINT_DOORBELL_H

#include "session.h"

/** doorbell_asked() - does @mask, of the information page, ask for @phase? */
static inline int doorbell_asked(const uint32_t *mask, uint32_t phase)
{
	return phase < 32 && load_relaxed(mask) >> phase & 1;
}

/**
 * doorbell_heard() - is a doorbell for @phase worth its system call?
 * @info: the information page
 * @phase: enum gchint_phase
 * @own: the hinted thread is the one that runs here
 *
 * Unless somebody records, only on CPUs whose policy is governed by gchint. Where
 * another thread runs is not known, so it is.
 */
int doorbell_heard(const struct gchint_info *info, uint32_t phase, int own);

/** current_cpu() - the CPU that the caller runs on, or -1. Mostly no system call. */
int current_cpu(void);

#endif /* GCHINT_DOORBELL_H */
