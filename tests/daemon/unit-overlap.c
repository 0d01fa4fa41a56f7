// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: phases that overlap an interval, compared with a linear search. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../daemon/analysis/overlap.h"

#define MOST 70

static int by_begin(const void *a, const void *b)
{
	const struct recording_phase *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

static bool overlap_matches(const struct overlap *o, uint64_t t0, uint64_t t1)
{
	const struct recording_phase *p = overlap_next(o, 0, t0, t1);

	for (size_t i = 0; i < o->rec->phases; i++) {
		const struct recording_phase *want = &o->rec->phase[i];

		if (want->t1 <= t0 || want->t0 >= t1)
			continue;
		if (p != want)
			return false;
		p = overlap_next(o, i + 1, t0, t1);
	}
	return !p;
}

void unit_overlap(void)
{
	struct recording_phase phase[MOST] = { 0 };
	struct recording rec = { .path = "x", .phase = phase };
	const struct recording_phase *p;
	struct overlap o;
	unsigned int seed = 1;
	bool good = true;
	size_t n = 0;

	for (rec.phases = 0; rec.phases < MOST; rec.phases++) {
		for (size_t i = 0; i < rec.phases; i++) {
			phase[i].t0 = (uint64_t)rand_r(&seed) % 100;
			/* Some are as long as all together, some take no time. */
			phase[i].t1 = phase[i].t0 + (uint64_t)rand_r(&seed) % (i % 9 ? 5 : 100);
		}
		qsort(phase, rec.phases, sizeof(phase[0]), by_begin);
		if (!overlap_of(&rec, &o)) {
			good = false;
			break;
		}
		for (int k = 0; k < 200; k++) {
			const uint64_t t0 = (uint64_t)rand_r(&seed) % 110;

			good = good && overlap_matches(&o, t0, t0 + (uint64_t)rand_r(&seed) % 20);
		}
		overlap_each(p, &o, 0, 1000) n += p->t1 > p->t0;
		overlap_free(&o);
	}
	CHECK(good && n > 1000, "overlapping phases are found in order, from none to many");
}
