// SPDX-License-Identifier: GPL-2.0-or-later
#include "outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define FAR	 10 /* standard deviations */
#define SCALE	 1.4826 /* of a normal distribution: its standard deviation in median distances */
#define AT_LEAST 0.01 /* of the median */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double values_median(const double *value, size_t n)
{
	double sorted[MEASURE_RUNS];

	memcpy(sorted, value, n * sizeof(*value));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

struct outliers outliers_of(const double *value, size_t n)
{
	double distance[MEASURE_RUNS], median, limit;
	struct outliers o = { 0, false };

	if (n < 4 || n > MEASURE_RUNS)
		return o;
	median = values_median(value, n);
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(value[i] - median);
	limit = fmax(FAR * SCALE * values_median(distance, n), AT_LEAST * fabs(median));
	for (size_t i = 0; i < n; i++)
		o.nr += distance[i] > limit;
	o.first = distance[0] > limit && value[0] > median;
	return o;
}
