// SPDX-License-Identifier: GPL-2.0-or-later
#include "estimate.h"

#include <math.h>

#include "../../analysis/stats.h"

static double mean_of(const double *x, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += x[i];
	return sum / (double)nr;
}

struct figure estimate_mean(const double *x, size_t nr, double resolution)
{
	const double mean = mean_of(x, nr);
	double squares = 0, spread;

	for (size_t i = 0; i < nr; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	spread = stats_t95(nr - 1) * sqrt(squares / (double)(nr - 1) / (double)nr);
	return (struct figure){ mean, hypot(spread, resolution) };
}

bool estimate_line(const double *x, const double *y, size_t nr, struct figure *at_zero)
{
	double mx, my, sxx = 0, sxy = 0, rest = 0, slope;

	if (nr < 3)
		return false;
	mx = mean_of(x, nr);
	my = mean_of(y, nr);
	for (size_t i = 0; i < nr; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	if (sxx <= 0)
		return false;
	slope = sxy / sxx;
	at_zero->value = my - slope * mx;
	for (size_t i = 0; i < nr; i++) {
		const double off = y[i] - at_zero->value - slope * x[i];

		rest += off * off;
	}
	at_zero->error = stats_t95(nr - 2) *
			 sqrt(rest / (double)(nr - 2) * (1 / (double)nr + mx * mx / sxx));
	return true;
}

/* Replaces figures by their mean. The caller extends the pool if that is below the one before. */
static void figures_pool(struct figure *f, size_t from, size_t to)
{
	double sum = 0, error = 0;

	for (size_t i = from; i <= to; i++) {
		sum += f[i].value;
		error = fmax(error, f[i].error);
	}
	for (size_t i = from; i <= to; i++)
		f[i] = (struct figure){ sum / (double)(to - from + 1), error };
}

size_t estimate_rise(struct figure *f, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		size_t from = i;

		if (f[i].value >= f[i - 1].value)
			continue;
		if (f[i - 1].value - f[i].value > f[i - 1].error + f[i].error)
			return i;
		do {
			figures_pool(f, --from, i);
		} while (from && f[from].value < f[from - 1].value);
	}
	return nr;
}
