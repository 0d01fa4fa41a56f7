/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs that something disturbed. Pure. */
#ifndef GCHINTCTL_OUTLIERS_H
#define GCHINTCTL_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct outliers - values far from the others
 * @nr: how many
 * @first: the first value is one, and larger: the run before it did not warm up enough
 */
struct outliers {
	size_t nr;
	bool first;
};

/*
 * Values whose distance from the median is more than ten times the median distance, scaled to a
 * standard deviation (modified z-score: Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
 * 1993), and more than a hundredth of the median. Of fewer than four values none is one.
 */
struct outliers outliers_of(const double *value, size_t n);

#endif
