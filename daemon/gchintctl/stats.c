// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats.h"

#include <math.h>

/* Standard table; beyond it the normal distribution is within 2 %. */
double stats_t95(size_t df)
{
	static const double t[] = { NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				    2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
				    2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
				    2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042 };

	return df < sizeof(t) / sizeof(t[0]) ? t[df] : 1.96 + 2.4 / (double)df;
}

void stats_of(const double *value, size_t n, struct stats *s)
{
	double squares = 0;

	*s = (struct stats){ .n = n, .mean = NAN, .half = NAN, .min = INFINITY, .max = -INFINITY };
	if (!n)
		return;
	s->mean = 0;
	for (size_t i = 0; i < n; i++) {
		s->mean += value[i] / (double)n;
		s->min = fmin(s->min, value[i]);
		s->max = fmax(s->max, value[i]);
	}
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		squares += (value[i] - s->mean) * (value[i] - s->mean);
	s->half = stats_t95(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
}
