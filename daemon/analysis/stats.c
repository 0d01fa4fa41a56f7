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

int stats_decimals(double fine)
{
	int d = fine > 0 ? 1 - (int)floor(log10(fine)) : 2;

	return d < 0 ? 0 : d > 6 ? 6 : d;
}
