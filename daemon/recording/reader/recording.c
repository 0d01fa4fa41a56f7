// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/names.h"
#include "../../common/text.h"
#include "../../common/error.h"
#include "db.h"
#include "series.h"

bool run_no_memory(const struct run *run)
{
	db_missing(run->path, "no memory for all of it");
	return false;
}

bool run_grow(void *array, size_t nr, size_t size)
{
	void **at = array, *more;

	if (nr && (nr & (nr - 1) || nr < 16))
		return true;
	more = realloc(*at, (nr ? nr * 2 : 16) * size);
	if (more)
		*at = more;
	return more;
}

struct run_cache {
	bool loaded;
	struct run_series *rail;
};

static void rail_load_cpus(struct run_rail *r, const char *cpus)
{
	if (strlen(cpus) < sizeof(r->cpus) && text_cpulist(cpus, r->cpu, RUN_CPUS) > 0)
		strcpy(r->cpus, cpus);
}

static int64_t column_positive(sqlite3_stmt *s, int column)
{
	int64_t v = db_int(s, column, 0);

	return v > 0 ? v : 0;
}

bool run_load_rails(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT id, name, label, kind, source, derived, "
					    "period_ns, cpus, update_ns, wraps_at FROM rails "
					    "ORDER BY id");
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
		rail_load_cpus(r, db_text(s, 7, ""));
		r->limits = (struct energy_limits){ 0, INFINITY, (uint64_t)column_positive(s, 8),
						    (double)column_positive(s, 9) / 1e6 };
		r->role = rail_role(r->source, r->name, r->label);
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
		series_settle(r, &run->rail[i]);
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

void run_find_groups(const struct run *run, bool *seen)
{
	memset(seen, 0, RUN_GROUPS * sizeof(*seen));
	for (size_t i = 0; i < run->phases; i++)
		seen[run->phase[i].group] = true;
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

/* The year 2096 in ns of CLOCK_REALTIME: twice this still fits into int64_t. */
#define LATEST 4000000000000000000ll

/* No hardware has as many frequencies: a file with more was not written by gchintd. */
#define KHZS_MAX 65536

static bool phase_load(struct run *run, sqlite3_stmt *s)
{
	int64_t t0 = db_int(s, 0, -1), t1 = db_int(s, 1, 0), cpu = db_int(s, 6, -1);
	uint32_t flags = db_u32(s, 5, 0);
	struct run_phase *p;

	if (t0 < 0 || t1 < 0 || (t1 && t1 < t0)) {
		run->absurd++;
		return true;
	}
	if (!run_grow(&run->phase, run->phases, sizeof(*p)))
		return run_no_memory(run);
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
	p->unsure = db_int(s, 1, 0) == 0 || db_int(s, 7, 0) != 0;
	run->unsure_stops += p->stw && p->unsure;
	return true;
}

static bool load_phases(struct run *run)
{
	sqlite3_stmt *s =
		db_query(run->db, "SELECT t0, t1, tgid, tid, phase, flags, cpu, uncertain, cause "
				  "FROM phases ORDER BY t0");
	bool good = s;

	while (good && db_next(s))
		good = phase_load(run, s);
	sqlite3_finalize(s);
	return good;
}

static bool load_pauses(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT t0, t1, tgid FROM pauses ORDER BY t0, tgid");
	bool good = s;

	while (good && db_next(s)) {
		const int64_t t0 = db_int(s, 0, -1), t1 = db_int(s, 1, -1);

		/* Made of a row that phase_load() left out and counted. */
		if (t0 < 0 || t1 < t0)
			continue;
		good = run_grow(&run->pause, run->pauses, sizeof(*run->pause)) ||
		       run_no_memory(run);
		if (good)
			run->pause[run->pauses++] = (struct run_pause){ (uint64_t)t0, (uint64_t)t1,
									(int32_t)db_int(s, 2, 0) };
	}
	sqlite3_finalize(s);
	return good;
}

static bool step_load(struct run *run, sqlite3_stmt *s)
{
	struct run_cpu *c = run->cpus ? &run->cpu[run->cpus - 1] : NULL;
	uint32_t cpu = db_u32(s, 0, UINT32_MAX), khz = db_u32(s, 2, 0);
	int64_t t = db_int(s, 1, -1);

	if (cpu == UINT32_MAX || t < 0) {
		run->absurd++;
		return true;
	}
	/* A value of another type is left out; a row without one ends what was known. */
	if (!khz && sqlite3_column_type(s, 2) != SQLITE_NULL &&
	    sqlite3_column_type(s, 2) != SQLITE_INTEGER) {
		run->absurd++;
		return true;
	}
	if (!khz && (!c || c->cpu != cpu || !c->step[c->nr - 1].khz))
		return true;
	if (!c || c->cpu != cpu) {
		if (!run_grow(&run->cpu, run->cpus, sizeof(*c)))
			return run_no_memory(run);
		c = &run->cpu[run->cpus++];
		*c = (struct run_cpu){ .cpu = cpu };
	}
	if (!run_grow(&c->step, c->nr, sizeof(*c->step)))
		return run_no_memory(run);
	c->step[c->nr++] = (struct run_step){ (uint64_t)t, khz };
	return true;
}

static bool load_steps(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT cpu, t, khz FROM transitions ORDER BY cpu, t");
	bool good = s;

	while (good && db_next(s))
		good = step_load(run, s);
	sqlite3_finalize(s);
	return good;
}

/* gchintctl record annotates the begin and the end of its command. */
static void run_find_command(struct run *run)
{
	int64_t start, end;

	if (db_number(run->db, "SELECT min(t) FROM annotations WHERE text LIKE 'start: %'", 0,
		      &start) &&
	    db_number(run->db, "SELECT max(t) FROM annotations WHERE text LIKE 'end: %'", 0,
		      &end) &&
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
	else if (tm.tm_year < 100)
		snprintf(buf, size, "when is not known: no clock was set");
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

/* Collects the distinct frequencies of the steps that were loaded. */
static bool run_collect_khz(struct run *run)
{
	size_t steps = 0;

	for (size_t i = 0; i < run->cpus; i++)
		steps += run->cpu[i].nr;
	run->khz = malloc((steps ? steps : 1) * sizeof(*run->khz));
	if (!run->khz)
		return run_no_memory(run);
	for (size_t i = 0; i < run->cpus; i++)
		for (size_t k = 0; k < run->cpu[i].nr; k++)
			if (run->cpu[i].step[k].khz)
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

static const struct run_cpu *run_find_cpu(const struct run *run, int cpu)
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
	const struct run_cpu *c = run_find_cpu(run, cpu);
	ssize_t i = c ? step_at(c, t) : -1;

	return i < 0 ? 0 : c->step[i].khz;
}

void run_stretches(const struct run *run, int cpu, uint64_t t0, uint64_t t1,
		   void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data)
{
	const struct run_cpu *c = run_find_cpu(run, cpu);
	ssize_t i = c ? step_at(c, t0) : 0;

	for (i = i < 0 ? 0 : i; c && i < (ssize_t)c->nr && c->step[i].t < t1; i++) {
		uint64_t from = c->step[i].t > t0 ? c->step[i].t : t0;
		uint64_t to =
			i + 1 < (ssize_t)c->nr && c->step[i + 1].t < t1 ? c->step[i + 1].t : t1;

		if (to > from && c->step[i].khz)
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

	if (!run_collect_khz(run))
		return false;
	run->residency = calloc(run->khzs ? run->khzs : 1, sizeof(*run->residency));
	if (!run->residency)
		return run_no_memory(run);
	for (size_t i = 0; i < run->cpus; i++)
		run_stretches(run, (int)run->cpu[i].cpu, run->t0, run->t1, add_residency, &a);
	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		a.group = p->group;
		run_stretches(run, p->cpu, p->t0, p->t1, add_residency, &a);
	}
	/*
	 * Time in phases is not outside of them. Phases of two threads may overlap on a CPU, so
	 * that the difference is limited to 0.
	 */
	for (size_t k = 0; k < run->khzs; k++)
		for (unsigned int g = 1; g < RUN_GROUPS; g++)
			run->residency[k][0] -= run->residency[k][g] < run->residency[k][0] ?
							run->residency[k][g] :
							run->residency[k][0];
	return true;
}

static void run_set_label(struct run *run)
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

/*
 * Sets the host, and when the recording began by CLOCK_REALTIME: from the offset between the
 * clocks that gchintd measured at its start.
 */
static void run_set_host(struct run *run)
{
	int64_t offset, began;

	db_meta(run->db, "board.host", run->host, sizeof(run->host));
	/* The kernel's name for a machine that has none. */
	if (!strcmp(run->host, "(none)"))
		*run->host = '\0';
	run->began_ns = RUN_UNKNOWN;
	if (db_number(run->db, "SELECT offset_ns FROM clocks WHERE source = 'realtime'", 0,
		      &offset) &&
	    !__builtin_sub_overflow((int64_t)run->t0, offset, &began) && began >= 0 &&
	    began < LATEST && run->t1 - run->t0 < LATEST)
		run->began_ns = began;
}

struct run *run_open(const char *path)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run) {
		error_print("%s: not enough memory", path);
		return NULL;
	}
	run->path = path;
	run->db = db_open(path);
	if (!run->db)
		goto free_run;
	if (!db_span(run->db, &run->t0, &run->t1)) {
		error_print("%s: the recording is still empty", path);
		goto free_run;
	}
	if (!load_phases(run) || !load_pauses(run) || !load_steps(run) || !run_load_rails(run) ||
	    !compute_residency(run))
		goto free_run;
	if (run->absurd)
		db_missing(path, "rows that make no sense are left out");
	run_find_command(run);
	run_set_label(run);
	run_set_host(run);
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
	free(run->pause);
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
		run_no_memory(run);
		return;
	}
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].group == group && run->phase[i].unsure) {
			l->unsure++;
		} else if (run->phase[i].group == group) {
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

/* Adds the host to each label if hosts differ, so that no group mixes runs of two hosts. */
static void labels_add_hosts(struct run *const *run, size_t nr)
{
	bool several = false;

	for (size_t i = 1; i < nr; i++)
		several = several || strcmp(run[i]->host, run[0]->host);
	for (size_t i = 0; several && i < nr; i++) {
		size_t used = strlen(run[i]->label);

		snprintf(run[i]->label + used, sizeof(run[i]->label) - used, RUN_AT "%s",
			 *run[i]->host ? run[i]->host : "?");
	}
}

static const char *run_file_name(const struct run *run)
{
	const char *slash = strrchr(run->path, '/');

	return slash ? slash + 1 : run->path;
}

/* Makes the label of a group from @name, or takes that of the first run if @name is NULL. */
static void label_make(struct run *const *run, size_t nr, const char *name, char *label,
		       size_t size)
{
	if (!name)
		snprintf(label, size, "%s", run[0]->label);
	else if (nr == 1)
		snprintf(label, size, "%s", name);
	else
		snprintf(label, size, "%s and %zu more", name, nr - 1);
}

static bool labels_agree(struct run *const *run, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(run[i]->label, run[0]->label))
			return false;
	return true;
}

/*
 * Gives one label to the runs before "--" and another to the last @behind. Labels of the
 * recordings are kept if each group has one and the two differ. Otherwise groups are called after
 * their first file, by its path if both first files have the same name.
 */
static void labels_group(struct run *const *run, size_t nr, size_t behind)
{
	const size_t from[] = { 0, nr - behind, nr };
	bool labelled = labels_agree(run, nr - behind) && labels_agree(run + nr - behind, behind) &&
			strcmp(run[0]->label, run[nr - 1]->label);
	bool paths = !strcmp(run_file_name(run[0]), run_file_name(run[nr - behind]));

	for (size_t kind = 0; kind < 2; kind++) {
		const struct run *first = run[from[kind]];
		const char *name = labelled ? NULL : paths ? first->path : run_file_name(first);
		char label[sizeof(first->label)];

		label_make(run + from[kind], from[kind + 1] - from[kind], name, label,
			   sizeof(label));
		for (size_t i = from[kind]; i < from[kind + 1]; i++)
			snprintf(run[i]->label, sizeof(run[i]->label), "%s", label);
	}
}

size_t run_behind_dashes(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (size_t)(argc - i - 1);
	return 0;
}

void run_close_all(struct run **run, size_t nr)
{
	for (size_t i = 0; run && i < nr; i++)
		run_close(run[i]);
	free(run);
}

struct run **run_open_all(char *const *paths, size_t nr, size_t behind)
{
	struct run **run = calloc(nr, sizeof(*run));

	if (!run)
		error_print("no memory for %zu recordings", nr);
	for (size_t i = 0; run && i < nr; i++) {
		run[i] = run_open(paths[i]);
		if (!run[i]) {
			run_close_all(run, i);
			run = NULL;
		}
	}
	/* A "--" before all files only ends the options. */
	if (run && behind && behind < nr)
		labels_group(run, nr, behind);
	if (run)
		labels_add_hosts(run, nr);
	return run;
}

size_t run_nth_of_label(struct run *const *run, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(run[k]->label, run[i]->label);
	return n;
}
