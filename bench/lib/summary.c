// SPDX-License-Identifier: MIT
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Continued fraction of the incomplete beta function, evaluated by Lentz's method
 * (DLMF 8.17.22).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return f;
}

static double beta_regular(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on this side only. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t(double confidence, double df)
{
	double lo = 0, hi = 1e7, tail = 1 - confidence;

	if (!(confidence > 0 && confidence < 1 && df > 0))
		return NAN;
	for (int i = 0; i < 200; i++) {
		double t = (lo + hi) / 2;

		/* P(|T| > t) = I_{df/(df+t^2)}(df/2, 1/2) */
		if (beta_regular(df / 2, 0.5, df / (df + t * t)) > tail)
			lo = t;
		else
			hi = t;
	}
	return (lo + hi) / 2;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct summary summary_of(const double *value, size_t n)
{
	struct summary s = { n, NAN, NAN, NAN, NAN, NAN, NAN };
	double *sorted, sum = 0, square = 0;

	if (!n)
		return s;
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return s;
	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	s.min = sorted[0];
	s.max = sorted[n - 1];
	s.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	s.mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (sorted[i] - s.mean) * (sorted[i] - s.mean);
	if (n > 1) {
		s.deviation = sqrt(square / (double)(n - 1));
		s.half = student_t(0.95, (double)(n - 1)) * s.deviation / sqrt((double)n);
	}
	free(sorted);
	return s;
}

struct summary summary_of_ratios(const double *a, const double *b, size_t n)
{
	double *ratio = malloc((n ? n : 1) * sizeof(*ratio));
	struct summary s;
	size_t m = 0;

	if (!ratio)
		return summary_of(NULL, 0);
	for (size_t i = 0; i < n; i++)
		if (!isnan(a[i]) && !isnan(b[i]) && b[i] != 0)
			ratio[m++] = a[i] / b[i];
	s = summary_of(ratio, m);
	free(ratio);
	return s;
}

double summary_geomean(const double *value, size_t n)
{
	double sum = 0;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += log(value[i]);
	return exp(sum / (double)n);
}

struct line_fit line_fit(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
	struct line_fit fit = { NAN, NAN, NAN };

	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
		yy += (y[i] - my) * (y[i] - my);
	}
	if (n < 2 || xx == 0)
		return fit;
	fit.slope = xy / xx;
	fit.intercept = my - fit.slope * mx;
	fit.r2 = yy > 0 ? xy * xy / (xx * yy) : 1;
	return fit;
}
