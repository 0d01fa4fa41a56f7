// SPDX-License-Identifier: MIT
/*
 * Claims of the Dalvik seed, on applications with its Table 1's figures and its heap
 * sizing (profile=hussein-2015). Idle times of the application are left out: they only wait.
 */
#include "repro/claims-dalvik.h"
#include "repro/claims.h"

#include "lib/quiet.h"
#include "lib/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UTILS	    5
#define WINDOW_50MS 5 /* in run_window_ns */

/* A heap of fixed size, independent of the utilisation. */
#define ONE_SIZE DALVIK ",sizing=fixed,heap=16M,max=64M"

static const double util[UTILS] = { 0.1, 0.25, 0.5, 0.75, 0.9 };
static const char *const app[] = { "lusearch", "xalan", "javac", "jack", "pandora" };
static const char *const policy[] = { "default", "bg", "fg" };

enum {
	LUSEARCH,
	XALAN,
	JAVAC,
	JACK,
	PANDORA,
	APPS
};
enum {
	CMS,
	BG,
	FG,
	POLICIES
};
#define TABLE3_APPS 4 /* the seed's Table 3 leaves Pandora out */

/* A small run leaves out the two applications that allocate most. */
static int first_app(void)
{
	return effort.small ? JAVAC : LUSEARCH;
}

static double mean_over_apps(const double *ratio)
{
	return summary_geomean(ratio + first_app(), (size_t)(TABLE3_APPS - first_app()));
}

/* Means over effort.runs of every application under every policy, of one epoch of probes. */
static struct {
	unsigned int epoch;
	bool disturbed;
	double migrations, delay, gc_cpu, switches, minmu;
} seen[APPS][POLICIES];

/* For a run shorter than the window, the overall utilisation. */
static double minmu_of(const struct run_result *r)
{
	return isnan(r->minmu[WINDOW_50MS]) ? r->worst_overall : r->minmu[WINDOW_50MS];
}

static bool cell_probe(struct outcome *o, int a, int p)
{
	char options[128];

	if (seen[a][p].epoch == probe_epoch()) {
		o->disturbed = o->disturbed || seen[a][p].disturbed;
		return true;
	}
	memset(&seen[a][p], 0, sizeof(seen[a][p]));
	snprintf(options, sizeof(options), DALVIK ",plan=cms,policy=%s", policy[p]);
	for (unsigned int i = 0; i < effort.runs; i++) {
		struct run_result r;

		if (!probe_again(o, "app", app[a], NO_REST, options, &r))
			return false;
		seen[a][p].disturbed = seen[a][p].disturbed || !quiet_ok(r.foreign);
		seen[a][p].migrations += r.migrations / effort.runs;
		seen[a][p].delay += r.run_delay_ms / effort.runs;
		seen[a][p].gc_cpu += r.gc_cpu_ms / effort.runs;
		seen[a][p].switches += (double)r.voluntary_switches / effort.runs;
		seen[a][p].minmu += minmu_of(&r) / effort.runs;
	}
	seen[a][p].epoch = probe_epoch();
	o->disturbed = o->disturbed || seen[a][p].disturbed;
	return true;
}

static bool cells_probe_all(struct outcome *o)
{
	for (int a = first_app(); a < TABLE3_APPS; a++)
		for (int p = 0; p < POLICIES; p++)
			if (!cell_probe(o, a, p))
				return false;
	return true;
}

static void measure_migrations(struct outcome *o)
{
	double bg[TABLE3_APPS], fg[TABLE3_APPS];

	if (!cells_probe_all(o))
		return;
	for (int a = first_app(); a < TABLE3_APPS; a++) {
		/* Adds one to both, so that a count of 0 has a ratio. */
		bg[a] = (seen[a][BG].migrations + 1) / (seen[a][CMS].migrations + 1);
		fg[a] = (seen[a][FG].migrations + 1) / (seen[a][CMS].migrations + 1);
		ours(o, "%s%s fg %.2fx bg %.2fx of %.0f", a > first_app() ? ", " : "", app[a],
		     fg[a], bg[a], seen[a][CMS].migrations);
	}
	found(o, "migrations, fg of CMS", mean_over_apps(fg));
	found(o, "migrations, bg of CMS", mean_over_apps(bg));
}

const struct claim dalvik_migrations = {
	.id = "000-a",
	.text = "foreground collection migrates threads less than CMS, background about as much",
	.paper = "fg 0.55x CMS (0.38-0.79), bg 1.05x (0.97-1.36)",
	.falsifier = "fg migrates as much as CMS, or bg clearly less",
	.note = "CPU migrations of all threads, from the kernel's counter",
	.needs = { .cpus = 4, .runs = 3 },
	.without = { "policy=fg", "policy=default" },
	.term = { { "migrations, fg of CMS", "x", BASIS_TIME, 0.55, { 0, 1 }, { 0.38, 0.79 } },
		  { "migrations, bg of CMS",
		    "x",
		    BASIS_TIME,
		    1.05,
		    { 0.9, MORE },
		    { 0.97, 1.36 } } },
	.measure = measure_migrations,
};

static void measure_delay(struct outcome *o)
{
	double bg[TABLE3_APPS], fg[TABLE3_APPS];

	if (!cells_probe_all(o))
		return;
	for (int a = first_app(); a < TABLE3_APPS; a++) {
		bg[a] = seen[a][BG].delay / seen[a][CMS].delay;
		fg[a] = seen[a][FG].delay / seen[a][CMS].delay;
		ours(o, "%s%s bg %.2fx fg %.2fx", a > first_app() ? ", " : "", app[a], bg[a],
		     fg[a]);
	}
	found(o, "delay on the run queue, bg of CMS", mean_over_apps(bg));
}

const struct claim dalvik_delay = {
	.id = "000-b",
	.text = "collecting in the background makes threads wait longer on the run queue",
	.paper = "bg 1.04x CMS (0.90-1.14)",
	.falsifier = "threads wait no longer with bg than with CMS",
	.note = "run queue delay of all threads from schedstat; other processes add to it",
	.needs = { .cpus = 4, .runs = 3 },
	.without = { "policy=bg", "policy=fg" },
	.term = { { "delay on the run queue, bg of CMS",
		    "x",
		    BASIS_TIME,
		    1.04,
		    { 1, MORE },
		    { 1.01, 1.14 } } },
	.measure = measure_delay,
};

struct tightness {
	double cpu, marked, cycles; /* at 90 %, of those at 10 % */
};

static bool profile_tighten(struct outcome *o, const char *profile, struct tightness *t)
{
	double first[3] = { 0, 0, 0 };

	for (int i = 0; i < UTILS; i++) {
		struct run_result r;
		char options[128];

		/* Values between the ends are only printed, so a small run skips them. */
		if (effort.small && i && i < UTILS - 1)
			continue;
		snprintf(options, sizeof(options), DALVIK ",plan=cms,util=%g", util[i]);
		if (!(effort.counts ? probe(o, "app", profile, NO_REST, options, &r) :
				      probe_least(o, "app", profile, NO_REST, options, &r)))
			return false;
		if (!i) {
			first[0] = r.cpu_ms;
			first[1] = (double)r.gc.marked_bytes;
			first[2] = (double)r.gc.cycles;
			ours(o, "%s%s collects %.0f", *o->ours ? "; " : "", profile, first[2]);
		} else {
			ours(o, ", %.0f", (double)r.gc.cycles);
		}
		t->cpu = r.cpu_ms / first[0];
		t->marked = (double)r.gc.marked_bytes / first[1];
		t->cycles = (double)r.gc.cycles / first[2];
	}
	ours(o, " times");
	if (!effort.counts)
		ours(o, ", CPU %.2fx", t->cpu);
	return true;
}

/* The least and the mean rise of CPU time over the seed's four applications. */
static bool profiles_tighten_all(struct outcome *o, double *least, double *mean)
{
	double rise[TABLE3_APPS];

	*least = INFINITY;
	for (int a = first_app(); a < TABLE3_APPS; a++) {
		struct tightness t;

		if (!profile_tighten(o, app[a], &t))
			return false;
		rise[a] = t.cpu;
		*least = figure_min(*least, t.cpu);
	}
	*mean = mean_over_apps(rise);
	return true;
}

static void measure_util_cycles(struct outcome *o)
{
	struct tightness javac, quadrant;
	double least, mean;

	if (!profile_tighten(o, "javac", &javac) || !profile_tighten(o, "quadrant", &quadrant))
		return;
	found(o, "bytes javac marks, 90 of 10 %", javac.marked);
	found(o, "Quadrant's collections, 90 of 10 %", quadrant.cycles);
	if (effort.counts)
		return;
	found(o, "Quadrant's CPU, 90 of 10 %", quadrant.cpu);
	if (!profiles_tighten_all(o, &least, &mean))
		return;
	found(o, "CPU, 90 of 10 %, least of four", least);
	found(o, "CPU, 90 of 10 %, mean of four", mean);
}

const struct claim dalvik_util_cycles = {
	.id = "000-c",
	.text = "cycles grow with target utilisation, but not where explicit collections dominate",
	.paper = "the total work rises from 10 to 90 % for all but Quadrant (plot)",
	.falsifier = "one of the four falls, their mean does not rise, or Quadrant rises or falls",
	.note = "room is clamped to 2-8 MiB, so the setting affects only live sets above 2.7 MiB",
	.needs = { .runs = 3 },
	.without = { DALVIK, ONE_SIZE },
	.term = { { "bytes javac marks, 90 of 10 %",
		    "x",
		    BASIS_COUNT,
		    NAN,
		    { 1.1, MORE },
		    { 1.3, 10 } },
		  { "Quadrant's collections, 90 of 10 %",
		    "x",
		    BASIS_COUNT,
		    1,
		    { 0.8, 1.25 },
		    { 0.9, 1.1 } },
		  { "CPU, 90 of 10 %, least of four",
		    "x",
		    BASIS_TIME,
		    NAN,
		    { 0.95, MORE },
		    { 1.05, 3 } },
		  { "CPU, 90 of 10 %, mean of four",
		    "x",
		    BASIS_TIME,
		    NAN,
		    { 1.02, MORE },
		    { 1.05, 3 } },
		  { "Quadrant's CPU, 90 of 10 %",
		    "x",
		    BASIS_TIME,
		    1,
		    { 0.9, 1.15 },
		    { 0.93, 1.07 } } },
	.measure = measure_util_cycles,
};

static void measure_util_time(struct outcome *o)
{
	double least, mean;

	if (!profiles_tighten_all(o, &least, &mean))
		return;
	found(o, "CPU, 90 of 10 %, least of four", least);
	found(o, "CPU, 90 of 10 %, mean of four", mean);
}

const struct claim dalvik_util_time = {
	.id = "000-d",
	.text = "tighter heaps cost time for all, yet save lusearch energy",
	.paper = "time rises for all four; energy falls for lusearch (plot)",
	.falsifier = "one takes less time, all take the same, or lusearch's energy rises",
	.note = "the live sets of lusearch, xalan and jack are 2.3 MiB or less: with the 2 MiB "
		"clamp their heap size is the same at all settings",
	.needs = { .runs = 3, .rail = true },
	.without = { DALVIK, ONE_SIZE },
	.term = { { "CPU, 90 of 10 %, least of four",
		    "x",
		    BASIS_TIME,
		    NAN,
		    { 0.95, MORE },
		    { 1.05, 3 } },
		  { "CPU, 90 of 10 %, mean of four",
		    "x",
		    BASIS_TIME,
		    NAN,
		    { 1.02, MORE },
		    { 1.05, 3 } },
		  { "lusearch's energy, 90 of 10 %",
		    "x",
		    BASIS_ENERGY,
		    NAN,
		    { 0, 1 },
		    { 0.4, 0.97 } } },
	.measure = measure_util_time,
};

static bool generational_probe(struct outcome *o, const char *with, const char *without,
			       const char *options, double *least)
{
	*least = INFINITY;
	for (int a = first_app(); a < TABLE3_APPS; a++) {
		struct run_result g, c;
		char text[192];

		snprintf(text, sizeof(text), "%s,plan=%s", options, with);
		if (!probe_least(o, "app", app[a], NO_REST, text, &g))
			return false;
		snprintf(text, sizeof(text), "%s,plan=%s", options, without);
		if (!probe_least(o, "app", app[a], NO_REST, text, &c))
			return false;
		*least = figure_min(*least, g.cpu_ms / c.cpu_ms);
		ours(o, "%s%s %.2fx", a > first_app() ? ", " : "", app[a], g.cpu_ms / c.cpu_ms);
	}
	return true;
}

static void measure_generational(struct outcome *o)
{
	double cms, immix;

	ours(o, "GenCMS of CMS: ");
	if (!generational_probe(o, "gencms", "cms", DALVIK, &cms))
		return;
	found(o, "CPU, GenCMS of CMS, least of four", cms);
	ours(o, "; stickyimmix of immix in 24 MiB: ");
	generational_probe(o, "stickyimmix", "immix", "sizing=fixed,heap=24M,max=48M", &immix);
}

const struct claim dalvik_generational = {
	.id = "000-e",
	.text = "the generational collector is no faster than CMS on any benchmark",
	.paper = "GenCMS not better on any",
	.falsifier = "on one benchmark it takes 5 % less CPU time, or more is saved",
	.note = "both allocators were tried: whether generations pay off also depends on the "
		"placement of objects; the seed itself suggests that its GenCMS was not optimised "
		"enough",
	.needs = { .runs = 3 },
	.without = { "plan=cms", "plan=cms,stress=64K" },
	.with = { "plan=gencms", "plan=cms" },
	.term = { { "CPU, GenCMS of CMS, least of four",
		    "x",
		    BASIS_TIME,
		    NAN,
		    { 0.95, MORE },
		    { 0.97, 2 } } },
	.measure = measure_generational,
};

static void measure_background_energy(struct outcome *o)
{
	double bg[TABLE3_APPS], fg[TABLE3_APPS], wake[TABLE3_APPS];

	if (!cells_probe_all(o))
		return;
	for (int a = first_app(); a < TABLE3_APPS; a++) {
		bg[a] = seen[a][BG].gc_cpu / seen[a][CMS].gc_cpu;
		fg[a] = seen[a][FG].gc_cpu / seen[a][CMS].gc_cpu;
		wake[a] = (seen[a][BG].switches + 1) / (seen[a][FG].switches + 1);
		ours(o, "%s%s bg %.2fx fg %.2fx", a ? ", " : "", app[a], bg[a], fg[a]);
	}
	found(o, "collector's CPU, bg of CMS", mean_over_apps(bg));
	found(o, "collector's CPU, fg of CMS", mean_over_apps(fg));
	ours(o, "; sleeps bg/fg %.1fx", mean_over_apps(wake));
}

const struct claim dalvik_background_energy = {
	.id = "000-f",
	.text = "background collection takes more energy than CMS, foreground less",
	.paper = "bg more (plot); choosing the collector saves 20-30 %",
	.falsifier = "bg takes no more energy than CMS, or fg no less",
	.note = "the collector's CPU time is a substitute for energy; it includes neither the cost "
		"of wake-ups and migrations nor the effect of the frequency",
	.needs = { .runs = 3, .rail = true },
	.without = { "policy=bg", "policy=fg" },
	.term = { { "energy, bg of CMS", "x", BASIS_ENERGY, NAN, { 1, MORE }, { 1.02, 1.5 } },
		  { "energy, fg of CMS", "x", BASIS_ENERGY, 0.75, { 0, 1 }, { 0.7, 0.8 } },
		  { "collector's CPU, bg of CMS",
		    "x",
		    BASIS_PROXY,
		    NAN,
		    { 1, MORE },
		    { 1.02, 1.5 } },
		  { "collector's CPU, fg of CMS",
		    "x",
		    BASIS_PROXY,
		    0.75,
		    { 0, 1 },
		    { 0.7, 0.8 } } },
	.measure = measure_background_energy,
};

static void measure_minmu(struct outcome *o)
{
	double worst = INFINITY, middle = INFINITY, large = INFINITY;

	for (int a = 0; a < APPS; a++) {
		double fg, bg, cms;

		if (a == JACK || (effort.small && (a == LUSEARCH || a == PANDORA)))
			continue;
		if (!cell_probe(o, a, CMS) || !cell_probe(o, a, BG) || !cell_probe(o, a, FG))
			return;
		fg = seen[a][FG].minmu, bg = seen[a][BG].minmu, cms = seen[a][CMS].minmu;
		ours(o, "%s%s fg %.2f CMS %.2f bg %.2f", *o->ours ? "; " : "", app[a], fg, cms, bg);
		if (a == LUSEARCH || a == XALAN) {
			worst = figure_min(worst, fg - bg);
			middle = figure_min(middle, fg - cms);
		} else {
			large = figure_min(large, bg - cms);
		}
	}
	found(o, "MinMU(50 ms), fg less bg, worse of lusearch and xalan", worst);
	found(o, "fg less CMS, worse of both", middle);
	found(o, "bg less CMS, worse of javac and Pandora", large);
}

const struct claim dalvik_minmu = {
	.id = "000-g",
	.text = "foreground has the best MinMU for high rates and small heaps, background for "
		"large heaps",
	.paper = "fg best for lusearch, xalan; bg best for javac, Pandora (plots)",
	.falsifier = "fg is not best for lusearch or xalan, or bg no better than CMS for javac or "
		     "Pandora",
	.note = "ties do not count",
	.needs = { .cpus = 4, .runs = 3 },
	.without = { "policy=fg", "policy=bg" },
	.term = { { "MinMU(50 ms), fg less bg, worse of lusearch and xalan",
		    "",
		    BASIS_TIME,
		    NAN,
		    { 0.02, 1 },
		    { 0.05, 0.9 } },
		  { "fg less CMS, worse of both", "", BASIS_TIME, NAN, { -0.02, 1 }, { 0, 0.9 } },
		  { "bg less CMS, worse of javac and Pandora",
		    "",
		    BASIS_TIME,
		    NAN,
		    { 0.02, 1 },
		    { 0.05, 0.9 } } },
	.measure = measure_minmu,
};
