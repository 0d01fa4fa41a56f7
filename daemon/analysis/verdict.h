/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two sets of runs, and its description in words. Pure. */
#ifndef ANALYSIS_VERDICT_H
#define ANALYSIS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

/* The difference that struct verdict::wanted is for, and the chance to detect it. */
#define VERDICT_DIFFERENCE 0.05
#define VERDICT_POWER	   0.8

/**
 * struct verdict - one figure of two sets of runs, compared
 * @n: runs of the base, and runs of the other set
 * @median: of the base, and of the other set; NAN without runs
 * @min: of the base, and of the other set; NAN without runs
 * @max: of the base, and of the other set; NAN without runs
 * @known: there is an interval: two runs of each set, and a base that is not 0
 * @change: ratio of the medians less 1: what @median shows
 * @low: lower end of the 95 % interval of @change
 * @high: upper end
 * @significant: the interval does not contain 0
 * @wanted: runs of each set needed to detect VERDICT_DIFFERENCE; 0 not known
 * @variance: of a run of the base and of one of the other set, added up, if @known: of the logarithms
 *	if @logarithms, else in units of the base's median
 * @logarithms: they were compared: all values are above 0
 * @resampled: the interval is a bootstrap's, which takes 8 runs of each set; else it is
 *	from Welch's t
 */
struct verdict {
	size_t n[2];
	double median[2], min[2], max[2];
	bool known;
	double change, low, high;
	bool significant;
	size_t wanted;
	double variance;
	bool logarithms;
	bool resampled;
};

/**
 * verdict_of - compare two sets of values
 * @base: values of the base
 * @nr_base: number of them, VERDICT_RUNS at most
 * @other: values that are compared with the base
 * @nr_other: number of them, VERDICT_RUNS at most
 * @v: result
 *
 * With 8 or more values in each set, the interval is a bootstrap's: percentiles of 9999
 * resamples of the median, made wider for small sets (Hesterberg, "What Teachers Should Know About
 * the Bootstrap", 2015, section 3.2). The same values always give the same interval.
 * Fewer values say too little about the spread to resample them; then the interval is
 * from Welch's t, with the variance of medians, of the logarithms if all values are above 0.
 */
void verdict_of(const double *base, size_t nr_base, const double *other, size_t nr_other,
		struct verdict *v);

#define VERDICT_RUNS 200

/* Runs of each set needed to detect an increase of @difference, such as 0.05; 0 not known. */
size_t verdict_runs(const struct verdict *v, double difference);

/**
 * verdict_words - the verdict as half a sentence
 * @v: the verdict
 * @buf: such as "12 % less (8 to 16 % less)"
 * @size: of @buf
 */
void verdict_words(const struct verdict *v, char *buf, size_t size);

/**
 * verdict_conclusion - the same for who has to decide
 * @v: the verdict
 * @buf: verdict_words(), except that an interval around 0 becomes the difference that it rules
 *	out, such as "no difference above 2.1 %; 7 runs of each would show one of 5 %"
 * @size: of @buf
 */
void verdict_conclusion(const struct verdict *v, char *buf, size_t size);

/*
 * "better", "worse", or "" if no difference was detected, if it is reported as none, or if
 * the figure has no better direction. @better as in a figure.
 */
const char *verdict_judgement(const struct verdict *v, int better);

#endif
