// SPDX-License-Identifier: GPL-2.0-or-later
#include "mmu.h"

#include <stdlib.h>
#include <string.h>

#include "../recording/reader/db.h"

/* Sums the paused time before an instant. Instants must be queried in ascending order. */
struct walk {
	const struct recording_pause *pause;
	size_t nr, at; /* index of the first pause that does not end before the instant */
	uint64_t before; /* total of the pauses that do */
};

static uint64_t walk_paused_until(struct walk *w, uint64_t t)
{
	for (; w->at < w->nr && w->pause[w->at].t1 <= t; w->at++)
		w->before += w->pause[w->at].t1 - w->pause[w->at].t0;
	return w->before + (w->at < w->nr && w->pause[w->at].t0 < t ? t - w->pause[w->at].t0 : 0);
}

/*
 * One of the worst windows ends where a pause ends, or begins where the execution begins: moving
 * a window that ends within a pause on to the end of that pause never reduces its paused time,
 * nor does moving any other window back to the end of the pause before. Ends are visited in
 * order of time, so the two walks are linear in the number of pauses.
 */
double mmu(const struct recording_pause *pause, size_t nr, uint64_t t0, uint64_t t1,
	   uint64_t window)
{
	struct walk begin = { pause, nr, 0, 0 }, end = { pause, nr, 0, 0 };
	uint64_t worst = 0;

	if (!window || window > t1 - t0)
		return 1;
	for (size_t i = 0; i < nr; i++) {
		uint64_t to = pause[i].t1 > t1 ? t1 : pause[i].t1, paused;

		to = to < t0 + window ? t0 + window : to;
		paused = walk_paused_until(&end, to) - walk_paused_until(&begin, to - window);
		worst = paused > worst ? paused : worst;
	}
	return 1 - (double)worst / (double)window;
}

static int pause_compare_process(const void *a, const void *b)
{
	const struct recording_pause *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

bool mmu_processes_of(const struct recording *rec, struct mmu_processes *p)
{
	p->rec = rec;
	p->pause = malloc((rec->pauses ? rec->pauses : 1) * sizeof(*p->pause));
	if (!p->pause) {
		db_missing(rec->path, "no memory for its pauses");
		return false;
	}
	if (rec->pauses)
		memcpy(p->pause, rec->pause, rec->pauses * sizeof(*p->pause));
	qsort(p->pause, rec->pauses, sizeof(*p->pause), pause_compare_process);
	return true;
}

void mmu_processes_free(struct mmu_processes *p)
{
	free(p->pause);
	p->pause = NULL;
}

double mmu_of_processes(const struct mmu_processes *p, uint64_t window)
{
	double least = 1, one;

	for (size_t i = 0, n; i < p->rec->pauses; i += n) {
		for (n = 1; i + n < p->rec->pauses; n++)
			if (p->pause[i + n].tgid != p->pause[i].tgid)
				break;
		one = mmu(&p->pause[i], n, p->rec->t0, p->rec->t1, window);
		least = one < least ? one : least;
	}
	return least;
}
