// SPDX-License-Identifier: MIT
/*
 * Table 1 of the Dalvik seed and ours: allocation figures from a run that collects at
 * every 64 KiB, events and overhead from a plain one, as the seed took them.
 */
#include "repro/claims-dalvik.h"

#include "lib/table.h"

#include <math.h>

#define MIB	1048576.0
#define COLUMNS 15

static const struct {
	const char *app;
	double alloc, live, objects, live_objects, die[3], threads, contentions;
	double conc, foreground, explicit_collections, trims, pause, share;
} paper[] = {
	{ "quadrant",
	  28.71,
	  8.23,
	  0.46,
	  0.22,
	  { 9.5, 20.5, 40.7 },
	  16,
	  448,
	  6,
	  4,
	  42,
	  3,
	  30.5,
	  2.8 },
	{ "pandora",
	  48.91,
	  18.76,
	  0.28,
	  0.06,
	  { 13.0, 24.9, 46.0 },
	  77,
	  829,
	  7,
	  18,
	  0,
	  4,
	  33.1,
	  6.2 },
	{ "javac",
	  217.47,
	  10.19,
	  6.15,
	  0.27,
	  { 7.6, 15.8, 32.7 },
	  7,
	  276,
	  55,
	  42,
	  6,
	  1,
	  99.0,
	  19.7 },
	{ "jack",
	  180.22,
	  0.87,
	  5.52,
	  0.02,
	  { 11.7, 23.8, 48.2 },
	  8,
	  4133,
	  105,
	  0,
	  2,
	  1,
	  24.0,
	  8.0 },
	{ "lusearch",
	  686.75,
	  1.22,
	  11.65,
	  0.01,
	  { 10.3, 22.5, 47.2 },
	  26,
	  2.63e6,
	  356,
	  0,
	  5,
	  1,
	  35.0,
	  5.4 },
	{ "xalan",
	  395.06,
	  2.26,
	  4.14,
	  0.02,
	  { 9.46, 19.3, 39.0 },
	  26,
	  4.38e5,
	  199,
	  1,
	  5,
	  1,
	  37.2,
	  3.5 },
};

static void paper_row(struct table *t, size_t i)
{
	table_row(t);
	table_cell(t, "%s, paper", paper[i].app);
	table_number(t, paper[i].alloc, 2);
	table_number(t, paper[i].live, 2);
	table_number(t, paper[i].objects, 2);
	table_number(t, paper[i].live_objects, 2);
	for (int k = 0; k < 3; k++)
		table_number(t, paper[i].die[k], 1);
	table_number(t, paper[i].threads, 0);
	table_number(t, paper[i].contentions, 0);
	table_cell(t, "%.0f / %.0f / %.0f", paper[i].conc, paper[i].foreground,
		   paper[i].explicit_collections);
	table_number(t, paper[i].conc + paper[i].foreground + paper[i].explicit_collections, 0);
	table_number(t, paper[i].trims, 0);
	table_number(t, paper[i].pause, 1);
	table_number(t, paper[i].share, 1);
}

static void our_row(struct table *t, size_t i, const struct run_result *fine,
		    const struct run_result *plain)
{
	const double die[3] = { (double)fine->gc.lifetime_128k, (double)fine->gc.lifetime_256k,
				(double)fine->gc.lifetime_512k };

	table_row(t);
	table_cell(t, "%s, ours", paper[i].app);
	table_number(t, (double)plain->allocated_bytes / MIB, 2);
	table_number(t, (double)fine->gc.peak_live_bytes / MIB, 2);
	table_number(t, (double)plain->allocated_objects / 1e6, 2);
	table_number(t, (double)fine->gc.live_objects / 1e6, 2);
	for (int k = 0; k < 3; k++)
		table_number(t, 100 * die[k] / (double)fine->gc.lifetime_bytes, 1);
	table_number(t, plain->threads, 0);
	table_number(t, (double)plain->gc.contentions, 0);
	table_cell(t, "%llu / %llu / %llu", (unsigned long long)plain->cause[GC_CAUSE_CONCURRENT],
		   (unsigned long long)plain->cause[GC_CAUSE_ALLOC],
		   (unsigned long long)plain->cause[GC_CAUSE_EXPLICIT]);
	table_number(t, (double)plain->gc.cycles, 0);
	table_number(t, (double)plain->gc.trims, 0);
	table_number(t, longest_pause(plain), 1);
	table_number(t, 100 * plain->gc_cpu_ms / plain->cpu_ms, 1);
}

int repro_table1(FILE *out)
{
	static const char *const heading[COLUMNS] = {
		"benchmark",
		"alloc MiB",
		"live MiB",
		"Mobjects",
		"live",
		"128K %",
		"256K %",
		"512K %",
		"threads",
		"contentions",
		"CONC / ALLOC / EXPLICIT",
		"all",
		"trims",
		"max pause ms",
		"GC CPU %",
	};
	struct table *t = table_new(heading, COLUMNS);
	int code = t ? 0 : 1;

	for (size_t i = 0; !code && i < sizeof(paper) / sizeof(*paper); i++) {
		struct outcome o = { .failed = false };
		struct run_result fine, plain;

		/*
		 * Lifetimes of one busy thread: where four share two cores each runs for
		 * milliseconds, and what it allocates meanwhile dies by its own clock alone.
		 */
		/* Idle times of 1.2 s and a trim after 1 s replace the seed's 5 s. */
		if (!probe(&o, "app", paper[i].app, "idle-gaps=0 work=0 active=1",
			   "plan=cms,profiler=64K,trim=0,max=512M", &fine) ||
		    !probe(&o, "app", paper[i].app, "idle-ms=1200",
			   "profile=hussein-2015,plan=cms,trim=1", &plain)) {
			fprintf(stderr, "table 1: %s\n", o.error);
			code = 1;
			break;
		}
		paper_row(t, i);
		our_row(t, i, &fine, &plain);
	}
	if (!code)
		table_print(t, TABLE_MARKDOWN, out);
	table_free(t);
	return code;
}
