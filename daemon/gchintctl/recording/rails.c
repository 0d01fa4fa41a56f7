// SPDX-License-Identifier: GPL-2.0-or-later
/* Rails of a recording, their readings and their limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/text.h"
#include "db.h"
#include "recording.h"

struct run_cache {
	bool loaded;
	struct run_series *rail;
};

/* Recordings of older versions lack some columns: returns -1 for these. */
static int column_find(sqlite3_stmt *s, const char *name)
{
	for (int i = sqlite3_column_count(s) - 1; i >= 0; i--)
		if (!strcmp(sqlite3_column_name(s, i), name))
			return i;
	return -1;
}

static void rail_load_cpus(struct run_rail *r, const char *cpus)
{
	if (strlen(cpus) < sizeof(r->cpus) && text_cpulist(cpus, r->cpu, RUN_CPUS) > 0)
		strcpy(r->cpus, cpus);
}

static int64_t column_positive(sqlite3_stmt *s, int column)
{
	int64_t v = column < 0 ? 0 : db_int(s, column, 0);

	return v > 0 ? v : 0;
}

bool run_load_rails(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT id, name, label, kind, source, derived, "
					    "period_ns, * FROM rails ORDER BY id");
	const int cpus = s ? column_find(s, "cpus") : -1;
	const int update = s ? column_find(s, "update_ns") : -1;
	const int wraps = s ? column_find(s, "wraps_at") : -1;
	bool good = s;

	while (good && db_next(s)) {
		struct run_rail *r;

		good = run_grow(&run->rail, run->rails, sizeof(*r)) || run_no_memory(run);
		if (!good)
			break;
		r = &run->rail[run->rails++];
		memset(r, 0, sizeof(*r));
		r->id = db_int(s, 0, 0);
		snprintf(r->name, sizeof(r->name), "%s", db_text(s, 1, "?"));
		snprintf(r->label, sizeof(r->label), "%s", db_text(s, 2, ""));
		snprintf(r->kind, sizeof(r->kind), "%s", db_text(s, 3, ""));
		snprintf(r->source, sizeof(r->source), "%s", db_text(s, 4, ""));
		snprintf(r->derived, sizeof(r->derived), "%s", db_text(s, 5, ""));
		r->period_ns = (uint64_t)db_int(s, 6, 0);
		if (cpus >= 0)
			rail_load_cpus(r, db_text(s, cpus, ""));
		r->limits =
			(struct energy_limits){ 0, INFINITY, (uint64_t)column_positive(s, update),
						(double)column_positive(s, wraps) / 1e6 };
	}
	sqlite3_finalize(s);
	run->cache = calloc(1, sizeof(*run->cache));
	return good && (run->cache || run_no_memory(run));
}

static int by_id(const void *a, const void *b)
{
	const struct run_rail *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_t(const void *a, const void *b)
{
	const struct run_sample *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static bool series_add_sample(const struct run *run, sqlite3_stmt *s)
{
	const struct run_rail key = { .id = db_int(s, 1, INT64_MIN) }, *rail;
	int64_t t = db_int(s, 0, -1);
	struct run_series *series;

	rail = run->rails ? bsearch(&key, run->rail, run->rails, sizeof(key), by_id) : NULL;
	if (!rail || t < 0)
		return true;
	series = &run->cache->rail[rail - run->rail];
	if (!run_grow(&series->sample, series->nr, sizeof(*series->sample)))
		return run_no_memory(run);
	series->sample[series->nr++] =
		(struct run_sample){ (uint64_t)t, db_int(s, 2, RUN_UNKNOWN) };
	return true;
}

/*
 * Drops readings that repeat the previous value within two update periods: the counter had not
 * been updated yet. After two periods the value really has not changed, even if one update was
 * late.
 */
static void series_drop_stale(struct run_series *s, uint64_t update_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct run_sample *last = kept ? &s->sample[kept - 1] : NULL;

		if (last && last->value != RUN_UNKNOWN && s->sample[i].value == last->value &&
		    s->sample[i].t - last->t < 2 * update_ns)
			continue;
		s->sample[kept++] = s->sample[i];
	}
	s->still = s->nr - kept;
	s->nr = kept;
}

const struct run_series *run_samples(const struct run *run, size_t rail)
{
	struct run_cache *cache = run->cache;
	bool good = true;
	sqlite3_stmt *s;

	if (cache->loaded)
		return &cache->rail[rail];
	cache->rail = calloc(run->rails ? run->rails : 1, sizeof(*cache->rail));
	if (!cache->rail) {
		run_no_memory(run);
		return NULL;
	}
	s = db_query(run->db, "SELECT t, rail, value FROM samples");
	while (good && db_next(s))
		good = series_add_sample(run, s);
	sqlite3_finalize(s);
	cache->loaded = true;
	if (!good) {
		run_forget(run);
		return NULL;
	}
	/* Samples are recorded in order of time, except on rails with a thread of their own. */
	for (size_t i = 0; i < run->rails; i++) {
		struct run_series *r = &cache->rail[i];
		bool sorted = true;

		for (size_t k = 1; k < r->nr && sorted; k++)
			sorted = r->sample[k - 1].t <= r->sample[k].t;
		if (!sorted)
			qsort(r->sample, r->nr, sizeof(*r->sample), by_t);
		if (run->rail[i].limits.update_ns && !strcmp(run->rail[i].kind, "energy"))
			series_drop_stale(r, run->rail[i].limits.update_ns);
	}
	return &cache->rail[rail];
}

void run_forget(const struct run *run)
{
	struct run_cache *cache = run->cache;

	for (size_t i = 0; cache && cache->rail && i < run->rails; i++)
		free(cache->rail[i].sample);
	if (cache) {
		free(cache->rail);
		*cache = (struct run_cache){ 0 };
	}
}

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

bool run_limits_valid(const char *spec)
{
	struct energy_limits limits;
	int name;

	return limits_parse(spec, &limits, &name);
}

size_t run_limit(struct run *run, const char *spec)
{
	struct energy_limits limits;
	size_t n = 0;
	int name;

	if (!limits_parse(spec, &limits, &name))
		return 0;
	for (size_t i = 0; i < run->rails; i++) {
		struct run_rail *r = &run->rail[i];
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

bool run_rail_feeds(const struct run_rail *rail, int cpu)
{
	return !*rail->cpus || (cpu >= 0 && cpu < RUN_CPUS && rail->cpu[cpu]);
}

const char *run_rail_how(const struct run_rail *rail)
{
	return strncmp(rail->derived, "modelled", 8) ? "measured" : "modelled";
}
