/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A figure and its error, out of readings. Pure. */
#ifndef GCHINTCTL_ESTIMATE_H
#define GCHINTCTL_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct figure - what was measured
 * @value: the mean, in the unit of the readings
 * @error: half of the interval that holds it 95 times in 100, and what the instrument
 *	cannot tell apart
 */
struct figure {
	double value, error;
};

/* Of @nr readings, 2 or more, of an instrument that tells @resolution apart. */
struct figure estimate_mean(const double *x, size_t nr, double resolution);

/**
 * estimate_line - what is left of y where x is 0, on the line of least squares
 * @x: not all the same, else false
 * @y: of each
 * @nr: 3 or more, else false
 * @at_zero: its error is that of the line
 */
bool estimate_line(const double *x, const double *y, size_t nr, struct figure *at_zero);

/**
 * estimate_rise - make figures not fall
 * @f: in the order in which they rise
 * @nr: how many
 *
 * One that is below the one before by no more than both errors is a reading of the same:
 * both become their mean. Returns @nr, or the index of the first that falls by more.
 */
size_t estimate_rise(struct figure *f, size_t nr);

#endif
