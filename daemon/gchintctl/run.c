// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/names.h"
#include "ctl.h"
#include "db.h"

uint16_t run_group(uint32_t phase, uint32_t flags)
{
	enum run_class c = flags & GCHINT_F_URGENT     ? CLASS_URGENT :
			   flags & GCHINT_F_STW	       ? CLASS_STW :
			   flags & GCHINT_F_FOREGROUND ? CLASS_FOREGROUND :
			   flags & GCHINT_F_CONCURRENT ? CLASS_CONCURRENT :
							 CLASS_NONE;

	if (phase >= GCHINT_PHASE_NR)
		phase = GCHINT_PHASE_COLLECT;
	return (uint16_t)(phase * CLASS_NR + c);
}

const char *run_group_name(unsigned int group, char *buf, size_t size)
{
	static const char *const classes[CLASS_NR] = { "", ", concurrent", ", foreground", ", stw",
						       ", urgent" };

	if (group < CLASS_NR)
		return "outside of phases";
	snprintf(buf, size, "%s%s", name_phase(group / CLASS_NR), classes[group % CLASS_NR]);
	return buf;
}

/* Of realtime, ns: the year 2096. With as much behind it, it is still a number. */
#define LATEST 4000000000000000000ll

/* More than any hardware has: a file with more is none of gchintd's. */
#define KHZS_MAX 65536

struct run_cache {
	bool loaded;
	struct run_series *rail;
};

static bool no_memory(const struct run *run)
{
	db_missing(run->path, "no memory for all of it");
	return false;
}

/* Room for one more; doubles. */
static bool grow(void *array, size_t nr, size_t size)
{
	void **at = array, *more;

	if (nr && (nr & (nr - 1) || nr < 16))
		return true;
	more = realloc(*at, (nr ? nr * 2 : 16) * size);
	if (more)
		*at = more;
	return more;
}

static bool take_phase(struct run *run, sqlite3_stmt *s)
{
	int64_t t0 = db_int(s, 0, -1), t1 = db_int(s, 1, 0), cpu = db_int(s, 6, -1);
	uint32_t flags = db_u32(s, 5, 0);
	struct run_phase *p;

	if (t0 < 0 || t1 < 0 || (t1 && t1 < t0)) {
		run->absurd++;
		return true;
	}
	if (!grow(&run->phase, run->phases, sizeof(*p)))
		return no_memory(run);
	p = &run->phase[run->phases++];
	p->t0 = (uint64_t)t0;
	p->t1 = (uint64_t)t1;
	/* Still running when the recording ended. */
	if (!p->t1) {
		run->open++;
		p->t1 = run->t1 > p->t0 ? run->t1 : p->t0;
	}
	p->tgid = (int32_t)db_int(s, 2, 0);
	p->tid = (int32_t)db_int(s, 3, 0);
	p->cause = db_u32(s, 8, GCHINT_CAUSE_UNKNOWN);
	p->group = run_group(db_u32(s, 4, 0), flags);
	p->stw = flags & GCHINT_F_STW;
	p->cpu = cpu >= 0 && cpu <= INT16_MAX ? (int16_t)cpu : -1;
	run->uncertain += db_int(s, 7, 0) != 0;
	return true;
}

static bool load_phases(struct run *run)
{
	sqlite3_stmt *s =
		db_query(run->db, "SELECT t0, t1, tgid, tid, phase, flags, cpu, uncertain, cause "
				  "FROM phases ORDER BY t0");
	bool good = s;

	while (good && db_next(s))
		good = take_phase(run, s);
	sqlite3_finalize(s);
	return good;
}

static bool take_step(struct run *run, sqlite3_stmt *s)
{
	struct run_cpu *c = run->cpus ? &run->cpu[run->cpus - 1] : NULL;
	uint32_t cpu = db_u32(s, 0, UINT32_MAX), khz = db_u32(s, 2, 0);
	int64_t t = db_int(s, 1, -1);

	if (cpu == UINT32_MAX || t < 0) {
		run->absurd++;
		return true;
	}
	/* Not known from here on, until the next. */
	if (!khz && sqlite3_column_type(s, 2) != SQLITE_NULL)
		run->absurd += sqlite3_column_type(s, 2) != SQLITE_INTEGER;
	if (!khz)
		return true;
	if (!c || c->cpu != cpu) {
		if (!grow(&run->cpu, run->cpus, sizeof(*c)))
			return no_memory(run);
		c = &run->cpu[run->cpus++];
		*c = (struct run_cpu){ .cpu = cpu };
	}
	if (!grow(&c->step, c->nr, sizeof(*c->step)))
		return no_memory(run);
	c->step[c->nr++] = (struct run_step){ (uint64_t)t, khz };
	return true;
}

static bool load_steps(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT cpu, t, khz FROM transitions ORDER BY cpu, t");
	bool good = s;

	while (good && db_next(s))
		good = take_step(run, s);
	sqlite3_finalize(s);
	return good;
}

static bool load_rails(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT id, name, label, kind, source, derived, "
					    "period_ns FROM rails ORDER BY id");
	bool good = s;

	while (good && db_next(s)) {
		struct run_rail *r;

		good = grow(&run->rail, run->rails, sizeof(*r)) || no_memory(run);
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
		r->limits = (struct energy_limits){ 0, INFINITY };
	}
	sqlite3_finalize(s);
	run->cache = calloc(1, sizeof(*run->cache));
	return good && (run->cache || no_memory(run));
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

static bool take_sample(const struct run *run, sqlite3_stmt *s)
{
	const struct run_rail key = { .id = db_int(s, 1, INT64_MIN) }, *rail;
	int64_t t = db_int(s, 0, -1);
	struct run_series *series;

	rail = run->rails ? bsearch(&key, run->rail, run->rails, sizeof(key), by_id) : NULL;
	if (!rail || t < 0)
		return true;
	series = &run->cache->rail[rail - run->rail];
	if (!grow(&series->sample, series->nr, sizeof(*series->sample)))
		return no_memory(run);
	series->sample[series->nr++] =
		(struct run_sample){ (uint64_t)t, db_int(s, 2, RUN_UNKNOWN) };
	return true;
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
		no_memory(run);
		return NULL;
	}
	s = db_query(run->db, "SELECT t, rail, value FROM samples");
	while (good && db_next(s))
		good = take_sample(run, s);
	sqlite3_finalize(s);
	cache->loaded = true;
	if (!good) {
		run_forget(run);
		return NULL;
	}
	/* As they were written, but for rails that a thread reads. */
	for (size_t i = 0; i < run->rails; i++) {
		struct run_series *r = &cache->rail[i];
		bool sorted = true;

		for (size_t k = 1; k < r->nr && sorted; k++)
			sorted = r->sample[k - 1].t <= r->sample[k].t;
		if (!sorted)
			qsort(r->sample, r->nr, sizeof(*r->sample), by_t);
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

/* The numbers behind the last '='; false if they are none. */
static bool parse_limits(const char *spec, struct energy_limits *limits, int *name)
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

	return parse_limits(spec, &limits, &name);
}

size_t run_limit(struct run *run, const char *spec)
{
	struct energy_limits limits;
	size_t n = 0;
	int name;

	if (!parse_limits(spec, &limits, &name))
		return 0;
	for (size_t i = 0; i < run->rails; i++) {
		struct run_rail *r = &run->rail[i];
		char wanted[96];

		snprintf(wanted, sizeof(wanted), "%.*s", name < 0 ? 0 : name, spec);
		if (name >= 0 && strcmp(wanted, r->name) && strcmp(wanted, r->label))
			continue;
		r->limits = limits;
		n++;
	}
	return n;
}

/* gchintctl record marks both ends. */
static void find_command(struct run *run)
{
	int64_t start, end;

	if (db_number(run->db, "SELECT min(t) FROM marks WHERE text LIKE 'start: %'", 0, &start) &&
	    db_number(run->db, "SELECT max(t) FROM marks WHERE text LIKE 'end: %'", 0, &end) &&
	    start > 0 && end > start) {
		run->c0 = (uint64_t)start;
		run->c1 = (uint64_t)end;
	}
}

uint64_t run_duration(const struct run *run)
{
	return run->c1 ? run->c1 - run->c0 : run->t1 - run->t0;
}

void run_began(const struct run *run, char *buf, size_t size)
{
	time_t t = (time_t)(run->began_ns / 1000000000);
	struct tm tm;

	if (run->began_ns == RUN_UNKNOWN || !gmtime_r(&t, &tm) ||
	    !strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(buf, size, "when is not known");
}

double run_seconds(const struct run *run, uint64_t t)
{
	return (double)(int64_t)(t - run->t0) / 1e9;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t khz_index(const struct run *run, uint32_t khz)
{
	const uint32_t *at = bsearch(&khz, run->khz, run->khzs, sizeof(khz), by_khz);

	return (size_t)(at - run->khz);
}

/* Of the steps as they were taken, not as the file compares them. */
static bool collect_khz(struct run *run)
{
	size_t steps = 0;

	for (size_t i = 0; i < run->cpus; i++)
		steps += run->cpu[i].nr;
	run->khz = malloc((steps ? steps : 1) * sizeof(*run->khz));
	if (!run->khz)
		return no_memory(run);
	for (size_t i = 0; i < run->cpus; i++)
		for (size_t k = 0; k < run->cpu[i].nr; k++)
			run->khz[run->khzs++] = run->cpu[i].step[k].khz;
	qsort(run->khz, run->khzs, sizeof(*run->khz), by_khz);
	steps = run->khzs;
	run->khzs = 0;
	for (size_t i = 0; i < steps; i++)
		if (!run->khzs || run->khz[run->khzs - 1] != run->khz[i])
			run->khz[run->khzs++] = run->khz[i];
	if (run->khzs <= KHZS_MAX)
		return true;
	db_missing(run->path, "more frequencies than any machine has");
	return false;
}

static const struct run_cpu *cpu_of(const struct run *run, int cpu)
{
	size_t lo = 0, hi = run->cpus;

	while (cpu >= 0 && lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (run->cpu[mid].cpu == (uint32_t)cpu)
			return &run->cpu[mid];
		if (run->cpu[mid].cpu < (uint32_t)cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Index of the last step at or before @t; -1 if it is before the first. */
static ssize_t step_at(const struct run_cpu *c, uint64_t t)
{
	size_t lo = 0, hi = c->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->step[mid].t <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (ssize_t)lo - 1;
}

uint32_t run_khz(const struct run *run, int cpu, uint64_t t)
{
	const struct run_cpu *c = cpu_of(run, cpu);
	ssize_t i = c ? step_at(c, t) : -1;

	return i < 0 ? 0 : c->step[i].khz;
}

void run_stretches(const struct run *run, int cpu, uint64_t t0, uint64_t t1,
		   void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data)
{
	const struct run_cpu *c = cpu_of(run, cpu);
	ssize_t i = c ? step_at(c, t0) : 0;

	for (i = i < 0 ? 0 : i; c && i < (ssize_t)c->nr && c->step[i].t < t1; i++) {
		uint64_t from = c->step[i].t > t0 ? c->step[i].t : t0;
		uint64_t to =
			i + 1 < (ssize_t)c->nr && c->step[i + 1].t < t1 ? c->step[i + 1].t : t1;

		if (to > from)
			fn(data, c->step[i].khz, to - from);
	}
}

struct adding {
	struct run *run;
	unsigned int group;
};

static void add_residency(void *data, uint32_t khz, uint64_t ns)
{
	const struct adding *a = data;

	a->run->residency[khz_index(a->run, khz)][a->group] += ns;
}

static bool compute_residency(struct run *run)
{
	struct adding a = { run, 0 };

	if (!collect_khz(run))
		return false;
	run->residency = calloc(run->khzs ? run->khzs : 1, sizeof(*run->residency));
	if (!run->residency)
		return no_memory(run);
	for (size_t i = 0; i < run->cpus; i++)
		run_stretches(run, (int)run->cpu[i].cpu, run->t0, run->t1, add_residency, &a);
	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		a.group = p->group;
		run_stretches(run, p->cpu, p->t0, p->t1, add_residency, &a);
	}
	/* What was in a phase was not outside; two threads may share a CPU. */
	for (size_t k = 0; k < run->khzs; k++)
		for (unsigned int g = 1; g < RUN_GROUPS; g++)
			run->residency[k][0] -= run->residency[k][g] < run->residency[k][0] ?
							run->residency[k][g] :
							run->residency[k][0];
	return true;
}

static void name_run(struct run *run)
{
	sqlite3_stmt *s;

	if (db_meta(run->db, "label", run->label, sizeof(run->label)))
		return;
	s = db_query(run->db, "SELECT group_concat(governor, ', ') FROM (SELECT DISTINCT governor "
			      "FROM policy_states WHERE governor IS NOT NULL)");
	if (db_next(s))
		snprintf(run->label, sizeof(run->label), "%s", db_text(s, 0, run->path));
	sqlite3_finalize(s);
}

/* Where, and when by the offset of realtime that was measured at the start. */
static void place_run(struct run *run)
{
	int64_t offset, began;

	db_meta(run->db, "board.host", run->host, sizeof(run->host));
	run->began_ns = RUN_UNKNOWN;
	if (db_number(run->db, "SELECT offset_ns FROM clocks WHERE source = 'realtime'", 0,
		      &offset) &&
	    !__builtin_sub_overflow((int64_t)run->t0, offset, &began) && began >= 0 &&
	    began < LATEST && run->t1 - run->t0 < LATEST)
		run->began_ns = began;
}

const char *run_rail_how(const struct run_rail *rail)
{
	return strncmp(rail->derived, "modelled", 8) ? "measured" : "modelled";
}

struct run *run_open(const char *path)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run) {
		ctl_error("%s: no memory for it", path);
		return NULL;
	}
	run->path = path;
	run->db = db_open(path);
	if (!run->db)
		goto free_run;
	if (!db_span(run->db, &run->t0, &run->t1)) {
		ctl_error("%s: nothing is recorded in it yet", path);
		goto free_run;
	}
	if (!load_phases(run) || !load_steps(run) || !load_rails(run) || !compute_residency(run))
		goto free_run;
	if (run->absurd)
		db_missing(path, "rows that make no sense are left out");
	find_command(run);
	name_run(run);
	place_run(run);
	return run;

free_run:
	run_close(run);
	return NULL;
}

void run_close(struct run *run)
{
	if (!run)
		return;
	run_forget(run);
	free(run->cache);
	for (size_t i = 0; i < run->cpus; i++)
		free(run->cpu[i].step);
	free(run->cpu);
	free(run->phase);
	free(run->rail);
	free(run->khz);
	free(run->residency);
	sqlite3_close(run->db);
	free(run);
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void run_lengths(const struct run *run, unsigned int group, struct run_lengths *l)
{
	uint64_t *length = malloc((run->phases ? run->phases : 1) * sizeof(*length));
	uint64_t known = 0;
	double weighted = 0;

	*l = (struct run_lengths){ 0 };
	if (!length) {
		no_memory(run);
		return;
	}
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].group == group) {
			length[l->count] = run->phase[i].t1 - run->phase[i].t0;
			l->total += length[l->count++];
		}
	if (l->count) {
		qsort(length, l->count, sizeof(*length), by_length);
		l->mean = l->total / l->count;
		l->p50 = length[(l->count * 50 + 99) / 100 - 1];
		l->p95 = length[(l->count * 95 + 99) / 100 - 1];
		l->max = length[l->count - 1];
	}
	free(length);
	for (size_t k = 0; k < run->khzs; k++) {
		known += run->residency[k][group];
		weighted += (double)run->residency[k][group] * run->khz[k];
	}
	l->khz = known ? weighted / (double)known : 0;
}
