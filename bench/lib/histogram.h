/* SPDX-License-Identifier: MIT */
/**
 * DOC: High dynamic range histogram
 *
 * Counts values from 0 to 2^62 with a relative error under 1/1024 in constant space,
 * as Tene's HdrHistogram does: each power of two is cut into equal parts. Adding is one
 * increment; a histogram has one writer.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS	  11 /* 2048 parts cover the first 2048 values, 1024 each octave after */
#define HISTOGRAM_OCTAVES (62 - HISTOGRAM_BITS)
#define HISTOGRAM_SLOTS	  ((1 << HISTOGRAM_BITS) + HISTOGRAM_OCTAVES * (1 << (HISTOGRAM_BITS - 1)))

/** struct histogram - zeroed memory is an empty histogram; it holds no pointers */
struct histogram {
	uint64_t count, max;
	double sum;
	uint64_t slot[HISTOGRAM_SLOTS];
};

void histogram_add(struct histogram *h, uint64_t value);

/**
 * histogram_add_corrected() - add @value as seen by a sampler that meant to sample
 *			       every @interval
 *
 * While the sampler was delayed, it missed samples; they would have measured
 * value - interval, value - 2 interval, ... (coordinated omission).
 */
void histogram_add_corrected(struct histogram *h, uint64_t value, uint64_t interval);

/** histogram_quantile() - a value that at least @q of all values do not exceed. */
uint64_t histogram_quantile(const struct histogram *h, double q);

/** histogram_mean() - NAN when empty. */
double histogram_mean(const struct histogram *h);

/** histogram_merge() - add all of @from to @to. */
void histogram_merge(struct histogram *to, const struct histogram *from);

#endif
