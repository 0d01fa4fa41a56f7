// SPDX-License-Identifier: GPL-2.0-or-later
#include "mmu.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
	const struct mmu_pause *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

size_t mmu_merge(struct mmu_pause *pause, size_t nr)
{
	size_t kept = 0;

	qsort(pause, nr, sizeof(*pause), by_begin);
	for (size_t i = 0; i < nr; i++) {
		if (kept && pause[i].t0 <= pause[kept - 1].t1) {
			if (pause[i].t1 > pause[kept - 1].t1)
				pause[kept - 1].t1 = pause[i].t1;
		} else {
			pause[kept++] = pause[i];
		}
	}
	return kept;
}

/* Time paused in [from, to); @first is the first pause that may reach into it. */
static uint64_t paused(const struct mmu_pause *pause, size_t nr, size_t first, uint64_t from,
		       uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = first; i < nr && pause[i].t0 < to; i++) {
		uint64_t a = pause[i].t0 > from ? pause[i].t0 : from;
		uint64_t b = pause[i].t1 < to ? pause[i].t1 : to;

		sum += b > a ? b - a : 0;
	}
	return sum;
}

/*
 * The time paused in a sliding window is piecewise linear in its position and
 * changes slope only where an edge of the window meets an edge of a pause; its
 * maxima lie at windows that begin with a pause or end with one.
 */
double mmu(const struct mmu_pause *pause, size_t nr, uint64_t t0, uint64_t t1, uint64_t window)
{
	uint64_t worst = 0;
	size_t first = 0;

	if (!window || window > t1 - t0)
		return 1;
	for (size_t i = 0; i < nr; i++) {
		uint64_t begin = pause[i].t0 < t0 ? t0 : pause[i].t0;
		uint64_t end = pause[i].t1 > t1 ? t1 : pause[i].t1, p, from;

		if (begin + window > t1)
			begin = t1 - window;
		p = paused(pause, nr, begin < pause[i].t0 ? 0 : i, begin, begin + window);
		if (p > worst)
			worst = p;
		from = end > t0 + window ? end - window : t0;
		while (first < i && pause[first].t1 <= from)
			first++;
		p = paused(pause, nr, first, from, from + window);
		if (p > worst)
			worst = p;
	}
	return 1 - (double)worst / (double)window;
}
