// SPDX-License-Identifier: MIT
/* Reading a board file. One "key value..." a line, '#' starts a comment. */
#include "board.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	COUNT,
	KIB,
	REAL
};

/* Every scalar of a board file; each must appear exactly once. */
static const struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	double low, high;
} keys[] = {
	{ "awake_mw", REAL, offsetof(struct board, awake_mw), 0, 1e5 },
	{ "coefficient", REAL, offsetof(struct board, coefficient), 1, 1e5 },
	{ "cores", COUNT, offsetof(struct board, cores), 1, BOARD_CORES },
	{ "cpi", REAL, offsetof(struct board, cpi), 0.1, 20 },
	{ "io_ns", REAL, offsetof(struct board, io_ns), 0, 1e5 },
	{ "l1_kib", KIB, offsetof(struct board, l1_bytes), 1, 1024 },
	{ "l1_ways", COUNT, offsetof(struct board, l1_ways), 1, 16 },
	{ "l2_cycles", REAL, offsetof(struct board, l2_cycles), 0, 1e4 },
	{ "l2_kib", KIB, offsetof(struct board, l2_bytes), 16, 65536 },
	{ "l2_ways", COUNT, offsetof(struct board, l2_ways), 1, 32 },
	{ "latency_us", REAL, offsetof(struct board, latency_us), 0, 1e5 },
	{ "line_nj", REAL, offsetof(struct board, line_nj), 0, 1e4 },
	{ "mem_mbs", REAL, offsetof(struct board, mem_mbs), 10, 1e6 },
	{ "mem_ns", REAL, offsetof(struct board, mem_ns), 1, 1e5 },
	{ "static_share", REAL, offsetof(struct board, static_share), 0, 1 },
	{ "stream_ns", REAL, offsetof(struct board, stream_ns), 0.1, 1e5 },
	{ "switch_us", REAL, offsetof(struct board, switch_us), 0, 1e5 },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

struct reader {
	struct board *b;
	char *why;
	size_t size;
	unsigned int line;
	unsigned int seen; /* bit n: keys[n] */
	bool has_clock;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *format, ...)
{
	va_list ap;
	int n = 0;

	if (r->line)
		n = snprintf(r->why, r->size, "line %u: ", r->line);
	va_start(ap, format);
	vsnprintf(r->why + n, r->size - (size_t)n, format, ap);
	va_end(ap);
	return -1;
}

/* Number of values parsed; -1 if one is no number. */
static int numbers(char *rest, double *v, int max)
{
	char *word, *end, *save = NULL;
	int n = 0;

	for (word = strtok_r(rest, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (n == max)
			return -1;
		v[n++] = strtod(word, &end);
		if (*end || end == word)
			return -1;
	}
	return n;
}

static int scalar(struct reader *r, const char *name, char *rest)
{
	double v;
	size_t k;
	char *to;

	for (k = 0; k < KEYS; k++)
		if (!strcmp(keys[k].name, name))
			break;
	if (k == KEYS)
		return fail(r, "unknown key '%s'", name);
	if (r->seen & (1u << k))
		return fail(r, "'%s' a second time", name);
	if (numbers(rest, &v, 1) != 1)
		return fail(r, "'%s' wants one number", name);
	if (!(v >= keys[k].low && v <= keys[k].high))
		return fail(r, "'%s' must be %g..%g", name, keys[k].low, keys[k].high);
	to = (char *)r->b + keys[k].offset;
	switch (keys[k].kind) {
	case COUNT:
		*(uint32_t *)to = (uint32_t)v;
		break;
	case KIB:
		*(uint32_t *)to = (uint32_t)v * 1024;
		break;
	case REAL:
		*(double *)to = v;
		break;
	}
	r->seen |= 1u << k;
	return 0;
}

static int opp(struct reader *r, char *rest)
{
	struct board *b = r->b;
	struct board_opp *o = &b->opp[b->opps];
	double v[3] = { 0 };

	if (b->opps == BOARD_OPPS)
		return fail(r, "more than %d OPPs", BOARD_OPPS);
	if (numbers(rest, v, 3) < 2 || v[0] < 1000 || v[1] < 1e5 || v[2] < 0)
		return fail(r, "opp wants kHz, microvolt and, if known, mW");
	if (b->opps && v[0] <= o[-1].khz)
		return fail(r, "OPPs must ascend");
	if (b->opps && (v[2] > 0) != (o[-1].table_mw > 0))
		return fail(r, "either every OPP has a table power, or none");
	o->khz = (uint32_t)v[0];
	o->uv = (uint32_t)v[1];
	o->table_mw = v[2];
	b->opps++;
	return 0;
}

static int leak(struct reader *r, char *rest)
{
	struct board *b = r->b;
	double v[3];

	if (b->statics == BOARD_STATICS)
		return fail(r, "more than %d pieces of static current", BOARD_STATICS);
	if (numbers(rest, v, 3) != 3)
		return fail(r, "static_ua wants: up to mV, slope uA/mV, offset uA");
	b->leak[b->statics].upto_mv = v[0];
	b->leak[b->statics].ua_per_mv = v[1];
	b->leak[b->statics].ua = v[2];
	b->statics++;
	return 0;
}

static int entry(struct reader *r, char *text)
{
	char *save = NULL, *name = strtok_r(text, " \t", &save);
	char *rest;

	if (!name)
		return 0;
	rest = save ? save : name + strlen(name);
	if (!strcmp(name, "opp"))
		return opp(r, rest);
	if (!strcmp(name, "static_ua"))
		return leak(r, rest);
	if (!strcmp(name, "name")) {
		if (sscanf(rest, "%31s", r->b->name) != 1)
			return fail(r, "name wants a word");
		return 0;
	}
	if (!strcmp(name, "clock")) {
		char word[16] = "";

		if (sscanf(rest, "%15s", word) != 1 ||
		    (strcmp(word, "shared") && strcmp(word, "per-core")))
			return fail(r, "clock is 'shared' or 'per-core'");
		r->b->shared = !strcmp(word, "shared");
		r->has_clock = true;
		return 0;
	}
	return scalar(r, name, rest);
}

/* Caches are looked up by a mask. */
static bool power_of_two(uint32_t v)
{
	return v && !(v & (v - 1));
}

static int whole(struct reader *r)
{
	struct board *b = r->b;
	size_t k;

	r->line = 0;
	if (!b->name[0])
		return fail(r, "no name");
	if (!r->has_clock)
		return fail(r, "'clock' is missing");
	for (k = 0; k < KEYS; k++)
		if (!(r->seen & (1u << k)))
			return fail(r, "'%s' is missing", keys[k].name);
	if (b->opps < 2)
		return fail(r, "fewer than two OPPs");
	if (!b->statics)
		return fail(r, "'static_ua' is missing");
	if (!power_of_two(b->l1_bytes / BOARD_LINE / b->l1_ways) ||
	    !power_of_two(b->l2_bytes / BOARD_LINE / b->l2_ways))
		return fail(r, "the number of a cache's sets must be a power of two");
	return 0;
}

int board_read(struct board *b, FILE *in, char *why, size_t size)
{
	struct reader r = { .b = b, .why = why, .size = size };
	char text[256];

	memset(b, 0, sizeof(*b));
	while (fgets(text, sizeof(text), in)) {
		r.line++;
		if (!strchr(text, '\n') && !feof(in))
			return fail(&r, "line too long");
		text[strcspn(text, "#\n")] = '\0';
		if (entry(&r, text))
			return -1;
	}
	return whole(&r);
}
