/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Means of a few runs, with how sure they are. */
#ifndef GCHINTCTL_STATS_H
#define GCHINTCTL_STATS_H

#include <stddef.h>

/**
 * struct stats - of some values
 * @n: how many
 * @mean: arithmetic
 * @half: half of the 95 % confidence interval of the mean (Student's t); not a
 *	number for fewer than two values
 * @min: lowest
 * @max: highest
 */
struct stats {
	size_t n;
	double mean, half, min, max;
};

void stats_of(const double *value, size_t n, struct stats *s);

/* Two-sided 95 % quantile of Student's t with @df degrees of freedom. */
double stats_t95(size_t df);

#endif
