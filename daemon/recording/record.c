// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <stdlib.h>
#include <string.h>

struct definition *definition_new(enum definition_kind kind, uint64_t t, const int64_t *numbers,
				  unsigned int nr_numbers, const char *const *strings,
				  unsigned int nr_strings)
{
	struct definition *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->kind = kind;
	d->t = t;
	for (unsigned int i = 0; i < DEFINITION_NUMBERS; i++)
		d->number[i] = i < nr_numbers ? numbers[i] : UNKNOWN_S64;
	for (unsigned int i = 0; i < nr_strings && i < DEFINITION_STRINGS; i++) {
		if (!strings[i])
			continue;
		d->string[i] = strdup(strings[i]);
		if (!d->string[i]) {
			definition_free(d);
			return NULL;
		}
	}
	return d;
}

void definition_free(struct definition *d)
{
	if (!d)
		return;
	for (unsigned int i = 0; i < DEFINITION_STRINGS; i++)
		free(d->string[i]);
	free(d);
}

/* Which columns identify what a definition is of. */
enum definition_same {
	LOST, /* it belongs to one file */
	NUMBER_1,
	NUMBERS_2,
	STRING_1
};

static const enum definition_same definition_same[DEFINE_NR] = {
#define NUMBER_SAME				 NUMBER_1
#define NUMBERS_SAME				 NUMBERS_2
#define STRING_SAME				 STRING_1
#define LOST_SAME				 LOST
#define DEFINITION(table, TYPE, verb, same, ...) [DEFINE_##TYPE] = same##_SAME,
#include "schema.def"
};

bool definition_is_kept(const struct definition *d)
{
	return definition_same[d->kind] != LOST;
}

bool definition_replaces(const struct definition *a, const struct definition *b)
{
	if (a->kind != b->kind)
		return false;
	switch (definition_same[a->kind]) {
	case NUMBER_1:
		return a->number[0] == b->number[0];
	case NUMBERS_2:
		return a->number[0] == b->number[0] && a->number[1] == b->number[1];
	case STRING_1:
		return a->string[0] && b->string[0] && !strcmp(a->string[0], b->string[0]);
	case LOST:
		break;
	}
	return false;
}
