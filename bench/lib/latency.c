// SPDX-License-Identifier: MIT
#include "latency.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void latency_simple(const struct request *request, size_t count, int64_t *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = request[i].end - request[i].start;
}

/* The run at one constant rate: start i moves to i / (n - 1) of the run. */
static void spread_evenly(const struct request *r, size_t count, double *start)
{
	double first = (double)r[0].start, length = (double)(r[count - 1].start - r[0].start);

	for (size_t i = 0; i < count; i++)
		start[i] = first + (count > 1 ? length * (double)i / (double)(count - 1) : 0);
}

/*
 * Sliding mean: count(t) is how many requests started by time t; smoothed, it is the
 * mean of count over [t - window/2, t + window/2], and request i starts, smoothed,
 * when that mean reaches i + 1/2. Outside the run its mean rate goes on, so that even
 * arrivals stay where they are.
 */
struct arrivals {
	const struct request *request;
	const double *area; /* integral of count up to each start */
	size_t n;
	double gap;
};

static double count_area(const struct arrivals *a, double t)
{
	const struct request *r = a->request;
	double first = (double)r[0].start, last = (double)r[a->n - 1].start;
	size_t lo = 0, hi = a->n - 1;

	if (t <= first) {
		double x = (first - t) / a->gap;

		return a->gap * (x * x - x) / 2;
	}
	if (t >= last) {
		double x = (t - last) / a->gap;

		return a->area[a->n - 1] + a->gap * (x * ((double)a->n - 0.5) + x * x / 2);
	}
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if ((double)r[mid].start <= t)
			lo = mid;
		else
			hi = mid;
	}
	return a->area[lo] + (t - (double)r[lo].start) * (double)(lo + 1);
}

static int spread_sliding(const struct request *r, size_t n, int64_t window, double *start)
{
	double *area = malloc(n * sizeof(*area));
	double half = (double)window / 2;
	struct arrivals arrivals = { r, area, n, 0 };

	if (!area)
		return -ENOMEM;
	/* The run is longer than the window, so that it has two requests at least. */
	arrivals.gap = (double)(r[n - 1].start - r[0].start) / (double)(n - 1);
	area[0] = 0;
	for (size_t i = 1; i < n; i++)
		area[i] = area[i - 1] + (double)(r[i].start - r[i - 1].start) * (double)i;
	for (size_t i = 0; i < n; i++) {
		/* A window that ends, or begins, at the start is too early, or too late. */
		double a = (double)r[i].start - half, b = (double)r[i].start + half;

		while (b - a > 0.5) {
			double mid = (a + b) / 2;
			double mean = (count_area(&arrivals, mid + half) -
				       count_area(&arrivals, mid - half)) /
				      (double)window;

			if (mean < (double)i + 0.5)
				a = mid;
			else
				b = mid;
		}
		start[i] = b;
	}
	free(area);
	return 0;
}

int latency_metered(const struct request *request, size_t count, int64_t window, int64_t *out)
{
	double *start;
	int err = 0;

	for (size_t i = 1; i < count; i++)
		if (request[i].start < request[i - 1].start)
			return -EINVAL;
	if (!count)
		return 0;
	start = malloc(count * sizeof(*start));
	if (!start)
		return -ENOMEM;
	if (window <= 0 || window >= request[count - 1].start - request[0].start)
		spread_evenly(request, count, start);
	else
		err = spread_sliding(request, count, window, start);
	for (size_t i = 0; !err && i < count; i++) {
		int64_t simple = request[i].end - request[i].start;
		int64_t metered = request[i].end - (int64_t)llround(start[i]);

		out[i] = metered > simple ? metered : simple;
	}
	free(start);
	return err;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t latency_quantile(int64_t *latency, size_t count, double q)
{
	size_t i;

	if (!count)
		return 0;
	qsort(latency, count, sizeof(*latency), by_length);
	i = (size_t)ceil(q * (double)count);
	i = i ? i - 1 : 0;
	return latency[i < count ? i : count - 1];
}
