// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Parses "[RAIL=]LOW:HIGH". @name receives the length of RAIL, or -1 if there is none. Returns
 * false if the limits are not valid.
 */
static bool limits_parse(const char *spec, struct energy_limits *limits, int *name)
{
	const char *equals = strrchr(spec, '='), *number = equals ? equals + 1 : spec;
	char *end;

	*name = equals ? (int)(equals - spec) : -1;
	limits->min_w = strtod(number, &end);
	if (end == number || *end != ':')
		return false;
	number = end + 1;
	limits->max_w = strtod(number, &end);
	return end != number && !*end && limits->min_w >= 0 && limits->max_w > limits->min_w;
}

bool recording_limits_valid(const char *spec)
{
	struct energy_limits limits;
	int name;

	return limits_parse(spec, &limits, &name);
}

size_t recording_limit(struct recording *rec, const char *spec)
{
	struct energy_limits limits;
	size_t n = 0;
	int name;

	if (!limits_parse(spec, &limits, &name))
		return 0;
	for (size_t i = 0; i < rec->rails; i++) {
		struct recording_rail *r = &rec->rail[i];
		char wanted[96];

		snprintf(wanted, sizeof(wanted), "%.*s", name < 0 ? 0 : name, spec);
		if (name >= 0 && strcmp(wanted, r->name) && strcmp(wanted, r->label))
			continue;
		r->limits.min_w = limits.min_w;
		r->limits.max_w = limits.max_w;
		n++;
	}
	return n;
}
