/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates figures and their errors from readings. Pure. */
#ifndef GCHINTCTL_ESTIMATE_H
#define GCHINTCTL_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct figure - a measured value and its error
 * @value: the mean, in the unit of the readings
 * @error: half of the 95 % confidence interval, combined with the resolution of the
 *	instrument
 */
struct figure {
	double value, error;
};

/* The mean of @nr readings, 2 or more, of an instrument with that resolution. */
struct figure estimate_mean(const double *x, size_t nr, double resolution);

/**
 * estimate_line - extrapolate y to where x is 0, on the line of least squares
 * @x: not all the same, else false
 * @y: the value at each @x
 * @nr: 3 or more, else false
 * @at_zero: receives the figure, with the error of the fit
 */
bool estimate_line(const double *x, const double *y, size_t nr, struct figure *at_zero);

/**
 * estimate_rise - make figures monotonic
 * @f: in the order in which they should rise
 * @nr: number of figures
 *
 * A figure that is below the one before by no more than both errors counts as equal: both
 * become their mean. Returns @nr, or the index of the first that falls by more.
 */
size_t estimate_rise(struct figure *f, size_t nr);

#endif
