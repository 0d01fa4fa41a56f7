/* SPDX-License-Identifier: MIT */
/**
 * DOC: Summaries of repeated measurements
 *
 * Minimum and median for timings (noise only ever adds), mean with a 95 % Student t
 * interval for everything that is roughly normal, ratios of runs done in one round.
 */
#ifndef BENCH_SUMMARY_H
#define BENCH_SUMMARY_H

#include <stddef.h>

/**
 * struct summary - statistics of @n values
 * @half: half width of the 95 % confidence interval of the mean; NAN when n < 2
 */
struct summary {
	size_t n;
	double min, median, max, mean, deviation, half;
};

/** summary_of() - summarise @n values (NAN everywhere when n is 0). */
struct summary summary_of(const double *value, size_t n);

/**
 * summary_of_ratios() - a[i] / b[i] of rounds i, where both were measured
 *
 * Rounds with a NAN or a zero divisor are left out.
 */
struct summary summary_of_ratios(const double *a, const double *b, size_t n);

/** summary_geomean() - geometric mean of @n positive values. */
double summary_geomean(const double *value, size_t n);

/** student_t() - two-sided critical value for @confidence (0.95) and @df degrees. */
double student_t(double confidence, double df);

/**
 * struct line_fit - least squares y = @slope x + @intercept
 * @r2: share of the variance that the line explains
 */
struct line_fit {
	double slope, intercept, r2;
};
struct line_fit line_fit(const double *x, const double *y, size_t n);

#endif
