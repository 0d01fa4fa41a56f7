/* SPDX-License-Identifier: MIT */
/* Shared by the claims of the Dalvik seed. */
#ifndef BENCH_CLAIMS_DALVIK_H
#define BENCH_CLAIMS_DALVIK_H

#include "repro/claim.h"

#define DALVIK	"profile=hussein-2015,trim=0"
#define NO_REST "idle-gaps=0"

/* The longest pause of any class, ms. */
static inline double longest_pause(const struct run_result *r)
{
	double longest = 0;

	for (int i = 0; i < RUN_PAUSES; i++)
		longest = fmax(longest, isnan(r->pause[i].max) ? 0 : r->pause[i].max);
	return longest;
}

#endif
