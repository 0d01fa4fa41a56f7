/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the phases of a recording that overlap an interval, without a walk through all before it. */
#ifndef ANALYSIS_OVERLAP_H
#define ANALYSIS_OVERLAP_H

#include "../recording/reader/recording.h"

/* The latest end in each half of the phases, each quarter, and so on: a tree in an array. */
struct overlap {
	const struct recording *rec;
	size_t leaves; /* a power of two */
	uint64_t *end;
};

/* Returns false and prints an error if memory runs out. Else call overlap_free(). */
bool overlap_of(const struct recording *rec, struct overlap *o);
void overlap_free(struct overlap *o);

/*
 * Returns the first phase from rec->phase[@from] on that overlaps [@t0, @t1), or NULL. Takes
 * time logarithmic in the number of phases.
 */
const struct recording_phase *overlap_next(const struct overlap *o, size_t from, uint64_t t0,
					   uint64_t t1);

/* @p, a const struct recording_phase *, iterates over the phases that overlap [@t0, @t1), by begin. */
#define overlap_each(p, o, t0, t1)                                                                 \
	for ((p) = overlap_next((o), 0, (t0), (t1)); (p);                                          \
	     (p) = overlap_next((o), (size_t)((p) - (o)->rec->phase) + 1, (t0), (t1)))

#endif
