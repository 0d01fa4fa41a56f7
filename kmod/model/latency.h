/* SPDX-License-Identifier: GPL-2.0-only */
/* A histogram of latencies: four buckets for each doubling of the time. */
#ifndef _GCHINT_LATENCY_H
#define _GCHINT_LATENCY_H

#include "pure.h"

/* Log2 of ns, 4 us and 134 ms: one bucket each for what is below and above. */
#define GCHINT_LATENCY_FIRST 12
#define GCHINT_LATENCY_LAST 27
/* Each doubling in between is split into 2^2 buckets of equal width. */
#define GCHINT_LATENCY_SPLIT 2
#define GCHINT_LATENCY_STEPS ((u32)BIT(GCHINT_LATENCY_SPLIT))

#define GCHINT_LATENCY_BUCKETS \
	((GCHINT_LATENCY_LAST - GCHINT_LATENCY_FIRST) * GCHINT_LATENCY_STEPS + 2)

/* Index of the bucket that counts a latency, below GCHINT_LATENCY_BUCKETS. */
static inline u32 gchint_latency_bucket(u64 ns)
{
	u32 power;

	if (!(ns >> GCHINT_LATENCY_FIRST))
		return 0;
	if (ns >> GCHINT_LATENCY_LAST)
		return GCHINT_LATENCY_BUCKETS - 1;
	power = (u32)fls64(ns) - 1;
	return 1 + (power - GCHINT_LATENCY_FIRST) * GCHINT_LATENCY_STEPS +
	       (u32)(ns >> (power - GCHINT_LATENCY_SPLIT)) % GCHINT_LATENCY_STEPS;
}

/* Exclusive upper bound of a bucket in ns; for the last bucket its lower bound. */
static inline u64 gchint_latency_bound(u32 bucket)
{
	u32 step = bucket % GCHINT_LATENCY_STEPS;
	u32 power = GCHINT_LATENCY_FIRST + bucket / GCHINT_LATENCY_STEPS;

	if (bucket >= GCHINT_LATENCY_BUCKETS - 1)
		return BIT_ULL(GCHINT_LATENCY_LAST);
	return (u64)(GCHINT_LATENCY_STEPS + step) << (power - GCHINT_LATENCY_SPLIT);
}

/**
 * gchint_latency_quantile() - the bucket that holds a quantile
 * @counts: GCHINT_LATENCY_BUCKETS counts
 * @percent: the quantile, 1..100
 *
 * Return: index of the bucket; GCHINT_LATENCY_BUCKETS if all counts are 0
 */
static inline u32 gchint_latency_quantile(const u64 *counts, u32 percent)
{
	u64 all = 0, seen = 0;
	u32 i;

	for (i = 0; i < GCHINT_LATENCY_BUCKETS; i++)
		all += counts[i];
	for (i = 0; i < GCHINT_LATENCY_BUCKETS && all; i++) {
		seen += counts[i];
		if (seen * 100 >= all * percent)
			return i;
	}
	return GCHINT_LATENCY_BUCKETS;
}

#endif /* _GCHINT_LATENCY_H */
