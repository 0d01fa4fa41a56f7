/* SPDX-License-Identifier: MIT */
/**
 * DOC: The plan of an application, from its figures
 *
 * Table 1 of the Dalvik seed gives totals and three points of the lifetime's
 * distribution. The plan turns them into what each thread does. Pure.
 */
#ifndef BENCH_APP_PLAN_H
#define BENCH_APP_PLAN_H

#include "lib/settings.h"

#include <stdint.h>

#define APP_SIZES	128 /* 16, 24, ... 1032 bytes */
#define APP_SIZE(class) (16 + 8 * (uint32_t)(class))
#define APP_LISTS	1024 /* lists of the long-lived set */
#define APP_QUANTUM	4096 /* deaths are this exact, bytes of all threads together */

/**
 * struct app_plan - what the active threads do; per thread where not said otherwise
 * @threads, @active: all threads; those that allocate
 * @lasting_bytes: allocated first and kept
 * @young_bytes: allocated after and dropped
 * @lasting_limit, @young_limit: cumulated shares of the size classes
 * @knot, @at: the distribution of lifetimes: a share of @at[i] dies within @knot[i]
 *	       bytes that this thread allocates; straight between knots
 * @quantum, @wheel: bytes a slot, and slots, of the wheel that holds the young
 * @explicit_collections: by the first thread
 * @idle_gaps, @idle_ms: idle times of all threads
 * @work: steps of arithmetic an object
 */
struct app_plan {
	int threads, active;
	uint64_t lasting_bytes, young_bytes;
	double lasting_limit[APP_SIZES], young_limit[APP_SIZES];
	double knot[5], at[5];
	uint64_t quantum, wheel;
	uint64_t explicit_collections, idle_gaps, idle_ms, work, seed;
};

extern const struct setting app_settings[];

/** app_plan() - read, check and solve. 0 or -EINVAL with @err. */
int app_plan(struct app_plan *plan, const struct settings *s, struct settings_error *err);

/**
 * app_sizes() - the maximum-entropy distribution over the size classes with mean @mean
 *
 * P(class) falls geometrically with size; @limit gets the cumulated shares. Return: 0,
 * or -EDOM for a mean outside 17 to 1000.
 */
int app_sizes(double mean, double limit[APP_SIZES]);

static inline unsigned int app_pick(const double *limit, double draw)
{
	unsigned int lo = 0, hi = APP_SIZES - 1;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (draw < limit[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/** app_life() - bytes until an object dies, from an even @draw in [0, 1). */
uint64_t app_life(const struct app_plan *plan, double draw);

#endif
