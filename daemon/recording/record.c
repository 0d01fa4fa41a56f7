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
