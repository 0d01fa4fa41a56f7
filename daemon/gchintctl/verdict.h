/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What some runs of two kinds say of a difference, in words. Pure. */
#ifndef GCHINTCTL_VERDICT_H
#define GCHINTCTL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

/* The difference that runs are counted for, and the chance to see it when it is there. */
#define VERDICT_DIFFERENCE 0.05
#define VERDICT_POWER	   0.8

/**
 * struct verdict - a kind of run against another, in one figure
 * @n: runs of the base and of the other
 * @median: likewise; not a number without runs
 * @min: likewise
 * @max: likewise
 * @known: an interval can be given: two runs of each, and a base that is not 0
 * @change: ratio of the means less 1; logarithmic means where all are above 0
 * @low: lower end of its 95 % interval
 * @high: upper end
 * @told: the interval leaves no change out
 * @wanted: runs of each kind that would tell VERDICT_DIFFERENCE; 0 not known
 * @resampled: by bootstrap, which takes 8 runs of each; else by Welch's t
 */
struct verdict {
	size_t n[2];
	double median[2], min[2], max[2];
	bool known;
	double change, low, high;
	bool told;
	size_t wanted;
	bool resampled;
};

/**
 * verdict_of - compare two sets of values
 * @base: what is compared with
 * @nr_base: how many, VERDICT_RUNS at most
 * @other: what is compared
 * @nr_other: how many, likewise
 * @v: result
 *
 * From 8 values of each on the interval is a bootstrap's, percentiles of 9999
 * resamples made wider for small sets (Hesterberg, "What Teachers Should Know About
 * the Bootstrap", 2015, section 3.2); the same values give the same interval. Below,
 * resampling knows too little of the spread, and the interval is Welch's t's.
 */
void verdict_of(const double *base, size_t nr_base, const double *other, size_t nr_other,
		struct verdict *v);

#define VERDICT_RUNS 64

/**
 * verdict_words - the verdict as half a sentence
 * @v: the verdict
 * @buf: such as "12 % less (8 to 16 % less)"
 * @size: of @buf
 */
void verdict_words(const struct verdict *v, char *buf, size_t size);

/*
 * "better", "worse", or "" where no difference was told, or one that is none in words, or
 * none is better. @better as in a figure.
 */
const char *verdict_judgement(const struct verdict *v, int better);

#endif
