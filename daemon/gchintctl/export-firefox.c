// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Firefox Profiler's processed profile (src/types/profile.ts of its source): phases are
 * markers of their thread; rails and frequencies are counters. Times are milliseconds since
 * the recording began. A counter's number belongs to the stretch that ends at its instant,
 * and is drawn divided by it: energy for a power, and for another value its integral.
 * Columns stand one after the other, so that the recording is taken into memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../common/names.h"
#include "ctl.h"
#include "db.h"
#include "export.h"
#include "pauses.h"
#include "run.h"

/* Each newer page reads it; with this one counters say how they are to be shown. */
#define PROCESSED_VERSION 63

/* meta.categories; the first is what the format calls the default. */
enum {
	CATEGORY_OTHER,
	CATEGORY_CONCURRENT,
	CATEGORY_FOREGROUND,
	CATEGORY_STW,
	CATEGORY_URGENT,
	CATEGORY_GOVERNOR,
	CATEGORY_NR
};

/* shared.stringArray: kinds of phase, reasons of decisions, and these behind them. */
enum {
	STRING_REASONS = RUN_GROUPS,
	STRING_MARK = STRING_REASONS + GCHINT_REASON_NR + 1
};

enum {
	MARKER_INSTANT,
	MARKER_INTERVAL
};

struct point {
	uint64_t t;
	double count;
};

struct counter {
	struct point *point;
	size_t nr;
	const char *name, *category, *unit, *description;
	bool power;
};

static double ms(const struct run *run, uint64_t t)
{
	return run_seconds(run, t) * 1e3;
}

static void empty(struct json *j, const char *name, const char *const *columns)
{
	json_object(j, name);
	for (; *columns; columns++) {
		json_list(j, *columns);
		json_end(j);
	}
	json_int(j, "length", 0);
	json_end(j);
}

static void schema(struct json *j, const char *name, const char *label,
		   const char *const (*fields)[3])
{
	json_object(j, NULL);
	json_text(j, "name", name);
	json_text(j, "tooltipLabel", label);
	json_text(j, "tableLabel", label);
	json_text(j, "chartLabel", label);
	json_list(j, "display");
	json_text(j, NULL, "marker-chart");
	json_text(j, NULL, "marker-table");
	json_text(j, NULL, "timeline-overview");
	json_end(j);
	json_list(j, "fields");
	for (; (*fields)[0]; fields++) {
		json_object(j, NULL);
		json_text(j, "key", (*fields)[0]);
		json_text(j, "label", (*fields)[1]);
		json_text(j, "format", (*fields)[2]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void schemas(struct json *j)
{
	static const char *const phase[][3] = { { "cause", "Cause", "string" },
						{ "cpu", "CPU", "integer" },
						{ NULL } };
	static const char *const decision[][3] = { { "policy", "Policy", "integer" },
						   { "from_mhz", "From, MHz", "decimal" },
						   { "mhz", "To, MHz", "decimal" },
						   { "latency", "Hint to request", "nanoseconds" },
						   { NULL } };
	static const char *const mark[][3] = { { "text", "Text", "string" }, { NULL } };

	json_list(j, "markerSchema");
	schema(j, "gc-phase", "{marker.name}", phase);
	schema(j, "decision", "{marker.name}", decision);
	schema(j, "mark", "{marker.data.text}", mark);
	json_end(j);
}

static void categories(struct json *j)
{
	static const char *const list[CATEGORY_NR][2] = {
		{ "Other", "grey" },	     { "Concurrent", "green" }, { "Foreground", "orange" },
		{ "Stop the world", "red" }, { "Urgent", "magenta" },	{ "Governor", "blue" },
	};

	json_list(j, "categories");
	for (size_t i = 0; i < CATEGORY_NR; i++) {
		json_object(j, NULL);
		json_text(j, "name", list[i][0]);
		json_text(j, "color", list[i][1]);
		json_list(j, "subcategories");
		json_text(j, NULL, "Other");
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void fact(const struct run *run, struct json *j, const char *key, const char *meta)
{
	char text[256];

	if (db_meta(run->db, meta, text, sizeof(text)))
		json_text(j, key, text);
}

static void meta(const struct run *run, struct json *j)
{
	json_object(j, "meta");
	json_int(j, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_int(j, "version", 31);
	json_text(j, "product", *run->label ? run->label : "gchint");
	json_text(j, "importedFrom", "gchint");
	json_fixed(j, "interval", 1, 0);
	json_fixed(j, "startTime", run->began_ns != RUN_UNKNOWN ? (double)run->began_ns / 1e6 : 0,
		   3);
	json_uint(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", run->t0);
	json_int(j, "profilingStartTime", 0);
	json_fixed(j, "profilingEndTime", ms(run, run->t1), 6);
	json_int(j, "processType", 0);
	json_int(j, "stackwalk", 0);
	json_bool(j, "debug", false);
	json_bool(j, "symbolicated", true);
	json_bool(j, "symbolicationNotSupported", true);
	json_bool(j, "keepProfileThreadOrder", true);
	json_text(j, "platform", "Linux");
	fact(run, j, "oscpu", "board.kernel");
	fact(run, j, "device", "board.model");
	fact(run, j, "misc", "program");
	categories(j);
	schemas(j);
	json_end(j);
}

static void strings(struct json *j)
{
	char name[48];

	json_list(j, "stringArray");
	for (unsigned int g = 0; g < RUN_GROUPS; g++)
		json_text(j, NULL, run_group_name(g, name, sizeof(name)));
	for (uint32_t r = 0; r <= GCHINT_REASON_NR; r++)
		json_text(j, NULL, name_reason(r));
	json_text(j, NULL, "mark");
	json_end(j);
}

/* Nothing was sampled: the tables of stacks are there, and empty. */
static void shared(struct json *j)
{
	static const char *const stacks[] = { "frame", "prefix", NULL };
	static const char *const frames[] = {
		"address",	"inlineDepth",	 "category", "subcategory", "func",
		"nativeSymbol", "innerWindowID", "line",     "column",	    NULL
	};
	static const char *const funcs[] = { "name",   "isJS",	     "relevantForJS", "resource",
					     "source", "lineNumber", "columnNumber",  NULL };
	static const char *const resources[] = { "lib", "name", "host", "type", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };
	static const char *const sources[] = { "id",	      "filename",     "startLine",
					       "startColumn", "sourceMapURL", NULL };

	json_object(j, "shared");
	strings(j);
	empty(j, "stackTable", stacks);
	empty(j, "frameTable", frames);
	empty(j, "funcTable", funcs);
	empty(j, "resourceTable", resources);
	empty(j, "nativeSymbols", symbols);
	empty(j, "sources", sources);
	json_end(j);
}

static void thread_begin(struct json *j, const char *name, int64_t tgid, int64_t tid)
{
	static const char *const columns[] = { "stack", "time", NULL };
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRId64, tgid);
	json_line(j);
	json_object(j, NULL);
	json_text(j, "processType", "default");
	json_int(j, "processStartupTime", 0);
	json_null(j, "processShutdownTime");
	json_int(j, "registerTime", 0);
	json_null(j, "unregisterTime");
	json_list(j, "pausedRanges");
	json_end(j);
	json_bool(j, "showMarkersInTimeline", true);
	json_text(j, "name", name);
	json_bool(j, "isMainThread", tid == tgid);
	json_text(j, "pid", pid);
	json_int(j, "tid", tid);
	json_object(j, "samples");
	for (size_t i = 0; columns[i]; i++) {
		json_list(j, columns[i]);
		json_end(j);
	}
	json_null(j, "weight");
	json_text(j, "weightType", "samples");
	json_int(j, "length", 0);
	json_end(j);
	json_object(j, "markers");
}

static void thread_end(struct json *j, size_t markers)
{
	json_uint(j, "length", markers);
	json_end(j);
	json_end(j);
}

static int by_thread(const void *a, const void *b)
{
	const struct run_phase *p = *(struct run_phase *const *)a;
	const struct run_phase *q = *(struct run_phase *const *)b;

	if (p->tgid != q->tgid)
		return p->tgid < q->tgid ? -1 : 1;
	if (p->tid != q->tid)
		return p->tid < q->tid ? -1 : 1;
	return (p->t0 > q->t0) - (p->t0 < q->t0);
}

static int category_of(const struct run_phase *p)
{
	static const int categories[CLASS_NR] = {
		[CLASS_NONE] = CATEGORY_OTHER,
		[CLASS_CONCURRENT] = CATEGORY_CONCURRENT,
		[CLASS_FOREGROUND] = CATEGORY_FOREGROUND,
		[CLASS_STW] = CATEGORY_STW,
		[CLASS_URGENT] = CATEGORY_URGENT,
	};

	return categories[p->group % CLASS_NR];
}

/* @phase: all of one thread */
static void phases_of(const struct run *run, struct json *j, struct run_phase **phase, size_t nr)
{
	json_list(j, "name");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, phase[i]->group);
	json_end(j);
	json_list(j, "startTime");
	for (size_t i = 0; i < nr; i++)
		json_fixed(j, NULL, ms(run, phase[i]->t0), 6);
	json_end(j);
	json_list(j, "endTime");
	for (size_t i = 0; i < nr; i++)
		json_fixed(j, NULL, ms(run, phase[i]->t1), 6);
	json_end(j);
	json_list(j, "phase");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, MARKER_INTERVAL);
	json_end(j);
	json_list(j, "category");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, category_of(phase[i]));
	json_end(j);
	json_list(j, "data");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_text(j, "type", "gc-phase");
		json_text(j, "cause", name_cause(phase[i]->cause));
		if (phase[i]->cpu >= 0)
			json_int(j, "cpu", phase[i]->cpu);
		json_end(j);
	}
	json_end(j);
}

static void threads(const struct run *run, struct json *j, struct run_phase **phase)
{
	char name[32];
	size_t n;

	for (size_t i = 0; i < run->phases; i++)
		phase[i] = &run->phase[i];
	qsort(phase, run->phases, sizeof(struct run_phase *), by_thread);
	for (size_t i = 0; i < run->phases; i += n) {
		const struct run_phase *p = phase[i];

		for (n = 1; i + n < run->phases && phase[i + n]->tgid == p->tgid &&
			    phase[i + n]->tid == p->tid;)
			n++;
		if (!p->tid)
			snprintf(name, sizeof(name), "thread not known");
		else if (!pauses_name(run, p->tgid, p->tid, p->t0, name, sizeof(name)))
			snprintf(name, sizeof(name), "thread %d", p->tid);
		thread_begin(j, name, p->tgid, p->tid);
		phases_of(run, j, phase + i, n);
		thread_end(j, n);
	}
}

static void name_of(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	uint32_t reason = db_u32(s, 2, GCHINT_REASON_NR);

	(void)run;
	json_int(j, NULL,
		 db_text(s, 1, NULL) ?
			 STRING_MARK :
			 STRING_REASONS +
				 (int)(reason < GCHINT_REASON_NR ? reason : GCHINT_REASON_NR));
}

static void instant_of(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	json_fixed(j, NULL, ms(run, (uint64_t)db_int(s, 0, 0)), 6);
}

static void no_end(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	(void)run;
	(void)s;
	json_null(j, NULL);
}

static void phase_of(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	(void)run;
	(void)s;
	json_int(j, NULL, MARKER_INSTANT);
}

static void category_of_instant(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	(void)run;
	json_int(j, NULL, db_text(s, 1, NULL) ? CATEGORY_OTHER : CATEGORY_GOVERNOR);
}

static void data_of(const struct run *run, struct json *j, sqlite3_stmt *s)
{
	const char *mark = db_text(s, 1, NULL);

	(void)run;
	json_object(j, NULL);
	json_text(j, "type", mark ? "mark" : "decision");
	if (mark) {
		json_text(j, "text", mark);
	} else {
		db_json(j, "policy", s, 3);
		db_json(j, "from_mhz", s, 4);
		db_json(j, "mhz", s, 5);
		db_json(j, "latency", s, 6);
	}
	json_end(j);
}

/* Marks, CPUs that go and come, decisions: all in one thread of the machine's. */
static void instants(const struct run *run, struct json *j)
{
	static const struct {
		const char *name;
		void (*of)(const struct run *run, struct json *j, sqlite3_stmt *s);
	} columns[] = {
		{ "name", name_of },   { "startTime", instant_of },	    { "endTime", no_end },
		{ "phase", phase_of }, { "category", category_of_instant }, { "data", data_of },
	};
	size_t nr = 0;

	thread_begin(j, "governor and marks", 0, 0);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		sqlite3_stmt *s = db_query(
			run->db,
			"SELECT t, text, NULL, NULL, NULL, NULL, NULL FROM marks UNION ALL "
			"SELECT t, 'cpu' || cpu || CASE online WHEN 1 THEN ' online' ELSE ' "
			"offline' "
			"END, NULL, NULL, NULL, NULL, NULL FROM hotplug UNION ALL SELECT t, NULL, "
			"reason, policy, khz_from / 1000.0, khz / 1000.0, latency_ns FROM "
			"decisions "
			"ORDER BY 1");

		nr = 0;
		json_list(j, columns[c].name);
		for (; db_next(s); nr++)
			columns[c].of(run, j, s);
		json_end(j);
		sqlite3_finalize(s);
	}
	thread_end(j, nr);
}

static void tooltip(struct json *j, const char *source, const char *unit, const char *scale,
		    const char *label)
{
	json_object(j, NULL);
	json_text(j, "type", "value");
	json_text(j, "source", source);
	json_object(j, "format");
	json_text(j, "unit", unit);
	if (scale)
		json_text(j, "scale", scale);
	json_end(j);
	json_text(j, "label", label);
	json_end(j);
}

static void show(const struct run *run, struct json *j, const struct counter *c)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "name", c->name);
	json_text(j, "category", c->category);
	json_text(j, "description", c->description);
	json_text(j, "pid", "0");
	json_int(j, "mainThreadIndex", 0);
	json_object(j, "display");
	json_text(j, "graphType", "line-rate");
	json_text(j, "unit", c->power ? "pWh" : c->unit);
	json_text(j, "color", c->power ? "orange" : "blue");
	json_null(j, "markerSchemaLocation");
	json_int(j, "sortWeight", c->power ? 30 : 40);
	json_text(j, "label", c->name);
	json_list(j, "tooltipRows");
	if (c->power) {
		tooltip(j, "count", "number", "power", "Power");
		tooltip(j, "selection-total", "number", "energy", "Energy in the selection");
		tooltip(j, "committed-range-total", "number", "energy",
			"Energy in the visible range");
	} else {
		tooltip(j, "rate", "number", NULL, c->unit);
	}
	json_end(j);
	json_end(j);
	json_object(j, "samples");
	json_list(j, "time");
	for (size_t i = 0; i < c->nr; i++)
		json_fixed(j, NULL, ms(run, c->point[i].t), 6);
	json_end(j);
	json_list(j, "count");
	for (size_t i = 0; i < c->nr; i++)
		json_real(j, NULL, c->point[i].count, 9);
	json_end(j);
	json_uint(j, "length", c->nr);
	json_end(j);
	json_end(j);
}

/* Of a power (uW): uW ns are 1e-15 J, a pWh 3.6e-9 J. */
#define PWH_OF_UW_NS (1e-3 / 3600)
#define PWH_OF_UJ    (1e6 / 3600)

/* Where a reading is missing the mean of both sides stands for the gap. */
static bool rail(const struct run *run, struct json *j, size_t n)
{
	const struct run_rail *r = &run->rail[n];
	const struct run_series *all = run_samples(run, n);
	const bool energy = !strcmp(r->kind, "energy"), power = !strcmp(r->kind, "power");
	const struct run_sample *last = NULL;
	struct counter c = { .name = *r->label ? r->label : r->name,
			     .category = energy || power ? "power" : "gchint",
			     .unit = !strcmp(r->kind, "voltage") ? "V" : "A",
			     .description = r->name,
			     .power = energy || power };

	c.point = all ? calloc(all->nr + 1, sizeof(*c.point)) : NULL;
	if (!c.point)
		return false;
	for (size_t i = 0; i < all->nr; i++) {
		const struct run_sample *s = &all->sample[i];
		double ns = last ? (double)(s->t - last->t) : 0, count = 0;

		if (s->value == RUN_UNKNOWN)
			continue;
		if (last && energy)
			count = (double)(s->value - last->value) * PWH_OF_UJ;
		else if (last)
			count = ((double)s->value + (double)last->value) / 2 * ns *
				(power ? PWH_OF_UW_NS : 1e-12);
		c.point[c.nr++] = (struct point){ s->t, count };
		last = s;
	}
	if (c.nr)
		show(run, j, &c);
	free(c.point);
	return true;
}

static bool frequency(const struct run *run, struct json *j, const struct run_cpu *cpu)
{
	char name[32];
	struct counter c = { .name = name,
			     .category = "gchint",
			     .unit = "MHz",
			     .description = "Frequency of a CPU" };

	c.point = calloc(cpu->nr + 2, sizeof(*c.point));
	if (!c.point)
		return false;
	snprintf(name, sizeof(name), "cpu%u", cpu->cpu);
	for (size_t i = 0; i <= cpu->nr; i++) {
		uint64_t t = i < cpu->nr ? cpu->step[i].t : run->t1;
		double mhz = i ? cpu->step[i - 1].khz / 1e3 : 0;

		if (c.nr && t <= c.point[c.nr - 1].t)
			continue;
		c.point[c.nr] =
			(struct point){ t,
					c.nr ? mhz * (double)(t - c.point[c.nr - 1].t) / 1e6 : 0 };
		c.nr++;
	}
	show(run, j, &c);
	free(c.point);
	return true;
}

int export_firefox(sqlite3 *db, FILE *out, const char *table)
{
	const char *path = sqlite3_db_filename(db, "main");
	struct run *run = run_open(path);
	struct json j = { .f = out };
	struct run_phase **phase;
	bool whole = true;

	(void)table;
	if (!run)
		return CTL_FILE;
	phase = calloc(run->phases + 1, sizeof(struct run_phase *));
	if (!phase) {
		db_missing(path, "no memory for its phases");
		run_close(run);
		return CTL_FILE;
	}
	json_object(&j, NULL);
	meta(run, &j);
	json_list(&j, "libs");
	json_end(&j);
	shared(&j);
	json_list(&j, "threads");
	instants(run, &j);
	threads(run, &j, phase);
	json_end(&j);
	json_list(&j, "counters");
	for (size_t i = 0; i < run->rails && whole; i++)
		whole = rail(run, &j, i);
	for (size_t i = 0; i < run->cpus && whole; i++)
		whole = frequency(run, &j, &run->cpu[i]);
	json_end(&j);
	json_end(&j);
	if (!whole)
		db_missing(path, "no memory for its readings");
	free(phase);
	run_close(run);
	return CTL_OK;
}
