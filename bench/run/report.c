// SPDX-License-Identifier: MIT
#include "run/report.h"

#include "lib/quiet.h"
#include "lib/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB	    1048576.0
#define MAX_COLUMNS 192

/* Collects headings and cells side by side: a column is named where it is filled. */
struct row {
	const char *heading[MAX_COLUMNS];
	char name[MAX_COLUMNS][40];
	char cell[MAX_COLUMNS][520];
	size_t count;
};

static void row_add_text(struct row *row, const char *heading, const char *value)
{
	if (row->count == MAX_COLUMNS)
		abort(); /* a column more than there is room for: raise MAX_COLUMNS */
	snprintf(row->name[row->count], sizeof(row->name[0]), "%s", heading);
	snprintf(row->cell[row->count], sizeof(row->cell[0]), "%s", value);
	row->heading[row->count] = row->name[row->count];
	row->count++;
}

static void row_add_number(struct row *row, const char *heading, double value, int digits)
{
	char cell[64] = "-";

	if (!isnan(value))
		snprintf(cell, sizeof(cell), "%.*f", digits, value);
	row_add_text(row, heading, cell);
}

static void count_if(struct row *row, const char *heading, bool known, uint64_t value)
{
	row_add_number(row, heading, known ? (double)value : NAN, 0);
}

static double number_ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static double longest_pause(const struct run_result *r)
{
	double longest = NAN;

	for (int i = 0; i < RUN_PAUSES; i++)
		longest = fmax(longest, r->pause[i].max);
	return isnan(longest) ? r->stop.max : longest;
}

/* ---- Table 1 --------------------------------------------------------------- */

#if !defined(HEAP_LIBGC) && !defined(HEAP_EPSILON)
#define OF_COLLECTOR(r, expr) ((r)->collector ? (double)(expr) : NAN)
#else
#define OF_COLLECTOR(r, expr) NAN
#endif

static void row_add_table1(struct row *row, const struct run_result *r)
{
	double lives = OF_COLLECTOR(r, r->gc.lifetime_bytes);

	/* The bytes that the program requested; a collector's count may include rounding. */
	row_add_number(row, "alloc_mib", (double)r->allocated_bytes / MIB, 2);
	row_add_number(row, "live_mib", OF_COLLECTOR(r, r->gc.peak_live_bytes) / MIB, 2);
	row_add_number(row, "alloc_mobj", (double)r->allocated_objects / 1e6, 3);
	row_add_number(row, "live_mobj", OF_COLLECTOR(r, r->gc.live_objects) / 1e6, 3);
	row_add_number(row, "die_128k_%",
		       100 * number_ratio(OF_COLLECTOR(r, r->gc.lifetime_128k), lives), 1);
	row_add_number(row, "die_256k_%",
		       100 * number_ratio(OF_COLLECTOR(r, r->gc.lifetime_256k), lives), 1);
	row_add_number(row, "die_512k_%",
		       100 * number_ratio(OF_COLLECTOR(r, r->gc.lifetime_512k), lives), 1);
	row_add_number(row, "threads", r->threads, 0);
	row_add_number(row, "contentions", OF_COLLECTOR(r, r->gc.contentions), 0);
	count_if(row, "gc_conc", r->collector, r->cause[1]);
	count_if(row, "gc_alloc", r->collector, r->cause[0]);
	count_if(row, "gc_explicit", r->collector, r->cause[2]);
	row_add_number(row, "trims", OF_COLLECTOR(r, r->gc.trims), 0);
	row_add_number(row, "max_pause_ms", longest_pause(r), 2);
	row_add_number(row, "gc_cpu_%", 100 * number_ratio(r->gc_cpu_ms, r->cpu_ms), 1);
}

/* ---- every figure ----------------------------------------------------------- */

static void spread_cells(struct row *row, const char *name, const struct run_spread *s)
{
	static const char *const suffix[] = { "total_ms", "p50_ms", "p99_ms", "p999_ms", "max_ms" };
	const double value[] = { s->total, s->p50, s->p99, s->p999, s->max };
	char heading[40];

	snprintf(heading, sizeof(heading), "%s_count", name);
	count_if(row, heading, !isnan(s->total), s->count);
	for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++) {
		snprintf(heading, sizeof(heading), "%s_%s", name, suffix[i]);
		row_add_number(row, heading, value[i], 4);
	}
}

/* The collector's own counters, under their own names. */
static void counter_cells(struct row *row, const struct run_result *r)
{
#if !defined(HEAP_LIBGC) && !defined(HEAP_EPSILON)
#define COUNTER(name) count_if(row, #name, r->collector, r->gc.name)
	COUNTER(minors);
	COUNTER(majors);
	COUNTER(foreground_cycles);
	COUNTER(marked_objects);
	COUNTER(marked_bytes);
	COUNTER(copied_bytes);
	COUNTER(promoted_bytes);
	COUNTER(promoted_objects);
	COUNTER(premature_bytes);
	COUNTER(cards_dirty);
	COUNTER(cards_scanned);
	COUNTER(mark_stack_bytes);
	COUNTER(mark_stack_peak);
	COUNTER(overflows);
	COUNTER(overflow_rounds);
	COUNTER(rescanned_objects);
	COUNTER(remark_timeouts);
	COUNTER(side_bytes);
	COUNTER(trimmed_bytes);
	COUNTER(boosts);
	COUNTER(daemon_switches);
	COUNTER(grown_instead);
	COUNTER(verifications);
#undef COUNTER
#else
	(void)row;
	(void)r;
#endif
}

static void run_cells(struct row *row, const struct report_run *run)
{
	const struct run_result *r = &run->result;
	char heading[40];

	row_add_text(row, "run", run->name);
	row_add_text(row, "heap", r->heap);
	row_add_text(row, "options", *r->options ? r->options : "-");
	row_add_text(row, "error", r->code ? r->error : "-");
	row_add_number(row, "score_ms", r->score_ms, 3);
	row_add_number(row, "wall_ms", r->wall_ms, 3);
	row_add_number(row, "cpu_ms", r->cpu_ms, 3);
	row_add_number(row, "foreign_cores", r->foreign, 3);
	row_add_text(row, "quiet", isnan(r->foreign) ? "-" : quiet_ok(r->foreign) ? "yes" : "no");
	row_add_number(row, "rss_mib", (double)r->rss_bytes / MIB, 1);
	row_add_number(row, "pss_mib", r->pss_bytes ? (double)r->pss_bytes / MIB : NAN, 1);
	row_add_number(row, "heap_mib", r->heap_bytes ? (double)r->heap_bytes / MIB : NAN, 2);
	count_if(row, "asked_bytes", !r->code, r->allocated_bytes);
	count_if(row, "asked_objects", !r->code, r->allocated_objects);
	count_if(row, "checksum", !r->code, r->checksum);
	row_add_table1(row, r);
	count_if(row, "collections", r->has_collections, r->collections);
	row_add_number(row, "gc_cpu_ms", r->gc_cpu_ms, 3);
	row_add_number(row, "granted_mib", OF_COLLECTOR(r, r->gc.allocated_bytes) / MIB, 2);
	counter_cells(row, r);
	row_add_number(row, "heap_after_mib", r->heap_after / MIB, 3);
	row_add_number(row, "mark_ms", r->mark_ms, 3);
	row_add_number(row, "remark_ms", r->remark_ms, 3);
	row_add_number(row, "remark_max_ms", r->remark_max_ms, 3);
	spread_cells(row, "stw", &r->stop);
	spread_cells(row, "ttsp", &r->safepoint);
	for (int i = 0; i < RUN_PAUSES; i++)
		spread_cells(row, run_pause_name[i], &r->pause[i]);
	spread_cells(row, "pause", &r->all_pauses);
	count_if(row, "pauses_lost", r->has_collections, r->pauses_lost);
	row_add_number(row, "utilisation", r->overall, 4);
	row_add_number(row, "utilisation_worst", r->worst_overall, 4);
	for (int w = 0; w < RUN_WINDOWS; w++) {
		snprintf(heading, sizeof(heading), "minmu_%dms", (int)(run_window_ns[w] / 1000000));
		row_add_number(row, heading, r->minmu[w], 4);
		snprintf(heading, sizeof(heading), "mmu_%dms", (int)(run_window_ns[w] / 1000000));
		row_add_number(row, heading, r->mmu[w], 4);
		snprintf(heading, sizeof(heading), "bmu_%dms", (int)(run_window_ns[w] / 1000000));
		row_add_number(row, heading, r->bmu[w], 4);
	}
	spread_cells(row, "hiccup", &r->hiccup);
	spread_cells(row, "control", &r->control);
	spread_cells(row, "latency", &r->simple);
	spread_cells(row, "metered", &r->metered);
	count_if(row, "missed", r->has_deadline, r->missed);
	row_add_number(row, "run_delay_ms", r->run_delay_ms, 3);
	row_add_number(row, "migrations", r->migrations, 0);
}

static int print_rows(const struct report_run *run, size_t count, enum table_form form, FILE *out,
		      void (*cells)(struct row *row, const struct report_run *run))
{
	struct row *row = calloc(1, sizeof(*row));
	struct table *table = NULL;
	int code = row && count ? 0 : -ENOMEM;

	for (size_t i = 0; !code && i < count; i++) {
		row->count = 0;
		cells(row, &run[i]);
		if (!table)
			table = table_new(row->heading, row->count);
		code = table ? table_row(table) : -ENOMEM;
		for (size_t c = 0; !code && c < row->count; c++)
			code = table_cell(table, "%s", row->cell[c]);
	}
	if (!code)
		table_print(table, form, out);
	table_free(table);
	free(row);
	return code;
}

int report_rows(const struct report_run *run, size_t count, enum table_form form, FILE *out)
{
	return print_rows(run, count, form, out, run_cells);
}

static void table1_cells(struct row *row, const struct report_run *run)
{
	row_add_text(row, "benchmark", run->name);
	row_add_table1(row, &run->result);
}

int report_table1(const struct report_run *run, size_t count, enum table_form form, FILE *out)
{
	return print_rows(run, count, form, out, table1_cells);
}

/* ---- for people --------------------------------------------------------------- */

static void spread_row(struct table *t, const char *name, const struct run_spread *s)
{
	if (isnan(s->total))
		return;
	table_row(t);
	table_cell(t, "%s", name);
	table_cell(t, "%llu", (unsigned long long)s->count);
	table_number(t, s->total, 2);
	table_number(t, s->p50, 3);
	table_number(t, s->p99, 3);
	table_number(t, s->p999, 3);
	table_number(t, s->max, 3);
}

static void print_spreads(const struct run_result *r, FILE *out)
{
	static const char *const heading[] = {
		"ms", "count", "total", "p50", "p99", "p99.9", "max"
	};
	struct table *t = table_new(heading, 7);

	if (!t)
		return;
	spread_row(t, "stop the world", &r->stop);
	spread_row(t, "time to safepoint", &r->safepoint);
	for (int i = 0; i < RUN_PAUSES; i++)
		spread_row(t, run_pause_name[i], &r->pause[i]);
	spread_row(t, "hiccup", &r->hiccup);
	spread_row(t, "hiccup, idle control", &r->control);
	spread_row(t, "latency, simple", &r->simple);
	spread_row(t, "latency, metered 100 ms", &r->metered);
	spread_row(t, "latency, metered full", &r->metered_full);
	fputc('\n', out);
	table_print(t, TABLE_TEXT, out);
	table_free(t);
}

static void print_utilisation(const struct run_result *r, FILE *out)
{
	static const char *const heading[] = { "window ms", "MinMU",   "MMU",	  "BMU",
					       "MUD 0.1 %", "MUD 1 %", "MUD 10 %" };
	struct table *t;

	if (isnan(r->overall) || !(t = table_new(heading, 7)))
		return;
	for (int w = 0; w < RUN_WINDOWS && !isnan(r->mmu[w]); w++) {
		table_row(t);
		table_cell(t, "%d", (int)(run_window_ns[w] / 1000000));
		table_number(t, r->minmu[w], 4);
		table_number(t, r->mmu[w], 4);
		table_number(t, r->bmu[w], 4);
		for (int q = 0; q < RUN_QUANTILES; q++)
			table_number(t, r->mud[w][q], 4);
	}
	table_row(t);
	table_cell(t, "all");
	table_number(t, r->worst_overall, 4);
	table_number(t, r->overall, 4);
	table_number(t, r->overall, 4);
	fputc('\n', out);
	table_print(t, TABLE_TEXT, out);
	table_free(t);
}

void report_text(const struct report_run *run, FILE *out)
{
	const struct run_result *r = &run->result;

	fprintf(out, "%s on %s, %d thread%s\noptions  %s\n", run->name, r->heap, r->threads,
		r->threads == 1 ? "" : "s", r->options);
	if (r->code) {
		fprintf(out, "failed   %s\n", r->error);
		return;
	}
	fprintf(out, "score    %.1f ms (slowest thread)   wall %.1f ms   CPU %.1f ms\n",
		r->score_ms, r->wall_ms, r->cpu_ms);
	fprintf(out, "machine  others took %.2f cores: %s\n", r->foreign,
		quiet_ok(r->foreign) ? "quiet" : "not quiet, no timing counts");
	fprintf(out, "memory   RSS %.1f MiB, PSS %.1f MiB, heap pages %.1f MiB\n",
		(double)r->rss_bytes / MIB, (double)r->pss_bytes / MIB,
		(double)r->heap_bytes / MIB);
	fprintf(out, "asked    %.2f MiB in %llu objects, checksum %llu\n",
		(double)r->allocated_bytes / MIB, (unsigned long long)r->allocated_objects,
		(unsigned long long)r->checksum);
	if (r->has_collections)
		fprintf(out, "collections %llu", (unsigned long long)r->collections);
	if (r->collector)
		for (int i = 0; i < RUN_CAUSES; i++)
			if (r->cause[i])
				fprintf(out, ", %llu %s", (unsigned long long)r->cause[i],
					run_cause_name[i]);
	if (!isnan(r->gc_cpu_ms))
		fprintf(out, "; %.1f ms of CPU, %.1f %%", r->gc_cpu_ms,
			100 * number_ratio(r->gc_cpu_ms, r->cpu_ms));
	fputs("\n\n", out);
	if (r->collector)
		report_table1(run, 1, TABLE_TEXT, out);
	print_spreads(r, out);
	if (r->has_deadline)
		fprintf(out, "missed   %llu of %llu\n", (unsigned long long)r->missed,
			(unsigned long long)r->simple.count);
	print_utilisation(r, out);
	if (r->pauses_lost)
		fprintf(out, "%llu pauses were not kept: utilisation is too high\n",
			(unsigned long long)r->pauses_lost);
}

static int summary_line(struct table *t, const char *what, const double *value, size_t n)
{
	struct summary s = summary_of(value, n);

	if (table_row(t) || table_cell(t, "%s", what) || table_cell(t, "%zu", s.n))
		return -ENOMEM;
	if (table_number(t, s.min, 2) || table_number(t, s.median, 2) ||
	    table_number(t, s.max, 2) || table_number(t, s.mean, 2))
		return -ENOMEM;
	return table_number(t, s.half, 2);
}

int report_summary(const struct report_run *run, size_t count, enum table_form form, FILE *out)
{
	static const char *const heading[] = { "figure", "n",	 "min",	   "median",
					       "max",	 "mean", "+- 95 %" };
	static const char *const name[] = { "score ms",		"wall ms",	    "CPU ms",
					    "collector CPU ms", "longest pause ms", "heap MiB",
					    "others' cores" };
	double *value = calloc(count ? count : 1, sizeof(*value));
	struct table *t = table_new(heading, 7);
	int code = value && t ? 0 : -ENOMEM;

	for (int k = 0; !code && k < 7; k++) {
		size_t n = 0;

		for (size_t i = 0; i < count; i++) {
			const struct run_result *r = &run[i].result;
			const double figure[] = { r->score_ms,	    r->wall_ms,
						  r->cpu_ms,	    r->gc_cpu_ms,
						  longest_pause(r), (double)r->heap_bytes / MIB,
						  r->foreign };

			if (!r->code && !isnan(figure[k]))
				value[n++] = figure[k];
		}
		code = summary_line(t, name[k], value, n);
	}
	if (!code)
		table_print(t, form, out);
	table_free(t);
	free(value);
	return code;
}
