// SPDX-License-Identifier: MIT
#include "lbo.h"

#include <math.h>

void lbo_table(struct lbo_row *row, size_t count, double minimum[LBO_METRICS])
{
	for (int m = 0; m < LBO_METRICS; m++) {
		double least = NAN;

		for (size_t i = 0; i < count; i++) {
			double rest = row[i].total[m] - row[i].gc[m];

			if (rest > 0 && !(least <= rest))
				least = rest;
		}
		for (size_t i = 0; i < count; i++)
			row[i].overhead[m] = row[i].total[m] / least - 1;
		if (minimum)
			minimum[m] = least;
	}
}
