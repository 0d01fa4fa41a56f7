// SPDX-License-Identifier: MIT
/* Reads a board file: one "key value..." per line, '#' starts a comment. */
#include "board.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum key_type {
	COUNT,
	KIB,
	REAL,
	DEFAULTED, /* an optional real number */
	DEFAULTED_COUNT,
};

enum owner {
	BOARD,
	CLUSTER, /* one value for each cluster */
};

/* The scalars of a board file. Each must appear exactly once, unless it has a default. */
#define OF_BOARD(name, type, low, high)                                                            \
	{                                                                                          \
#name, type, BOARD, offsetof(struct board, name), low, high                        \
	}
#define OF_CLUSTER(name, type, low, high)                                                          \
	{                                                                                          \
#name, type, CLUSTER, offsetof(struct board_cluster, name), low, high              \
	}
#define OF_CACHE(name, low, high)                                                                  \
	{                                                                                          \
#name "_kib", KIB, CLUSTER, offsetof(struct board_cluster, name##_bytes), low,     \
			high                                                                       \
	}

static const struct key {
	const char *name;
	enum key_type type;
	enum owner owner;
	size_t offset;
	double low, high;
} keys[] = {
	OF_CLUSTER(awake_mw, REAL, 0, 1e5),
	OF_BOARD(background_mw, DEFAULTED, 0, 1e5),
	OF_CLUSTER(capacity, DEFAULTED_COUNT, 1, 1024),
	OF_CLUSTER(coefficient, REAL, 1, 1e5),
	OF_CLUSTER(cores, COUNT, 1, BOARD_CORES),
	OF_CLUSTER(cpi, REAL, 0.1, 20),
	OF_CLUSTER(em_coefficient, DEFAULTED, 1, 1e5),
	OF_BOARD(io_ns, REAL, 0, 1e5),
	OF_CACHE(l1, 1, 1024),
	OF_CLUSTER(l1_ways, COUNT, 1, 16),
	OF_CLUSTER(l2_cycles, REAL, 0, 1e4),
	OF_CACHE(l2, 16, 65536),
	OF_CLUSTER(l2_ns, DEFAULTED, 0, 1e4),
	OF_CLUSTER(l2_ways, COUNT, 1, 32),
	OF_CLUSTER(latency_us, REAL, 0, 1e5),
	OF_BOARD(line_nj, REAL, 0, 1e4),
	OF_BOARD(mem_mbs, REAL, 10, 1e6),
	OF_CLUSTER(mem_ns, REAL, 1, 1e5),
	OF_CLUSTER(retained_mw, DEFAULTED, 0, 1e5),
	OF_CLUSTER(settle_us, DEFAULTED, 0, 1e5),
	OF_CLUSTER(snoop_cycles, DEFAULTED, 0, 1e4),
	OF_BOARD(snoop_ns, DEFAULTED, 0, 1e4),
	OF_CLUSTER(stall_share, DEFAULTED, 0, 1),
	OF_CLUSTER(static_share, REAL, 0, 1),
	OF_CLUSTER(stream_ns, REAL, 0.1, 1e5),
	OF_CLUSTER(switch_us, REAL, 0, 1e5),
	OF_CLUSTER(tlb1_cycles, DEFAULTED, 0, 1e4),
	OF_CLUSTER(tlb1_entries, DEFAULTED_COUNT, 4, 4096),
	OF_CLUSTER(tlb2_entries, DEFAULTED_COUNT, 4, 4096),
	OF_CLUSTER(walk_cycles, DEFAULTED, 0, 1e4),
	OF_CLUSTER(walk_ns, DEFAULTED, 0, 1e4),
	OF_CLUSTER(wfi_share, DEFAULTED, 0, 1),
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

struct reader {
	struct board *b;
	struct board_cluster *k; /* the cluster that the current lines describe */
	char *why;
	size_t size;
	unsigned int line;
	uint64_t seen; /* bit n: keys[n] was read for this cluster */
	uint64_t common; /* bit n: keys[n] was read for the board */
	bool has_clock;
};

__attribute__((format(printf, 2, 3))) static int reader_fail(struct reader *r, const char *format,
							     ...)
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

/* Number of values parsed; -1 if one is not a number, or if there are more than @max. */
static int numbers_parse(char *rest, double *v, int max)
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

/* Index of the key, and its value in @v; KEYS on failure, with the reader's message filled. */
static size_t key_find(struct reader *r, const char *name, char *rest, double *v)
{
	size_t k;

	for (k = 0; k < KEYS; k++)
		if (!strcmp(keys[k].name, name))
			break;
	if (k == KEYS) {
		reader_fail(r, "unknown key '%s'", name);
		return KEYS;
	}
	if (numbers_parse(rest, v, 1) != 1) {
		reader_fail(r, "'%s' wants one number", name);
		return KEYS;
	}
	if (!(*v >= keys[k].low && *v <= keys[k].high)) {
		reader_fail(r, "'%s' must be %g..%g", name, keys[k].low, keys[k].high);
		return KEYS;
	}
	return k;
}

static void key_store(const struct key *key, void *owner, double v)
{
	char *to = (char *)owner + key->offset;

	switch (key->type) {
	case COUNT:
	case DEFAULTED_COUNT:
		*(uint32_t *)to = (uint32_t)v;
		break;
	case KIB:
		*(uint32_t *)to = (uint32_t)v * 1024;
		break;
	case REAL:
	case DEFAULTED:
		*(double *)to = v;
		break;
	}
}

static int scalar_parse(struct reader *r, const char *name, char *rest)
{
	double v;
	size_t k = key_find(r, name, rest, &v);

	if (k == KEYS)
		return -1;
	if ((r->seen | r->common) & (UINT64_C(1) << k))
		return reader_fail(r, "'%s' a second time", name);
	if (keys[k].owner == BOARD) {
		key_store(&keys[k], r->b, v);
		r->common |= UINT64_C(1) << k;
	} else {
		key_store(&keys[k], r->k, v);
		r->seen |= UINT64_C(1) << k;
	}
	return 0;
}

static int opp_parse(struct reader *r, char *rest)
{
	struct board_cluster *b = r->k;
	struct board_opp *o = &b->opp[b->opps];
	double v[3] = { 0 };

	if (b->opps == BOARD_OPPS)
		return reader_fail(r, "more than %d OPPs", BOARD_OPPS);
	if (numbers_parse(rest, v, 3) < 2 || v[0] < 1000 || v[1] < 1e5 || v[2] < 0)
		return reader_fail(r, "opp wants kHz, microvolt and, if known, mW");
	if (b->opps && v[0] <= o[-1].khz)
		return reader_fail(r, "OPPs must ascend");
	if (b->opps && (v[2] > 0) != (o[-1].table_mw > 0))
		return reader_fail(r, "either every OPP has a table power, or none");
	o->khz = (uint32_t)v[0];
	o->uv = (uint32_t)v[1];
	o->table_mw = v[2];
	b->opps++;
	return 0;
}

static int leak_parse(struct reader *r, char *rest)
{
	struct board_cluster *b = r->k;
	double v[3];

	if (b->statics == BOARD_STATICS)
		return reader_fail(r, "more than %d pieces of static current", BOARD_STATICS);
	if (numbers_parse(rest, v, 3) != 3)
		return reader_fail(r, "static_ua wants: up to mV, slope uA/mV, offset uA");
	b->leak[b->statics].upto_mv = v[0];
	b->leak[b->statics].ua_per_mv = v[1];
	b->leak[b->statics].ua = v[2];
	b->statics++;
	return 0;
}

/* idle NAME EXIT_US RESIDENCY_US SHARE [cluster] */
static int idle_parse(struct reader *r, const char *rest)
{
	struct board_cluster *k = r->k;
	struct board_idle *i = &k->idle[k->idles];
	char how[16] = "", more[2];
	int n;

	if (k->idles == BOARD_IDLES)
		return reader_fail(r, "more than %d idle states", BOARD_IDLES);
	n = sscanf(rest, "%15s %lf %lf %lf %15s %1s", i->name, &i->exit_us, &i->residency_us,
		   &i->share, how, more);
	if (n < 4 || n > 5 || i->exit_us < 0 || i->residency_us < i->exit_us || i->share < 0 ||
	    i->share > 1 || (n == 5 && strcmp(how, "cluster")))
		return reader_fail(
			r, "idle wants a name, exit and residency in us, the share of static "
			   "power that is left and, if it can, 'cluster'");
	i->cluster = n == 5;
	if (k->idles && (i->residency_us <= i[-1].residency_us || i->share > i[-1].share))
		return reader_fail(r, "idle states must be ever deeper");
	k->idles++;
	return 0;
}

/* Set indices are computed with a mask, so the number of sets must be a power of two. */
static bool power_of_two(uint32_t v)
{
	return v && !(v & (v - 1));
}

static bool key_is_optional(enum key_type type)
{
	return type == DEFAULTED || type == DEFAULTED_COUNT;
}

/* Called after the last line of a cluster. */
static int cluster_check_complete(struct reader *r)
{
	struct board_cluster *k = r->k;
	size_t n;

	if (!r->has_clock)
		return reader_fail(r, "'clock' is missing");
	for (n = 0; n < KEYS; n++)
		if (keys[n].owner == CLUSTER && !key_is_optional(keys[n].type) &&
		    !(r->seen & (UINT64_C(1) << n)))
			return reader_fail(r, "'%s' is missing", keys[n].name);
	if (k->opps < 2)
		return reader_fail(r, "fewer than two OPPs");
	if (!k->statics)
		return reader_fail(r, "'static_ua' is missing");
	if (k->em_coefficient <= 0)
		k->em_coefficient = k->coefficient;
	if (!power_of_two(k->l1_bytes / BOARD_LINE / k->l1_ways) ||
	    !power_of_two(k->l2_bytes / BOARD_LINE / k->l2_ways))
		return reader_fail(r, "the number of a cache's sets must be a power of two");
	if ((k->tlb1_entries && !power_of_two(k->tlb1_entries)) ||
	    (k->tlb2_entries && !power_of_two(k->tlb2_entries)))
		return reader_fail(r, "the entries of a TLB must be a power of two");
	if (k->tlb2_entries && !k->tlb1_entries)
		return reader_fail(r, "a second TLB without a first");
	k->first = r->b->cores;
	r->b->cores += k->cores;
	if (r->b->cores > BOARD_CORES)
		return reader_fail(r, "more than %d cores in all", BOARD_CORES);
	return 0;
}

static void cluster_begin(struct reader *r)
{
	r->k = &r->b->cluster[r->b->clusters++];
	r->k->wfi_share = r->k->stall_share = 1;
	r->seen = 0;
	r->has_clock = false;
}

/* cluster NAME: begins the lines that describe this cluster */
static int cluster_parse(struct reader *r, const char *rest)
{
	char name[sizeof(r->k->name)];

	if (sscanf(rest, "%15s", name) != 1)
		return reader_fail(r, "cluster wants a name");
	if (!r->k->name[0]) {
		if (r->seen || r->has_clock || r->k->opps || r->k->statics || r->k->idles)
			return reader_fail(
				r, "only lines common to all clusters may precede the first");
	} else {
		if (cluster_check_complete(r))
			return -1;
		if (r->b->clusters == BOARD_CLUSTERS)
			return reader_fail(r, "more than %d clusters", BOARD_CLUSTERS);
		cluster_begin(r);
	}
	memcpy(r->k->name, name, sizeof(name));
	return 0;
}

static int clock_parse(struct reader *r, const char *rest)
{
	char word[16] = "";

	if (sscanf(rest, "%15s", word) != 1 || (strcmp(word, "shared") && strcmp(word, "per-core")))
		return reader_fail(r, "clock is 'shared' or 'per-core'");
	r->k->shared = !strcmp(word, "shared");
	r->has_clock = true;
	return 0;
}

static int line_parse(struct reader *r, char *text)
{
	char *save = NULL, *name = strtok_r(text, " \t", &save);
	char *rest;

	if (!name)
		return 0;
	rest = save ? save : name + strlen(name);
	if (!strcmp(name, "opp"))
		return opp_parse(r, rest);
	if (!strcmp(name, "static_ua"))
		return leak_parse(r, rest);
	if (!strcmp(name, "idle"))
		return idle_parse(r, rest);
	if (!strcmp(name, "cluster"))
		return cluster_parse(r, rest);
	if (!strcmp(name, "clock"))
		return clock_parse(r, rest);
	if (!strcmp(name, "name")) {
		if (sscanf(rest, "%31s", r->b->name) != 1)
			return reader_fail(r, "name wants a word");
		return 0;
	}
	return scalar_parse(r, name, rest);
}

static int board_check_complete(struct reader *r)
{
	size_t n;

	r->line = 0;
	if (!r->b->name[0])
		return reader_fail(r, "no name");
	for (n = 0; n < KEYS; n++)
		if (keys[n].owner == BOARD && !key_is_optional(keys[n].type) &&
		    !(r->common & (UINT64_C(1) << n)))
			return reader_fail(r, "'%s' is missing", keys[n].name);
	return cluster_check_complete(r);
}

int board_read(struct board *b, FILE *in, char *why, size_t size)
{
	struct reader r = { .b = b, .why = why, .size = size };
	char text[256];

	memset(b, 0, sizeof(*b));
	cluster_begin(&r);
	while (fgets(text, sizeof(text), in)) {
		r.line++;
		if (!strchr(text, '\n') && !feof(in))
			return reader_fail(&r, "line too long");
		text[strcspn(text, "#\n")] = '\0';
		if (line_parse(&r, text))
			return -1;
	}
	return board_check_complete(&r);
}

int board_assume(struct board *b, const char *assignment, char *why, size_t size)
{
	struct reader r = { .b = b, .why = why, .size = size };
	char name[64], *value;
	unsigned int c;
	size_t k;
	double v;

	snprintf(name, sizeof(name), "%s", assignment);
	value = strchr(name, '=');
	if (!value)
		return reader_fail(&r, "want KEY=VALUE");
	*value++ = '\0';
	k = key_find(&r, name, value, &v);
	if (k == KEYS)
		return -1;
	if (keys[k].owner == BOARD)
		key_store(&keys[k], b, v);
	for (c = 0; c < b->clusters && keys[k].owner == CLUSTER; c++)
		key_store(&keys[k], &b->cluster[c], v);
	return 0;
}
