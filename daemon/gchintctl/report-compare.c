// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/escape.h"
#include "ctl.h"
#include "db.h"
#include "energy.h"
#include "mmu.h"
#include "report.h"
#include "stats.h"

#define GROUPS 12
#define RUNS   64
#define RAILS  4

/* One number a run; NAN where the run does not tell it. */
struct metric {
	const char *name, *unit;
	double (*of)(const struct run *run, double argument);
	double argument;
	int better; /* -1 lower is better, +1 higher, 0 neither */
};

/* From the command's start to its end where gchintctl record marked them. */
static double duration(const struct run *run, double unused)
{
	int64_t start, end;

	(void)unused;
	if (db_number(run->db, "SELECT min(t) FROM marks WHERE text LIKE 'start: %'", 0, &start) &&
	    db_number(run->db, "SELECT max(t) FROM marks WHERE text LIKE 'end: %'", 0, &end) &&
	    end > start)
		return (double)(end - start) / 1e9;
	return (double)(run->t1 - run->t0) / 1e9;
}

static double longest_pause(const struct run *run, double unused)
{
	uint64_t longest = 0;

	(void)unused;
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].stw && run->phase[i].t1 - run->phase[i].t0 > longest)
			longest = run->phase[i].t1 - run->phase[i].t0;
	return longest ? (double)longest / 1e6 : NAN;
}

static double paused(const struct run *run, double unused)
{
	uint64_t ns = 0;

	(void)unused;
	for (size_t i = 0; i < run->phases; i++)
		ns += run->phase[i].stw ? run->phase[i].t1 - run->phase[i].t0 : 0;
	return run->phases ? (double)ns / 1e6 : NAN;
}

static double in_phases(const struct run *run, double unused)
{
	uint64_t ns = 0;

	(void)unused;
	for (size_t i = 0; i < run->phases; i++)
		ns += run->phase[i].t1 - run->phase[i].t0;
	return run->phases ? (double)ns / 1e6 : NAN;
}

static double min_mu(const struct run *run, double window_ms)
{
	struct mmu_pause *pause = malloc((run->phases ? run->phases : 1) * sizeof(*pause));
	uint64_t window = (uint64_t)(window_ms * 1e6);
	size_t n = 0;
	double v;

	if (!pause || !run->phases || window > run->t1 - run->t0) {
		free(pause);
		return NAN;
	}
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].stw)
			pause[n++] = (struct mmu_pause){ run->phase[i].t0, run->phase[i].t1 };
	n = mmu_merge(pause, n);
	v = 100 * mmu(pause, n, run->t0, run->t1, window);
	free(pause);
	return v;
}

static double transitions(const struct run *run, double unused)
{
	int64_t n;

	(void)unused;
	if (!run->cpus ||
	    !db_number(run->db, "SELECT count(*) FROM transitions WHERE how != 'start'", 0, &n))
		return NAN;
	return (double)n;
}

static double mean_mhz(const struct run *run, double in_phase)
{
	double weighted = 0, ns = 0;

	for (size_t k = 0; k < run->khzs; k++)
		for (unsigned int g = in_phase > 0 ? CLASS_NR : 0;
		     g < (in_phase > 0 ? RUN_GROUPS : 1); g++) {
			weighted += (double)run->residency[k][g] * run->khz[k] / 1000;
			ns += (double)run->residency[k][g];
		}
	return ns > 0 ? weighted / ns : NAN;
}

static const struct metric metrics[] = {
	{ "duration", "s", duration, 0, -1 },
	{ "longest pause", "ms", longest_pause, 0, -1 },
	{ "time paused", "ms", paused, 0, -1 },
	{ "time in phases", "ms", in_phases, 0, 0 },
	{ "MinMU, 10 ms window", "%", min_mu, 10, 1 },
	{ "MinMU, 50 ms window", "%", min_mu, 50, 1 },
	{ "MinMU, 100 ms window", "%", min_mu, 100, 1 },
	{ "frequency in phases", "MHz", mean_mhz, 1, 0 },
	{ "frequency outside", "MHz", mean_mhz, 0, 0 },
	{ "frequency changes", "", transitions, 0, 0 },
};

struct group {
	const char *label;
	size_t base; /* the group that it is held against; its own is none */
	const struct run *run[RUNS];
	size_t nr;
};

/*
 * "PROGRAM / GOVERNOR" is held against the first governor of that program;
 * any other label against the first of all.
 */
static size_t base_of(const struct group *group, size_t g)
{
	const char *slash = strstr(group[g].label, " / ");
	size_t n = slash ? (size_t)(slash - group[g].label) + 3 : 0;

	for (size_t i = 0; i < g && n; i++)
		if (!strncmp(group[i].label, group[g].label, n))
			return i;
	return n ? g : 0;
}

static size_t group_runs(struct run *const *run, size_t runs, struct group *group, size_t *left)
{
	size_t nr = 0;

	for (size_t i = 0; i < runs; i++) {
		size_t g = 0;

		while (g < nr && strcmp(group[g].label, run[i]->label))
			g++;
		if (g == GROUPS || (g < nr && group[g].nr == RUNS)) {
			++*left;
			continue;
		}
		if (g == nr) {
			group[nr++] = (struct group){ .label = run[i]->label };
			group[g].base = base_of(group, g);
		}
		group[g].run[group[g].nr++] = run[i];
	}
	return nr;
}

/* Decimals that show two digits of @fine. */
static int decimals(double fine)
{
	int d = fine > 0 ? 1 - (int)floor(log10(fine)) : 2;

	return d < 0 ? 0 : d > 6 ? 6 : d;
}

static void cell(const struct stats *s, const struct stats *base, int better, FILE *html)
{
	double change;
	int digits;

	if (!s->n) {
		fputs("<td>?</td>", html);
		return;
	}
	digits = decimals(s->n > 1 && s->half > 0 ? s->half : fabs(s->mean) / 100);
	fprintf(html, "<td>%.*f", digits, s->mean);
	if (s->n > 1)
		fprintf(html, " <span class=\"pm\">&plusmn;&nbsp;%.*f</span>", digits, s->half);
	if (base && base->n && base->mean != 0) {
		/* A difference is called one only where the intervals part. */
		bool apart = s->n > 1 && base->n > 1 &&
			     fabs(s->mean - base->mean) > s->half + base->half;

		change = 100 * (s->mean / base->mean - 1);
		fprintf(html, " <span class=\"%s\">(%+.1f&nbsp;%%)</span>",
			!apart || !better	     ? "pm" :
			(change > 0) == (better > 0) ? "better" :
						       "worse",
			change);
	}
	fputs("</td>", html);
}

static void metric_row(const struct group *group, size_t groups, const char *name, const char *unit,
		       int better, double (*value)(const struct run *run, const void *data),
		       const void *data, FILE *html)
{
	struct stats s[GROUPS];
	bool any = false;

	for (size_t g = 0; g < groups; g++) {
		double v[RUNS];
		size_t n = 0;

		for (size_t i = 0; i < group[g].nr; i++) {
			v[n] = value(group[g].run[i], data);
			n += !isnan(v[n]);
		}
		stats_of(v, n, &s[g]);
		any = any || n;
	}
	if (!any)
		return;
	fputs("<tr><td>", html);
	escape_html(html, name);
	fprintf(html, "%s%s</td>", *unit ? ", " : "", unit);
	for (size_t g = 0; g < groups; g++)
		cell(&s[g], group[g].base == g ? NULL : &s[group[g].base], better, html);
	fputs("</tr>\n", html);
}

static double metric_value(const struct run *run, const void *data)
{
	const struct metric *m = data;

	return m->of(run, m->argument);
}

static double rail_energy(const struct run *run, const void *data)
{
	struct energy e;

	for (size_t i = 0; i < run->rails; i++)
		if (!strcmp(run->rail[i].name, data))
			return energy_of(run, &run->rail[i], &e) ? e.total : NAN;
	return NAN;
}

static void energy_rows(const struct group *group, size_t groups, FILE *html)
{
	const struct run *first = group[0].run[0];
	char name[160];
	size_t shown = 0;

	for (size_t i = 0; i < first->rails && shown < RAILS; i++) {
		const struct run_rail *r = &first->rail[i];

		if (strcmp(r->kind, "power") && strcmp(r->kind, "energy"))
			continue;
		snprintf(name, sizeof(name), "energy of %s, %s", *r->label ? r->label : r->name,
			 run_rail_how(r));
		metric_row(group, groups, name, "J", -1, rail_energy, r->name, html);
		shown++;
	}
}

/* PROGRAM and GOVERNOR on lines of their own. */
static void heading(const struct group *group, FILE *html)
{
	const char *slash = strstr(group->label, " / ");
	char program[96] = "";

	fputs("<th>", html);
	if (slash) {
		snprintf(program, sizeof(program), "%.*s", (int)(slash - group->label),
			 group->label);
		escape_html(html, program);
		fputs("<br>", html);
	}
	escape_html(html, slash ? slash + 3 : group->label);
	fprintf(html, "<br>n = %zu</th>", group->nr);
}

void report_compare(struct run *const *run, size_t runs, FILE *html)
{
	struct group *group = calloc(GROUPS, sizeof(*group));
	size_t groups, left = 0;
	bool single = false;

	if (!group)
		return;
	groups = group_runs(run, runs, group, &left);
	fputs("<div class=\"scroll\"><table><thead><tr><th></th>", html);
	for (size_t g = 0; g < groups; g++) {
		heading(&group[g], html);
		single = single || group[g].nr < 2;
	}
	fputs("</tr></thead><tbody>\n", html);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		metric_row(group, groups, metrics[i].name, metrics[i].unit, metrics[i].better,
			   metric_value, &metrics[i], html);
	energy_rows(group, groups, html);
	fputs("</tbody></table></div>\n<p class=\"note\">Runs with one label are one column: mean "
	      "&plusmn; half of the 95&nbsp;% confidence interval (Student's t). In brackets the "
	      "change "
	      "against the first column, or the first of that program (a label PROGRAM / "
	      "GOVERNOR), coloured only where the intervals do not overlap.",
	      html);
	if (single)
		fputs(" A column of one run has no interval: record it again.", html);
	if (left) {
		fprintf(html,
			" Left out of the table: %zu recordings, beyond %d labels or %d of one "
			"label.",
			left, GROUPS, RUNS);
		ctl_error("%zu recordings are not compared: %d labels and %d runs of each are the "
			  "most; make a page of some of them",
			  left, GROUPS, RUNS);
	}
	fputs("</p>\n", html);
	free(group);
}
