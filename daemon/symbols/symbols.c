// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols.h"

#include <stdlib.h>

#define SYMBOLS_ANY (16 << 20)

bool symbols_add(struct symbols *s, struct symbol symbol)
{
	struct symbol *more;

	if (s->nr >= SYMBOLS_ANY)
		return false;
	if (!(s->nr & (s->nr - 1))) {
		more = realloc(s->list, (s->nr ? s->nr * 2 : 1) * sizeof(*more));
		if (!more)
			return false;
		s->list = more;
	}
	s->list[s->nr++] = symbol;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void symbols_sort(struct symbols *s)
{
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), by_start);
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t at)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->list[mid].start <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && at - s->list[lo - 1].start < s->list[lo - 1].size ? &s->list[lo - 1] : NULL;
}

void symbols_free(struct symbols *s)
{
	free(s->list);
}
