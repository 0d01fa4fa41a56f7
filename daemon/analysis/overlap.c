// SPDX-License-Identifier: GPL-2.0-or-later
#include "overlap.h"

#include <stdlib.h>

#include "../recording/reader/db.h"

bool overlap_of(const struct recording *rec, struct overlap *o)
{
	*o = (struct overlap){ .rec = rec, .leaves = 1 };
	while (o->leaves < rec->phases)
		o->leaves *= 2;
	o->end = calloc(2 * o->leaves, sizeof(*o->end));
	if (!o->end) {
		db_missing(rec->path, "no memory for what overlaps");
		return false;
	}
	for (size_t i = 0; i < rec->phases; i++)
		o->end[o->leaves + i] = rec->phase[i].t1;
	for (size_t i = o->leaves; i-- > 1;) {
		const uint64_t left = o->end[2 * i], right = o->end[2 * i + 1];

		o->end[i] = left > right ? left : right;
	}
	return true;
}

void overlap_free(struct overlap *o)
{
	free(o->end);
	o->end = NULL;
}

/* Returns the first phase from @from on that ends after @t, or o->leaves if none does. */
static size_t leaf_first_past(const struct overlap *o, size_t from, uint64_t t)
{
	size_t at = o->leaves + from;

	if (from >= o->leaves)
		return o->leaves;
	/* Climb until this subtree or the one to its right has such a phase. */
	while (o->end[at] <= t) {
		while (at & 1)
			at /= 2;
		if (!at)
			return o->leaves;
		at++;
	}
	while (at < o->leaves) {
		at *= 2;
		at += o->end[at] <= t;
	}
	return at - o->leaves;
}

const struct recording_phase *overlap_next(const struct overlap *o, size_t from, uint64_t t0,
					   uint64_t t1)
{
	const size_t i = leaf_first_past(o, from, t0);

	return i < o->rec->phases && o->rec->phase[i].t0 < t1 ? &o->rec->phase[i] : NULL;
}
