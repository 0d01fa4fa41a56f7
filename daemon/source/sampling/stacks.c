// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks.h"

#include <inttypes.h>
#include <stdio.h>

#include "../../common/clock.h"
#include "sampling.h"

uint32_t stacks_id(struct stacks *s, struct source_context *context, const uint64_t *frame,
		   size_t nr, bool cut)
{
	const uint64_t t = clock_now();
	uint64_t hash = 14695981039346656037u;
	char text[SAMPLING_FRAMES * 17 + 3];
	const char *string = text;
	size_t at, length = 0;
	int64_t id;

	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		hash = (hash ^ frame[i]) * 1099511628211u;
		hash ^= hash >> 29;
	}
	at = hash & (STACKS - 1);
	if (s->stack[at].id && s->stack[at].hash == hash)
		return s->stack[at].id;
	for (size_t i = 0; i < nr && i < SAMPLING_FRAMES; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRIx64,
					   i ? " " : "", frame[i]);
	if (cut)
		snprintf(text + length, sizeof(text) - length, " +");
	/* A chain that is replaced here is recorded again if it occurs again. */
	s->stack[at].hash = hash;
	s->stack[at].id = ++s->count;
	id = s->count;
	context_define(context, definition_new(DEFINE_STACK, t, &id, 1, &string, 1));
	return s->count;
}
