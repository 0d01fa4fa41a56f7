// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/error.h"
#include "../../common/names.h"
#include "../../common/text.h"
#include "db.h"
#include "frequency.h"
#include "memory.h"
#include "series.h"

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

#define HEAP(column) COLUMN(heaps, column)

/* A negative number is as invalid as none. */
static int64_t heap_number(sqlite3_stmt *s, int column)
{
	const int64_t v = db_int(s, column, RECORDING_UNKNOWN);

	return v < 0 ? RECORDING_UNKNOWN : v;
}

static bool load_heaps(struct recording *rec)
{
	sqlite3_stmt *s = db_select(rec->db, heaps, "ORDER BY tgid, tid, t", HEAP(t), HEAP(tgid),
				    HEAP(tid), HEAP(moment), HEAP(used), HEAP(committed),
				    HEAP(most), HEAP(allocated), HEAP(freed), HEAP(generation));
	bool good = s;

	while (good && db_next(s)) {
		const int64_t t = db_int(s, HEAP(t), -1);

		if (t < 0) {
			rec->absurd++;
			continue;
		}
		good = recording_grow(&rec->heap, rec->heaps, sizeof(*rec->heap)) ||
		       recording_no_memory(rec);
		if (!good)
			break;
		rec->heap[rec->heaps++] = (struct recording_heap){
			.t = (uint64_t)t,
			.tgid = (int32_t)db_int(s, HEAP(tgid), 0),
			.tid = (int32_t)db_int(s, HEAP(tid), 0),
			.used = heap_number(s, HEAP(used)),
			.committed = heap_number(s, HEAP(committed)),
			.most = heap_number(s, HEAP(most)),
			.allocated = heap_number(s, HEAP(allocated)),
			.freed = heap_number(s, HEAP(freed)),
			.generation = db_u32(s, HEAP(generation), UINT32_MAX),
			.after = !strcmp(db_text(s, HEAP(moment), ""), "after"),
		};
	}
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
	if (!load_phases(rec) || !load_pauses(rec) || !load_heaps(rec) || !frequencies_load(rec) ||
	    !recording_load_rails(rec))
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
	free(rec->heap);
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
