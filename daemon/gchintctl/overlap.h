/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which phases of a run overlap a stretch of time, without a walk through all before it. */
#ifndef GCHINTCTL_OVERLAP_H
#define GCHINTCTL_OVERLAP_H

#include "run.h"

/* The latest end in each half of the phases, each quarter, and so on: a tree in an array. */
struct overlap {
	const struct run *run;
	size_t leaves; /* a power of two */
	uint64_t *end;
};

/* False without memory, which is told; else to be freed. */
bool overlap_of(const struct run *run, struct overlap *o);
void overlap_free(struct overlap *o);

/*
 * The first phase from run->phase[@from] on that overlaps [@t0, @t1), NULL if there is none
 * more. Takes the logarithm of the number of phases.
 */
const struct run_phase *overlap_next(const struct overlap *o, size_t from, uint64_t t0,
				     uint64_t t1);

/* @p, a const struct run_phase *, is each phase that overlaps [@t0, @t1), by its begin. */
#define overlap_each(p, o, t0, t1)                                                                 \
	for ((p) = overlap_next((o), 0, (t0), (t1)); (p);                                          \
	     (p) = overlap_next((o), (size_t)((p) - (o)->run->phase) + 1, (t0), (t1)))

#endif
