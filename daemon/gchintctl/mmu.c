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

/* Time paused before an instant; asked for instants that never go back. */
struct walk {
	const struct mmu_pause *pause;
	size_t nr, at; /* the first that does not end before the instant */
	uint64_t before; /* time of those that do */
};

static uint64_t paused_until(struct walk *w, uint64_t t)
{
	for (; w->at < w->nr && w->pause[w->at].t1 <= t; w->at++)
		w->before += w->pause[w->at].t1 - w->pause[w->at].t0;
	return w->before + (w->at < w->nr && w->pause[w->at].t0 < t ? t - w->pause[w->at].t0 : 0);
}

/*
 * Of the worst windows one ends with a pause, or begins with the whole: one that ends
 * within a pause is no better moved on to that pause's end, any other no better moved back
 * to the end of one before. Ends are met in order of time: two walks, linear in the pauses.
 */
double mmu(const struct mmu_pause *pause, size_t nr, uint64_t t0, uint64_t t1, uint64_t window)
{
	struct walk begin = { pause, nr, 0, 0 }, end = { pause, nr, 0, 0 };
	uint64_t worst = 0;

	if (!window || window > t1 - t0)
		return 1;
	for (size_t i = 0; i < nr; i++) {
		uint64_t to = pause[i].t1 > t1 ? t1 : pause[i].t1, paused;

		to = to < t0 + window ? t0 + window : to;
		paused = paused_until(&end, to) - paused_until(&begin, to - window);
		worst = paused > worst ? paused : worst;
	}
	return 1 - (double)worst / (double)window;
}
