// SPDX-License-Identifier: GPL-2.0-or-later
#include "phase-probe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../../common/names.h"
#include "probes.h"

static bool word_is(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && !memcmp(word, name, length);
}

static bool phase_parse(struct phase_probe *p, const char *word, size_t length)
{
	for (p->phase = GCHINT_PHASE_NONE + 1; p->phase < GCHINT_PHASE_NR; p->phase++)
		if (word_is(word, length, name_phase(p->phase)))
			return true;
	return false;
}

/* A flag of the phase, or its cause. */
static bool word_parse(struct phase_probe *p, const char *word, size_t length)
{
	char name[40];

	for (unsigned int flag = 1; flag <= GCHINT_F_ALL; flag <<= 1)
		if (word_is(word, length, name_flags(flag, name, sizeof(name)))) {
			p->flags |= flag;
			return true;
		}
	for (unsigned int cause = GCHINT_CAUSE_UNKNOWN + 1; cause < GCHINT_CAUSE_NR; cause++)
		if (word_is(word, length, name_cause(cause))) {
			p->cause = cause;
			return true;
		}
	return false;
}

static bool words_parse(struct phase_probe *p, const char *words, size_t length, char *why,
			size_t size)
{
	const char *end = words + length, *comma;
	bool first = true, good;

	for (; words <= end; words = comma + 1, first = false) {
		comma = memchr(words, ',', (size_t)(end - words));
		if (!comma)
			comma = end;
		good = first ? phase_parse(p, words, (size_t)(comma - words)) :
			       word_parse(p, words, (size_t)(comma - words));
		if (!good) {
			snprintf(why, size, "%.*s is no %s", (int)(comma - words), words,
				 first ? "phase; gchint(7) lists them" :
					 "flag (stw, concurrent, foreground, urgent) and no cause");
			return false;
		}
	}
	return true;
}

/* Whether a place, or that which it calls, is named by a text. */
static bool place_is_text(const char *place)
{
	return place[*place == '^'] == '"';
}

/* (N=VALUE) at the end of the function that begins the phase. */
static bool condition_parse(struct phase_probe *p, char *why, size_t size)
{
	char *open = place_is_text(p->begin) ? strrchr(p->begin, '"') : p->begin, *end;

	open = open ? strchr(open, '(') : NULL;
	if (!open)
		return true;
	p->argument = (unsigned int)strtoul(open + 1, &end, 10);
	p->operator= * end;
	if (p->argument && p->argument <= PROBE_ARGUMENTS && *end && strchr("=<>", *end) &&
	    (isdigit((unsigned char)end[1]) || end[1] == '-')) {
		p->value = strtoll(end + 1, &end, 0);
		if (!strcmp(end, ")")) {
			*open = '\0';
			return true;
		}
	}
	snprintf(why, size, "%s: a condition is (N=VALUE), with < or > too, of argument 1 to %d",
		 open, PROBE_ARGUMENTS);
	return false;
}

/* The end of the first place: a quoted text may contain what separates two. */
static const char *place_end(const char *text, const char *end)
{
	bool quoted = false;

	for (; text < end; text++) {
		quoted ^= *text == '"';
		if (!quoted && end - text > 2 && text[0] == '.' && text[1] == '.')
			return text;
	}
	return end;
}

static bool place_valid(const char *place)
{
	const bool caller = *place == '^';
	const char *colon;

	place += caller;
	if (*place == '"')
		return strlen(place) > 2 && strchr(place + 1, '"') == place + strlen(place) - 1;
	colon = strchr(place, ':');
	if (caller)
		return *place && *place != '^' && !colon;
	return *place && (!colon || (colon > place && colon[1] && !strchr(colon + 1, ':')));
}

bool phase_probe_parse(const char *text, size_t length, struct phase_probe *p, char *why,
		       size_t size)
{
	const char *end = text + length, *is = memchr(text, '=', length), *colon, *split;
	size_t rest;

	*p = (struct phase_probe){ .phase = GCHINT_PHASE_NONE, .optional = length && *text == '?' };
	text += p->optional;
	colon = is ? memchr(is, ':', (size_t)(end - is)) : NULL;
	if (!colon) {
		snprintf(why, size, "a probe is PHASE[,stw]=FILE:FUNCTION");
		return false;
	}
	if (!words_parse(p, text, (size_t)(is - text), why, size))
		return false;
	split = place_end(colon + 1, end);
	rest = split < end ? (size_t)(end - split) - 2 : 0;
	if ((size_t)(colon - is - 1) >= sizeof(p->file) ||
	    (size_t)(split - colon - 1) >= sizeof(p->begin) || rest >= sizeof(p->end)) {
		snprintf(why, size, "a name is too long");
		return false;
	}
	memcpy(p->file, is + 1, (size_t)(colon - is - 1));
	memcpy(p->begin, colon + 1, (size_t)(split - colon - 1));
	if (rest)
		memcpy(p->end, split + 2, rest);
	if (!condition_parse(p, why, size))
		return false;
	if (!place_valid(p->begin) || (*p->end && !place_valid(p->end))) {
		snprintf(why, size,
			 "a place is FUNCTION, PROVIDER:NAME of a USDT probe, \"TEXT\", or ^ "
			 "and a function or text");
		return false;
	}
	if (!place_is_text(p->begin) && strchr(p->begin, ':') && (!*p->end || p->argument)) {
		snprintf(why, size, "a USDT probe %s",
			 *p->end ? "has no arguments that are read" :
				   "does not return: add ..END, which ends the phase");
		return false;
	}
	return true;
}

bool phase_probe_matches(const struct phase_probe *p, const uint64_t *argument)
{
	int64_t value;

	if (!p->argument)
		return true;
	/* Most are of 32 bits, and the rest of the register may have anything. */
	value = (int32_t)argument[p->argument - 1];
	switch (p->operator) {
	case '<':
		return value < p->value;
	case '>':
		return value > p->value;
	default:
		return value == p->value;
	}
}
