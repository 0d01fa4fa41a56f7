// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HotSpot's perfMemory.hpp and perfData.hpp: a prologue of 32 bytes, then entries of a header of 20
 * bytes, a name, and a value, in the byte order that the prologue says.
 */
#include "hsperf.h"

#include <stdio.h>
#include <string.h>

#define PROLOGUE 32
#define ENTRY	 20

enum {
	AT_MAGIC = 0, /* cafec0c0, always big-endian */
	AT_ORDER = 4, /* 1: little-endian */
	AT_MAJOR = 5,
	AT_FIRST = 24,
	AT_ENTRIES = 28,

	ENTRY_LENGTH = 0,
	ENTRY_NAME = 4,
	ENTRY_VECTOR = 8,
	ENTRY_TYPE = 12, /* 'J' a number, 'B' bytes of a text */
	ENTRY_DATA = 16,
};

struct counters {
	const unsigned char *data;
	size_t size;
	bool little;
};

static uint64_t number_at(const struct counters *c, size_t at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | c->data[at + (c->little ? bytes - 1 - i : i)];
	return value;
}

struct counter {
	const char *name;
	char type;
	const char *text; /* of type B */
	size_t length;
	uint64_t value; /* of type J */
};

/* Reads the entry at @at. Returns its length; 0 if it is not whole. */
static size_t counter_read(const struct counters *c, size_t at, struct counter *counter)
{
	uint64_t length, name, data, vector;

	if (c->size < ENTRY || at > c->size - ENTRY)
		return 0;
	length = number_at(c, at + ENTRY_LENGTH, 4);
	name = number_at(c, at + ENTRY_NAME, 4);
	vector = number_at(c, at + ENTRY_VECTOR, 4);
	data = number_at(c, at + ENTRY_DATA, 4);
	if (length < ENTRY || length > c->size - at || name < ENTRY || name >= length ||
	    data < ENTRY || data >= length ||
	    !memchr(c->data + at + name, '\0', (size_t)(length - name)))
		return 0;
	counter->name = (const char *)c->data + at + name;
	counter->type = (char)c->data[at + ENTRY_TYPE];
	counter->text = (const char *)c->data + at + data;
	counter->length = (size_t)(vector < length - data ? vector : length - data);
	counter->value = length - data >= 8 ? number_at(c, at + data, 8) : HSPERF_UNKNOWN;
	return (size_t)length;
}

static void text_copy(char *to, size_t size, const struct counter *counter, const char *until)
{
	size_t length = strnlen(counter->text, counter->length), end = 0;

	while (end < length && !strchr(until, counter->text[end]))
		end++;
	snprintf(to, size, "%.*s", (int)end, counter->text);
}

/* What of the counters is put together at the end. */
struct found {
	char policy[32], arguments[256];
	uint64_t limit[2]; /* of both generations */
};

/* As -XX:+UseNAMEGC has them. Collectors of one generation have no policy. */
static void collector_name(const struct found *found, struct hsperf *perf)
{
	static const char *const names[][2] = {
		{ "GarbageFirst", "G1" },
		{ "Copy:MSC", "Serial" },
		{ "ParScav:MSC", "Parallel" },
		{ "ParNew:CMS", "ConcMarkSweep" },
	};
	const char *use = found->arguments, *end;

	snprintf(perf->collector, sizeof(perf->collector), "%s", found->policy);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(found->policy, names[i][0]))
			snprintf(perf->collector, sizeof(perf->collector), "%s", names[i][1]);
	while (!*perf->collector && (use = strstr(use, "-XX:+Use"))) {
		use += strlen("-XX:+Use");
		end = use + strcspn(use, " ");
		if (end - use > 2 && end - use < 20 && !memcmp(end - 2, "GC", 2))
			snprintf(perf->collector, sizeof(perf->collector), "%.*s",
				 (int)(end - use - 2), use);
	}
}

/* Where each generation may have the whole heap the counters say so of both. */
static uint64_t heap_limit(const struct found *found, const struct hsperf *perf)
{
	const uint64_t young = found->limit[0], old = found->limit[1];

	if (young == HSPERF_UNKNOWN || old == HSPERF_UNKNOWN)
		return young == HSPERF_UNKNOWN ? old : young;
	if (!strcmp(perf->collector, "Serial") || !strcmp(perf->collector, "Parallel") ||
	    !strcmp(perf->collector, "ConcMarkSweep"))
		return young + old;
	return young > old ? young : old;
}

static void counter_use(const struct counter *counter, struct found *found, struct hsperf *perf)
{
	unsigned int generation, space;
	char rest[16] = "";

	if (counter->type == 'B' && !strcmp(counter->name, "sun.rt.javaCommand"))
		text_copy(perf->program, sizeof(perf->program), counter, " ");
	else if (counter->type == 'B' && !strcmp(counter->name, "sun.gc.policy.name"))
		text_copy(found->policy, sizeof(found->policy), counter, "");
	else if (counter->type == 'B' && !strcmp(counter->name, "java.rt.vmArgs"))
		text_copy(found->arguments, sizeof(found->arguments), counter, "");
	else if (counter->type != 'J')
		return;
	/* Spaces of generations 0 and 1 are the heap, further ones were classes before JDK 8. */
	else if (sscanf(counter->name, "sun.gc.generation.%u.space.%u.%15s", &generation, &space,
			rest) == 3 &&
		 generation < 2 && !strcmp(rest, "used"))
		perf->used =
			perf->used == HSPERF_UNKNOWN ? counter->value : perf->used + counter->value;
	else if (sscanf(counter->name, "sun.gc.generation.%u.%15s", &generation, rest) == 2 &&
		 generation < 2 && !strcmp(rest, "maxCapacity"))
		found->limit[generation] = counter->value;
}

bool hsperf_parse(const unsigned char *data, size_t size, struct hsperf *perf)
{
	static const unsigned char magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };
	struct counters c = { data, size, false };
	struct found found = { .limit = { HSPERF_UNKNOWN, HSPERF_UNKNOWN } };
	uint64_t entries;
	size_t at, length;

	*perf = (struct hsperf){ .used = HSPERF_UNKNOWN, .limit = HSPERF_UNKNOWN };
	if (size < PROLOGUE || memcmp(data + AT_MAGIC, magic, sizeof(magic)) != 0 ||
	    data[AT_MAJOR] != 2)
		return false;
	c.little = data[AT_ORDER] == 1;
	at = (size_t)number_at(&c, AT_FIRST, 4);
	entries = number_at(&c, AT_ENTRIES, 4);
	for (uint64_t i = 0; i < entries; i++, at += length) {
		struct counter counter;

		length = counter_read(&c, at, &counter);
		if (!length)
			break;
		counter_use(&counter, &found, perf);
	}
	collector_name(&found, perf);
	perf->limit = heap_limit(&found, perf);
	return true;
}
