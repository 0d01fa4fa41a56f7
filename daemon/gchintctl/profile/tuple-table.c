// SPDX-License-Identifier: GPL-2.0-or-later
#include "tuple-table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/memory.h"
#include "../../recording/reader/recording.h"

static size_t tuples_hash(const struct tuples *t, const uint32_t *tuple)
{
	uint64_t hash = 0;

	/* The numbers are small and differ in few bits; multiplying spreads these over all. */
	for (unsigned int i = 0; i < t->width; i++) {
		hash = (hash ^ tuple[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return (size_t)hash & (t->slots - 1);
}

static bool tuples_grow_slots(struct tuples *t)
{
	const size_t slots = t->slots ? t->slots * 2 : 256;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	for (size_t i = 0; i < t->nr; i++) {
		size_t at = tuples_hash(t, tuples_at(t, i));

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	return true;
}

uint32_t tuples_enter(struct tuples *t, const uint32_t *tuple)
{
	const size_t size = t->width * sizeof(*tuple);
	size_t at;

	if (t->nr * 2 >= t->slots && !tuples_grow_slots(t))
		return TUPLES_FULL;
	for (at = tuples_hash(t, tuple); t->slot[at]; at = (at + 1) & (t->slots - 1))
		if (!memcmp(tuples_at(t, t->slot[at] - 1), tuple, size))
			return t->slot[at] - 1;
	if (t->nr >= TUPLES_FULL - 1 || !recording_grow(&t->number, t->nr, size))
		return TUPLES_FULL;
	memcpy(t->number + t->nr * t->width, tuple, size);
	t->slot[at] = (uint32_t)++t->nr;
	return (uint32_t)t->nr - 1;
}

const uint32_t *tuples_at(const struct tuples *t, size_t index)
{
	return t->number + index * t->width;
}

void tuples_free(struct tuples *t)
{
	free(t->number);
	free(t->slot);
}
