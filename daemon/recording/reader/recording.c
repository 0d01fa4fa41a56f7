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

bool recording_no_memory(const struct recording *rec)
{
	db_missing(rec->path, "no memory for all of it");
	return false;
}

bool recording_grow(void *array, size_t nr, size_t size)
{
	void **at = array, *more;

	if (nr && (nr & (nr - 1) || nr < 16))
		return true;
	more = realloc(*at, (nr ? nr * 2 : 16) * size);
	if (more)
		*at = more;
	return more;
}

struct recording_cache {
	bool loaded;
	struct recording_series *rail;
};

static void rail_load_cpus(struct recording_rail *r, const char *cpus)
{
	if (strlen(cpus) < sizeof(r->cpus) && text_cpulist(cpus, r->cpu, RECORDING_CPUS) > 0)
		strcpy(r->cpus, cpus);
}

static int64_t column_positive(sqlite3_stmt *s, int column)
{
	int64_t v = db_int(s, column, 0);

	return v > 0 ? v : 0;
}

bool recording_load_rails(struct recording *rec)
{
#define RAIL(column) COLUMN(rails, column)
	sqlite3_stmt *s = db_select(rec->db, rails, "ORDER BY id", RAIL(id), RAIL(name),
				    RAIL(label), RAIL(kind), RAIL(source), RAIL(derived),
				    RAIL(period_ns), RAIL(cpus), RAIL(update_ns), RAIL(wraps_at));
	bool good = s;

	while (good && db_next(s)) {
		struct recording_rail *r;

		good = recording_grow(&rec->rail, rec->rails, sizeof(*r)) ||
		       recording_no_memory(rec);
		if (!good)
			break;
		r = &rec->rail[rec->rails++];
		memset(r, 0, sizeof(*r));
		r->id = db_int(s, RAIL(id), 0);
		snprintf(r->name, sizeof(r->name), "%s", db_text(s, RAIL(name), "?"));
		snprintf(r->label, sizeof(r->label), "%s", db_text(s, RAIL(label), ""));
		r->kind = rail_kind_of(db_text(s, RAIL(kind), ""));
		snprintf(r->source, sizeof(r->source), "%s", db_text(s, RAIL(source), ""));
		snprintf(r->derived, sizeof(r->derived), "%s", db_text(s, RAIL(derived), ""));
		r->period_ns = (uint64_t)db_int(s, RAIL(period_ns), 0);
		rail_load_cpus(r, db_text(s, RAIL(cpus), ""));
		r->limits =
			(struct energy_limits){ 0, INFINITY,
						(uint64_t)column_positive(s, RAIL(update_ns)),
						(double)column_positive(s, RAIL(wraps_at)) / 1e6 };
		r->role = rail_role(r->source, r->name, r->label);
	}
#undef RAIL
	sqlite3_finalize(s);
	rec->cache = calloc(1, sizeof(*rec->cache));
	return good && (rec->cache || recording_no_memory(rec));
}

static int by_id(const void *a, const void *b)
{
	const struct recording_rail *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_t(const void *a, const void *b)
{
	const struct recording_sample *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static bool series_add_sample(const struct recording *rec, sqlite3_stmt *s)
{
	const struct recording_rail key = { .id = db_int(s, COLUMN(samples, rail), INT64_MIN) },
				    *rail;
	int64_t t = db_int(s, COLUMN(samples, t), -1);
	struct recording_series *series;

	rail = rec->rails ? bsearch(&key, rec->rail, rec->rails, sizeof(key), by_id) : NULL;
	if (!rail || t < 0)
		return true;
	series = &rec->cache->rail[rail - rec->rail];
	if (!recording_grow(&series->sample, series->nr, sizeof(*series->sample)))
		return recording_no_memory(rec);
	series->sample[series->nr++] =
		(struct recording_sample){ (uint64_t)t,
					   db_int(s, COLUMN(samples, value), RECORDING_UNKNOWN) };
	return true;
}

const struct recording_series *recording_samples(const struct recording *rec, size_t rail)
{
	struct recording_cache *cache = rec->cache;
	bool good = true;
	sqlite3_stmt *s;

	if (cache->loaded)
		return &cache->rail[rail];
	cache->rail = calloc(rec->rails ? rec->rails : 1, sizeof(*cache->rail));
	if (!cache->rail) {
		recording_no_memory(rec);
		return NULL;
	}
	s = db_select(rec->db, samples, "", COLUMN(samples, t), COLUMN(samples, rail),
		      COLUMN(samples, value));
	while (good && db_next(s))
		good = series_add_sample(rec, s);
	sqlite3_finalize(s);
	cache->loaded = true;
	if (!good) {
		recording_forget(rec);
		return NULL;
	}
	/* Samples are recorded in order of time, except on rails with a thread of their own. */
	for (size_t i = 0; i < rec->rails; i++) {
		struct recording_series *r = &cache->rail[i];
		bool sorted = true;

		for (size_t k = 1; k < r->nr && sorted; k++)
			sorted = r->sample[k - 1].t <= r->sample[k].t;
		if (!sorted)
			qsort(r->sample, r->nr, sizeof(*r->sample), by_t);
		series_settle(r, &rec->rail[i]);
	}
	return &cache->rail[rail];
}

void recording_forget(const struct recording *rec)
{
	struct recording_cache *cache = rec->cache;

	for (size_t i = 0; cache && cache->rail && i < rec->rails; i++)
		free(cache->rail[i].sample);
	if (cache) {
		free(cache->rail);
		*cache = (struct recording_cache){ 0 };
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

bool recording_rail_feeds(const struct recording_rail *rail, int cpu)
{
	return !*rail->cpus || (cpu >= 0 && cpu < RECORDING_CPUS && rail->cpu[cpu]);
}

const char *recording_rail_how(const struct recording_rail *rail)
{
	return strncmp(rail->derived, "modelled", 8) ? "measured" : "modelled";
}

uint16_t phase_group(uint32_t phase, uint32_t flags)
{
	enum phase_class c = flags & GCHINT_F_URGENT	 ? CLASS_URGENT :
			     flags & GCHINT_F_STW	 ? CLASS_STW :
			     flags & GCHINT_F_FOREGROUND ? CLASS_FOREGROUND :
			     flags & GCHINT_F_CONCURRENT ? CLASS_CONCURRENT :
							   CLASS_NONE;

	if (phase >= GCHINT_PHASE_NR)
		phase = GCHINT_PHASE_COLLECT;
	return (uint16_t)(phase * CLASS_NR + c);
}

void recording_find_groups(const struct recording *rec, bool *seen)
{
	memset(seen, 0, PHASE_GROUPS * sizeof(*seen));
	for (size_t i = 0; i < rec->phases; i++)
		seen[rec->phase[i].group] = true;
}

const char *phase_group_name(unsigned int group, char *buf, size_t size)
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

#define PHASE(column) COLUMN(phases, column)

static bool phase_load(struct recording *rec, sqlite3_stmt *s)
{
	int64_t t0 = db_int(s, PHASE(t0), -1), t1 = db_int(s, PHASE(t1), 0),
		cpu = db_int(s, PHASE(cpu), -1);
	uint32_t flags = db_u32(s, PHASE(flags), 0);
	struct recording_phase *p;

	if (t0 < 0 || t1 < 0 || (t1 && t1 < t0)) {
		rec->absurd++;
		return true;
	}
	if (!recording_grow(&rec->phase, rec->phases, sizeof(*p)))
		return recording_no_memory(rec);
	p = &rec->phase[rec->phases++];
	p->t0 = (uint64_t)t0;
	p->t1 = (uint64_t)t1;
	/* Still running when the recording ended. */
	if (!p->t1) {
		rec->open++;
		p->t1 = rec->t1 > p->t0 ? rec->t1 : p->t0;
	}
	p->tgid = (int32_t)db_int(s, PHASE(tgid), 0);
	p->tid = (int32_t)db_int(s, PHASE(tid), 0);
	p->cause = db_u32(s, PHASE(cause), GCHINT_CAUSE_UNKNOWN);
	p->group = phase_group(db_u32(s, PHASE(phase), 0), flags);
	p->stw = flags & GCHINT_F_STW;
	p->cpu = cpu >= 0 && cpu <= INT16_MAX ? (int16_t)cpu : -1;
	rec->uncertain += db_int(s, PHASE(uncertain), 0) != 0;
	p->unsure = db_int(s, PHASE(t1), 0) == 0 || db_int(s, PHASE(uncertain), 0) != 0;
	rec->unsure_stops += p->stw && p->unsure;
	return true;
}

static bool load_phases(struct recording *rec)
{
	sqlite3_stmt *s = db_select(rec->db, phases, "ORDER BY t0", PHASE(t0), PHASE(t1),
				    PHASE(tgid), PHASE(tid), PHASE(phase), PHASE(flags), PHASE(cpu),
				    PHASE(uncertain), PHASE(cause));
	bool good = s;

	while (good && db_next(s))
		good = phase_load(rec, s);
	sqlite3_finalize(s);
	return good;
}

static bool load_pauses(struct recording *rec)
{
	sqlite3_stmt *s = db_query(rec->db, "SELECT t0, t1, tgid FROM pauses ORDER BY t0, tgid");
	bool good = s;

	while (good && db_next(s)) {
		const int64_t t0 = db_int(s, 0, -1), t1 = db_int(s, 1, -1);

		/* Made of a row that phase_load() left out and counted. */
		if (t0 < 0 || t1 < t0)
			continue;
		good = recording_grow(&rec->pause, rec->pauses, sizeof(*rec->pause)) ||
		       recording_no_memory(rec);
		if (good)
			rec->pause[rec->pauses++] =
				(struct recording_pause){ (uint64_t)t0, (uint64_t)t1,
							  (int32_t)db_int(s, 2, 0) };
	}
	sqlite3_finalize(s);
	return good;
}

#define STEP(column) COLUMN(transitions, column)

static bool step_load(struct recording *rec, sqlite3_stmt *s)
{
	struct recording_cpu *c = rec->cpus ? &rec->cpu[rec->cpus - 1] : NULL;
	uint32_t cpu = db_u32(s, STEP(cpu), UINT32_MAX), khz = db_u32(s, STEP(khz), 0);
	int64_t t = db_int(s, STEP(t), -1);

	if (cpu == UINT32_MAX || t < 0) {
		rec->absurd++;
		return true;
	}
	/* A value of another type is left out; a row without one ends what was known. */
	if (!khz && sqlite3_column_type(s, STEP(khz)) != SQLITE_NULL &&
	    sqlite3_column_type(s, STEP(khz)) != SQLITE_INTEGER) {
		rec->absurd++;
		return true;
	}
	if (!khz && (!c || c->cpu != cpu || !c->step[c->nr - 1].khz))
		return true;
	if (!c || c->cpu != cpu) {
		if (!recording_grow(&rec->cpu, rec->cpus, sizeof(*c)))
			return recording_no_memory(rec);
		c = &rec->cpu[rec->cpus++];
		*c = (struct recording_cpu){ .cpu = cpu };
	}
	if (!recording_grow(&c->step, c->nr, sizeof(*c->step)))
		return recording_no_memory(rec);
	c->step[c->nr++] = (struct recording_step){ (uint64_t)t, khz };
	return true;
}

static bool load_steps(struct recording *rec)
{
	sqlite3_stmt *s =
		db_select(rec->db, transitions, "ORDER BY cpu, t", STEP(cpu), STEP(t), STEP(khz));
	bool good = s;

	while (good && db_next(s))
		good = step_load(rec, s);
	sqlite3_finalize(s);
	return good;
}

/* gchintctl record annotates the begin and the end of its command. */
static void recording_find_command(struct recording *rec)
{
	int64_t start, end;

	if (db_number(rec->db, "SELECT min(t) FROM annotations WHERE text LIKE 'start: %'", 0,
		      &start) &&
	    db_number(rec->db, "SELECT max(t) FROM annotations WHERE text LIKE 'end: %'", 0,
		      &end) &&
	    start > 0 && end > start) {
		rec->c0 = (uint64_t)start;
		rec->c1 = (uint64_t)end;
	}
}

uint64_t recording_duration(const struct recording *rec)
{
	return rec->c1 ? rec->c1 - rec->c0 : rec->t1 - rec->t0;
}

void recording_began(const struct recording *rec, char *buf, size_t size)
{
	time_t t = (time_t)(rec->began_ns / 1000000000);
	struct tm tm;

	if (rec->began_ns == RECORDING_UNKNOWN || !gmtime_r(&t, &tm) ||
	    !strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(buf, size, "when is not known");
	else if (tm.tm_year < 100)
		snprintf(buf, size, "when is not known: no clock was set");
}

double recording_seconds(const struct recording *rec, uint64_t t)
{
	return (double)(int64_t)(t - rec->t0) / 1e9;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t khz_index(const struct recording *rec, uint32_t khz)
{
	const uint32_t *at = bsearch(&khz, rec->khz, rec->khzs, sizeof(khz), by_khz);

	return (size_t)(at - rec->khz);
}

/* Collects the distinct frequencies of the steps that were loaded. */
static bool recording_collect_khz(struct recording *rec)
{
	size_t steps = 0;

	for (size_t i = 0; i < rec->cpus; i++)
		steps += rec->cpu[i].nr;
	rec->khz = malloc((steps ? steps : 1) * sizeof(*rec->khz));
	if (!rec->khz)
		return recording_no_memory(rec);
	for (size_t i = 0; i < rec->cpus; i++)
		for (size_t k = 0; k < rec->cpu[i].nr; k++)
			if (rec->cpu[i].step[k].khz)
				rec->khz[rec->khzs++] = rec->cpu[i].step[k].khz;
	qsort(rec->khz, rec->khzs, sizeof(*rec->khz), by_khz);
	steps = rec->khzs;
	rec->khzs = 0;
	for (size_t i = 0; i < steps; i++)
		if (!rec->khzs || rec->khz[rec->khzs - 1] != rec->khz[i])
			rec->khz[rec->khzs++] = rec->khz[i];
	if (rec->khzs <= KHZS_MAX)
		return true;
	db_missing(rec->path, "more frequencies than any machine has");
	return false;
}

static const struct recording_cpu *recording_find_cpu(const struct recording *rec, int cpu)
{
	size_t lo = 0, hi = rec->cpus;

	while (cpu >= 0 && lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rec->cpu[mid].cpu == (uint32_t)cpu)
			return &rec->cpu[mid];
		if (rec->cpu[mid].cpu < (uint32_t)cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Index of the last step at or before @t; -1 if it is before the first. */
static ssize_t step_at(const struct recording_cpu *c, uint64_t t)
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

uint32_t recording_khz(const struct recording *rec, int cpu, uint64_t t)
{
	const struct recording_cpu *c = recording_find_cpu(rec, cpu);
	ssize_t i = c ? step_at(c, t) : -1;

	return i < 0 ? 0 : c->step[i].khz;
}

void recording_stretches(const struct recording *rec, int cpu, uint64_t t0, uint64_t t1,
			 void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data)
{
	const struct recording_cpu *c = recording_find_cpu(rec, cpu);
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
	struct recording *rec;
	unsigned int group;
};

static void add_residency(void *data, uint32_t khz, uint64_t ns)
{
	const struct adding *a = data;

	a->rec->residency[khz_index(a->rec, khz)][a->group] += ns;
}

static bool compute_residency(struct recording *rec)
{
	struct adding a = { rec, 0 };

	if (!recording_collect_khz(rec))
		return false;
	rec->residency = calloc(rec->khzs ? rec->khzs : 1, sizeof(*rec->residency));
	if (!rec->residency)
		return recording_no_memory(rec);
	for (size_t i = 0; i < rec->cpus; i++)
		recording_stretches(rec, (int)rec->cpu[i].cpu, rec->t0, rec->t1, add_residency, &a);
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		a.group = p->group;
		recording_stretches(rec, p->cpu, p->t0, p->t1, add_residency, &a);
	}
	/*
	 * Time in phases is not outside of them. Phases of two threads may overlap on a CPU, so
	 * that the difference is limited to 0.
	 */
	for (size_t k = 0; k < rec->khzs; k++)
		for (unsigned int g = 1; g < PHASE_GROUPS; g++)
			rec->residency[k][0] -= rec->residency[k][g] < rec->residency[k][0] ?
							rec->residency[k][g] :
							rec->residency[k][0];
	return true;
}

static void recording_set_label(struct recording *rec)
{
	sqlite3_stmt *s;

	if (db_meta(rec->db, "label", rec->label, sizeof(rec->label)))
		return;
	s = db_query(rec->db, "SELECT group_concat(governor, ', ') FROM (SELECT DISTINCT governor "
			      "FROM policy_states WHERE governor IS NOT NULL)");
	if (db_next(s))
		snprintf(rec->label, sizeof(rec->label), "%s", db_text(s, 0, rec->path));
	sqlite3_finalize(s);
}

/*
 * Sets the host, and when the recording began by CLOCK_REALTIME: from the offset between the
 * clocks that gchintd measured at its start.
 */
static void recording_set_host(struct recording *rec)
{
	int64_t offset, began;

	db_meta(rec->db, "board.host", rec->host, sizeof(rec->host));
	/* The kernel's name for a machine that has none. */
	if (!strcmp(rec->host, "(none)"))
		*rec->host = '\0';
	rec->began_ns = RECORDING_UNKNOWN;
	if (db_number(rec->db, "SELECT offset_ns FROM clocks WHERE source = 'realtime'", 0,
		      &offset) &&
	    !__builtin_sub_overflow((int64_t)rec->t0, offset, &began) && began >= 0 &&
	    began < LATEST && rec->t1 - rec->t0 < LATEST)
		rec->began_ns = began;
}

struct recording *recording_open(const char *path)
{
	struct recording *rec = calloc(1, sizeof(*rec));

	if (!rec) {
		error_print("%s: not enough memory", path);
		return NULL;
	}
	rec->path = path;
	rec->db = db_open(path);
	if (!rec->db)
		goto free_run;
	if (!db_span(rec->db, &rec->t0, &rec->t1)) {
		error_print("%s: the recording is still empty", path);
		goto free_run;
	}
	if (!load_phases(rec) || !load_pauses(rec) || !load_steps(rec) ||
	    !recording_load_rails(rec) || !compute_residency(rec))
		goto free_run;
	if (rec->absurd)
		db_missing(path, "rows that make no sense are left out");
	recording_find_command(rec);
	recording_set_label(rec);
	recording_set_host(rec);
	return rec;

free_run:
	recording_close(rec);
	return NULL;
}

void recording_close(struct recording *rec)
{
	if (!rec)
		return;
	recording_forget(rec);
	free(rec->cache);
	for (size_t i = 0; i < rec->cpus; i++)
		free(rec->cpu[i].step);
	free(rec->cpu);
	free(rec->phase);
	free(rec->pause);
	free(rec->rail);
	free(rec->khz);
	free(rec->residency);
	sqlite3_close(rec->db);
	free(rec);
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void recording_lengths(const struct recording *rec, unsigned int group, struct recording_lengths *l)
{
	uint64_t *length = malloc((rec->phases ? rec->phases : 1) * sizeof(*length));
	uint64_t known = 0;
	double weighted = 0;

	*l = (struct recording_lengths){ 0 };
	if (!length) {
		recording_no_memory(rec);
		return;
	}
	for (size_t i = 0; i < rec->phases; i++)
		if (rec->phase[i].group == group && rec->phase[i].unsure) {
			l->unsure++;
		} else if (rec->phase[i].group == group) {
			length[l->count] = rec->phase[i].t1 - rec->phase[i].t0;
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
	for (size_t k = 0; k < rec->khzs; k++) {
		known += rec->residency[k][group];
		weighted += (double)rec->residency[k][group] * rec->khz[k];
	}
	l->khz = known ? weighted / (double)known : 0;
}

/* Adds the host to each label if hosts differ, so that no group mixes runs of two hosts. */
static void labels_add_hosts(struct recording *const *rec, size_t nr)
{
	bool several = false;

	for (size_t i = 1; i < nr; i++)
		several = several || strcmp(rec[i]->host, rec[0]->host);
	for (size_t i = 0; several && i < nr; i++) {
		size_t used = strlen(rec[i]->label);

		snprintf(rec[i]->label + used, sizeof(rec[i]->label) - used, RECORDING_AT "%s",
			 *rec[i]->host ? rec[i]->host : "?");
	}
}

static const char *recording_file_name(const struct recording *rec)
{
	const char *slash = strrchr(rec->path, '/');

	return slash ? slash + 1 : rec->path;
}

/* Makes the label of a group from @name, or takes that of the first recording if @name is NULL. */
static void label_make(struct recording *const *rec, size_t nr, const char *name, char *label,
		       size_t size)
{
	if (!name)
		snprintf(label, size, "%s", rec[0]->label);
	else if (nr == 1)
		snprintf(label, size, "%s", name);
	else
		snprintf(label, size, "%s and %zu more", name, nr - 1);
}

static bool labels_agree(struct recording *const *rec, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(rec[i]->label, rec[0]->label))
			return false;
	return true;
}

/*
 * Gives one label to the recordings before "--" and another to the last @behind. Labels of the
 * recordings are kept if each group has one and the two differ. Otherwise groups are called after
 * their first file, by its path if both first files have the same name.
 */
static void labels_group(struct recording *const *rec, size_t nr, size_t behind)
{
	const size_t from[] = { 0, nr - behind, nr };
	bool labelled = labels_agree(rec, nr - behind) && labels_agree(rec + nr - behind, behind) &&
			strcmp(rec[0]->label, rec[nr - 1]->label);
	bool paths = !strcmp(recording_file_name(rec[0]), recording_file_name(rec[nr - behind]));

	for (size_t kind = 0; kind < 2; kind++) {
		const struct recording *first = rec[from[kind]];
		const char *name = labelled ? NULL :
				   paths    ? first->path :
					      recording_file_name(first);
		char label[sizeof(first->label)];

		label_make(rec + from[kind], from[kind + 1] - from[kind], name, label,
			   sizeof(label));
		for (size_t i = from[kind]; i < from[kind + 1]; i++)
			snprintf(rec[i]->label, sizeof(rec[i]->label), "%s", label);
	}
}

size_t recording_behind_dashes(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (size_t)(argc - i - 1);
	return 0;
}

void recording_close_all(struct recording **rec, size_t nr)
{
	for (size_t i = 0; rec && i < nr; i++)
		recording_close(rec[i]);
	free(rec);
}

struct recording **recording_open_all(char *const *paths, size_t nr, size_t behind)
{
	struct recording **rec = calloc(nr, sizeof(*rec));

	if (!rec)
		error_print("no memory for %zu recordings", nr);
	for (size_t i = 0; rec && i < nr; i++) {
		rec[i] = recording_open(paths[i]);
		if (!rec[i]) {
			recording_close_all(rec, i);
			rec = NULL;
		}
	}
	/* A "--" before all files only ends the options. */
	if (rec && behind && behind < nr)
		labels_group(rec, nr, behind);
	if (rec)
		labels_add_hosts(rec, nr);
	return rec;
}

size_t recording_nth_of_label(struct recording *const *rec, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(rec[k]->label, rec[i]->label);
	return n;
}
