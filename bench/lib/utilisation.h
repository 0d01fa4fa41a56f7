/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mutator utilisation: MinMU, MMU, BMU and MUD
 *
 * Utilisation u(t, w) is the mutator's share of the window [t, t + w].
 *   MMU(w) = min over t of u(t, w)             Cheng and Blelloch, PLDI 2001
 *   BMU(w) = min over w' >= w of MMU(w')       Printezis, SCP 62(2), 2006
 *   MUD(w, q) = the q-quantile of u(t, w) over t; q = 0 is MMU(w)
 *
 * Windows are clamped to the trace. All results are exact: u(., w) is piecewise
 * linear with corners only where an edge of the window meets a step of the curve.
 *
 * Nothing here has global state; a curve may be read from many threads.
 */
#ifndef BENCH_UTILISATION_H
#define BENCH_UTILISATION_H

#include <stddef.h>
#include <stdint.h>

/** struct span - a pause [@begin, @end), in ns of any clock */
struct span {
	int64_t begin, end;
};

/** struct util_step - from @at on, utilisation is @util (0 to 1) */
struct util_step {
	int64_t at;
	double util;
};

/**
 * struct util_curve - utilisation over time
 * @step: steps in order of time; the last one only marks the end of the trace
 * @sum: mutator time from the first step to step i, ns
 * @count: steps, with the end mark; 0 for an empty curve
 */
struct util_curve {
	struct util_step *step;
	double *sum;
	size_t count;
};

/**
 * util_curve_set() - take a copy of @count steps, the last one the end mark
 * Return: 0, -EINVAL (times not rising, util outside 0..1), -ENOMEM.
 */
int util_curve_set(struct util_curve *curve, const struct util_step *step, size_t count);

/**
 * util_curve_from_pauses() - the curve of one mutator that lived [begin, end)
 *
 * Pauses may overlap, touch, be unsorted or stick out of the life. @pause is sorted
 * in place. Return: 0, -EINVAL (end before begin), -ENOMEM.
 */
int util_curve_from_pauses(struct util_curve *curve, struct span *pause, size_t count,
			   int64_t begin, int64_t end);

/**
 * util_curve_pool() - mean of @count curves, each counting while it lasts
 *
 * Where no mutator lives the pooled curve is 1, as none waits. Return: 0, -ENOMEM.
 */
int util_curve_pool(struct util_curve *out, const struct util_curve *curve, size_t count);

void util_curve_free(struct util_curve *curve);

/** util_overall() - mutator share of the whole trace. */
double util_overall(const struct util_curve *curve);

/** util_mmu() - MMU(window), O(n). */
double util_mmu(const struct util_curve *curve, int64_t window);

/** util_bmu() - BMU(window), O(n log n). */
double util_bmu(const struct util_curve *curve, int64_t window);

/** util_minmu() - the seed's MinMU: the least MMU(window) of @count mutators. */
double util_minmu(const struct util_curve *curve, size_t count, int64_t window);

/**
 * struct util_piece - windows whose utilisation runs evenly from @low to @high
 * @weight: how much of t they cover, ns
 */
struct util_piece {
	double low, high, weight;
};

/**
 * struct util_mud - the distribution of u(t, window) over t
 * @total: sum of the weights; 0 when the window is the whole trace
 */
struct util_mud {
	struct util_piece *piece;
	size_t count;
	double total;
	double least, most;
};

/** util_mud_init() - the distribution for one window, O(n). 0 or -ENOMEM. */
int util_mud_init(struct util_mud *mud, const struct util_curve *curve, int64_t window);
/** util_mud_quantile() - the @q quantile, expected O(n). */
double util_mud_quantile(const struct util_mud *mud, double q);
void util_mud_free(struct util_mud *mud);

#endif
