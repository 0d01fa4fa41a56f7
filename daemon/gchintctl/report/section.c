// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/cost.h"
#include "../../analysis/energy.h"
#include "../../analysis/pauses.h"
#include "../../analysis/reasons.h"
#include "../../common/amount.h"
#include "../../common/escape.h"
#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/processes.h"
#include "attributed.h"
#include "collector-cpu.h"
#include "lanes.h"
#include "methods.h"
#include "plot.h"
#include "report.h"

#define LINES  12 /* of the table of pauses; half of it if several recordings are compared */
#define MARGIN 1000000ull /* least time in ns that is shown before and after a pause */

#define MS(ns) ((double)(ns) / 1e6)
#define US(ns) ((long long)(ns) / 1000)

/* Whether a column of frequencies has a value. */
static bool recording_has_frequency(const struct recording *rec)
{
	for (size_t i = 0; i < rec->cpus; i++)
		for (size_t k = 0; k < rec->cpu[i].nr; k++)
			if (rec->cpu[i].step[k].khz)
				return true;
	return false;
}

static void phase_table(const struct recording *rec, FILE *html)
{
	const bool mhz = recording_has_frequency(rec);
	char name[48];

	if (!rec->phases) {
		fputs("<p class=\"note\">No phase was recorded. Is the module loaded, and does "
		      "the program give hints?</p>\n",
		      html);
		return;
	}
	fprintf(html,
		"<div class=\"scroll narrowed\"><table><thead><tr><th>phase</th><th>count</th>"
		"<th class=\"more\">total ms</th><th>share</th><th class=\"more\">mean ms</th>"
		"<th class=\"more\">p50 ms</th><th class=\"more\">p95 ms</th><th>longest ms</th>"
		"%s</tr></thead><tbody>\n",
		mhz ? "<th class=\"more\">mean MHz</th>" : "");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		struct recording_lengths l;

		recording_lengths(rec, g, &l);
		if (!l.count)
			continue;
		fputs("<tr><td>", html);
		plot_phase_write_dot(g, html);
		fprintf(html,
			"%s</td><td>%zu</td><td class=\"more\">%.2f</td><td>%.1f&nbsp;%%</td>"
			"<td class=\"more\">%.3f</td><td class=\"more\">%.3f</td>"
			"<td class=\"more\">%.3f</td><td>%.3f</td>",
			phase_group_name(g, name, sizeof(name)), l.count, MS(l.total),
			100.0 * (double)l.total / (double)recording_duration(rec), MS(l.mean),
			MS(l.p50), MS(l.p95), MS(l.max));
		if (mhz && l.khz > 0)
			fprintf(html, "<td class=\"more\">%.0f</td>", l.khz / 1000);
		else if (mhz)
			fputs("<td class=\"more\">?</td>", html);
		fputs("</tr>\n", html);
	}
	fputs("</tbody></table></div>\n<p class=\"note\">A solid colour: threads wait for the "
	      "phase. Hatched: it is concurrent.",
	      html);
	if (rec->open || rec->uncertain)
		fprintf(html,
			" Left out, because their end is not known: %zu phases that were still "
			"running at the end, %zu during which events were lost.",
			rec->open, rec->uncertain);
	fputs("</p>\n", html);
}

/* The pause with @times as much time as shown before and after it, within the run. */
static struct timeline_window pause_find_window(const struct recording *rec,
						const struct pause *pause, unsigned int times)
{
	uint64_t margin = pause->t1 - pause->t0 > MARGIN ? pause->t1 - pause->t0 : MARGIN;
	struct timeline_window w = { rec->t0, rec->t1 };

	margin *= times;
	if (pause->t0 > rec->t0 + margin)
		w.t0 = pause->t0 - margin;
	if (pause->t1 + margin < rec->t1)
		w.t1 = pause->t1 + margin;
	return w;
}

/* How often a process began to collect, and for how long any of them did. */
struct activity {
	size_t processes, times;
	uint64_t ns;
};

/* Phases of a process that overlap or touch are one time. Phases are in order of begin. */
static struct activity activity_of(const struct recording *rec)
{
	uint64_t end[PHASE_GROUPS] = { 0 }, covered = 0;
	struct activity a = { 0 };
	struct processes p;

	if (!processes_of(rec, &p))
		return a;
	a.processes = p.nr;
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *phase = &rec->phase[i];
		uint64_t *last = &end[p.group[i]];

		a.times += !*last || phase->t0 > *last;
		*last = phase->t1 > *last ? phase->t1 : *last;
		if (phase->t1 > covered) {
			a.ns += phase->t1 - (phase->t0 > covered ? phase->t0 : covered);
			covered = phase->t1;
		}
	}
	processes_free(&p);
	return a;
}

static void figure_begin(FILE *html, const char *name)
{
	fprintf(html, "<div><dt>%s</dt><dd>", name);
}

static void figure_end(FILE *html)
{
	fputs("</small></dd></div>\n", html);
}

static void figures_write_pauses(const struct recording *rec, const struct pauses_sum *sum,
				 FILE *html)
{
	const double ns = (double)recording_duration(rec);
	char length[AMOUNT_TEXT], other[AMOUNT_TEXT];

	figure_begin(html, "paused");
	if (!rec->phases) {
		fputs("?<small>no phase was recorded", html);
		figure_end(html);
		return;
	}
	fprintf(html, "%.2f&nbsp;%%<small>%s of %s, in %zu pause%s",
		100 * (double)sum->paused / ns / (sum->processes > 1 ? (double)sum->processes : 1),
		amount_length((double)sum->paused, length), amount_length(ns, other), sum->count,
		sum->count == 1 ? "" : "s");
	if (sum->processes > 1)
		fprintf(html, "; a mean over %zu processes", sum->processes);
	if (rec->unsure_stops)
		fprintf(html, "; without %zu phases of unknown end", rec->unsure_stops);
	figure_end(html);
	if (!sum->count)
		return;
	figure_begin(html, "longest pause");
	fprintf(html, "%s<small>median %s", amount_length((double)sum->longest, length),
		amount_length((double)sum->p50, other));
	/* Of less than 100 it is the longest. */
	if (sum->count >= 100)
		fprintf(html, "; 99&nbsp;%% within %s", amount_length((double)sum->p99, length));
	figure_end(html);
	figure_begin(html, "half the paused time");
	fprintf(html, "%s<small>in %zu pause%s of this length or more",
		amount_length((double)sum->half, length), sum->halves, sum->halves == 1 ? "" : "s");
	figure_end(html);
}

static void figures_write_collections(const struct recording *rec, FILE *html)
{
	const struct activity a = activity_of(rec);

	figure_begin(html, "collecting");
	fprintf(html,
		"%s&nbsp;%%<small>of the time, paused or not: %zu time%s, %zu phase%s, by "
		"%zu process%s",
		amount_digits(100 * (double)a.ns / (double)recording_duration(rec), 3,
			      AMOUNT_BUFFER),
		a.times, a.times == 1 ? "" : "s", rec->phases, rec->phases == 1 ? "" : "s",
		a.processes, a.processes == 1 ? "" : "es");
	figure_end(html);
}

/* As the line of summary. */
static void figures_write_cpu(const struct recording *rec, FILE *html)
{
	struct collector_cpu c;

	if (!collector_cpu_of(rec, &c))
		return;
	figure_begin(html, "GC CPU time");
	if (c.range && !c.at_most)
		fprintf(html, "<span class=\"range\">%s</span><small>of CPU", c.amount);
	else if (!c.known)
		fputs("?<small>no two readings of a thread's account are around a phase", html);
	else if (c.at_most)
		fprintf(html, "&le; %s<small>of CPU", c.amount);
	else
		fprintf(html, "%s<small>%s%s", c.amount, *c.share ? c.share : "of CPU",
			*c.share ? " of one CPU" : "");
	if (*c.waited)
		fprintf(html, "; waited at least %s for a CPU", c.waited);
	figure_end(html);
}

/* So that rows are filled at each width: a row of the page's style for each number of figures. */
static size_t figures_count(const struct recording *rec, const struct pauses_sum *sum, bool energy)
{
	return 1 + (sum->count ? 2 : 0) + (rec->phases ? 2 : 0) + energy;
}

static void figures_write(const struct recording *rec, FILE *html)
{
	const struct pauses_sum sum = pauses_sum(rec, PAUSES_ALL);
	const bool energy = report_energy_is_known(rec);

	fprintf(html, "<dl class=\"figures of%zu\">\n", figures_count(rec, &sum, energy));
	figures_write_pauses(rec, &sum, html);
	if (rec->phases)
		figures_write_collections(rec, html);
	figures_write_cpu(rec, html);
	if (energy) {
		figure_begin(html, "energy in phases");
		report_energy_figure(rec, html);
		figure_end(html);
	}
	fputs("</dl>\n", html);
}

void report_name_programs(const struct recording *rec, char *buf, size_t size)
{
	const char *first = "";
	uint64_t most = 0;
	size_t others = 0;
	struct processes p;

	*buf = '\0';
	if (!processes_of(rec, &p))
		return;
	for (unsigned int g = 1; g <= p.nr; g++) {
		const uint64_t paused = pauses_sum(rec, p.tgid[g]).paused;

		if (*p.name[g] && (!*first || paused > most)) {
			first = p.name[g];
			most = paused;
		}
	}
	for (unsigned int g = 1; g <= p.nr; g++) {
		bool named = !*p.name[g] || !strcmp(p.name[g], first);

		for (unsigned int k = 1; k < g && !named; k++)
			named = !strcmp(p.name[k], p.name[g]);
		others += !named;
	}
	if (others)
		snprintf(buf, size, "%s and %zu more", first, others);
	else
		snprintf(buf, size, "%s", first);
	processes_free(&p);
}

static void headline_write(const struct recording *rec, FILE *html)
{
	char when[40];

	recording_began(rec, when, sizeof(when));
	fprintf(html, "<p class=\"sub\">%.2f s", (double)recording_duration(rec) / 1e9);
	if (rec->c1)
		fprintf(html, " (recorded: %.2f s)", (double)(rec->t1 - rec->t0) / 1e9);
	fputs(*rec->host ? " on " : "", html);
	escape_html(html, rec->host);
	fprintf(html, ", %s</p>\n", when);
}

/* Where the page shows what a finding is about, "" for the timeline as a whole. */
static const char *finding_place(const struct finding *f, const struct timeline *t)
{
	switch (f->type) {
	case FINDING_HEAP_FULL:
	case FINDING_LIVE_GROWS:
	case FINDING_FUTILE:
		return t->heaps ? "-time-heap" : "-time";
	case FINDING_CPU_WAIT:
		return "-time-collector";
	case FINDING_SLOW_CLOCK:
		return t->cpus ? "-time-cpus" : "-time";
	case FINDING_LONG_PAUSES:
	case FINDING_ASKED:
		return "-pauses";
	case FINDING_WAITS:
		return "-waits";
	case FINDING_SAFEPOINT:
		return "-phases";
	default:
		return "-time";
	}
}

/* As the first line of summary; each finding leads to its place. */
static void reasons_write(const struct recording *rec, size_t number, FILE *html)
{
	struct timeline t = { .rec = rec, .t0 = rec->t0, .t1 = rec->t1, .whole = REPORT_WHOLE };
	struct reasons reasons;

	if (!reasons_of(rec, &reasons) || !reasons.nr)
		return;
	timeline_choose(&t);
	fputs("<p class=\"reasons\">", html);
	for (size_t i = 0; i < reasons.nr; i++) {
		fprintf(html, "%s<a href=\"#run%zu%s\">", i ? "; " : "", number,
			finding_place(&reasons.found[i], &t));
		escape_html(html, reasons.found[i].text);
		fputs("</a>", html);
	}
	fputs(".</p>\n", html);
	if (reasons.advised) {
		fputs("<p class=\"advice\">Advice: ", html);
		escape_html(html, reasons.advice.text);
		fputs(".</p>\n", html);
	}
}

/* "150 ms", "2.5 us" */
static void duration_write(double ns, FILE *html)
{
	if (ns >= 1e6)
		fprintf(html, "%s ms", amount_digits(ns / 1e6, 3, AMOUNT_BUFFER));
	else
		fprintf(html, "%s us", amount_digits(ns / 1e3, 3, AMOUNT_BUFFER));
}

/* "power-0:energy-psys: its counter never moved." */
static void still_write(const struct recording *rec, FILE *html)
{
	bool any = false;

	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_rail *r = &rec->rail[i];
		const struct recording_series *s = recording_samples(rec, i);

		if (r->kind != RAIL_ENERGY || !s || !energy_is_still(s->sample, s->nr))
			continue;
		fputs(any ? ", " : "", html);
		escape_html(html, *r->label ? r->label : r->name);
		any = true;
	}
	fputs(any ? ": its counter never moved. " : "", html);
}

/* What is not drawn, and how fine the data is that can be zoomed to. */
static void timeline_write_notes(const struct recording *rec, size_t number, size_t windows,
				 FILE *html)
{
	struct timeline t = { .rec = rec, .t0 = rec->t0, .t1 = rec->t1, .whole = REPORT_WHOLE };
	const bool many = rec->phases > LANES_WHOLE;

	timeline_choose(&t);
	fputs("<p class=\"note\">", html);
	if ((!t.rails && !t.rails_rare) || !t.cpus)
		fprintf(html, "Not recorded: %s%s%s (<a href=\"#run%zu-sources\">why</a>). ",
			t.rails || t.rails_rare ? "" : "power",
			t.rails || t.rails_rare || t.cpus ? "" : " and ", t.cpus ? "" : "frequency",
			number);
	if (t.rails_still)
		still_write(rec, html);
	if (t.cpus && rec->cpus > t.cpus + t.cpus_left)
		fputs("Of each policy one CPU is drawn, for all of it have one frequency. ", html);
	if (t.cpus_left)
		fprintf(html, "Not drawn: %zu more policies. ", t.cpus_left);
	if (t.heaps_left)
		fprintf(html, "Not drawn: %zu more heaps. ", t.heaps_left);
	if (t.rails_rare)
		fprintf(html, "Not drawn: rails that were read less than %d times (%zu). ",
			ENERGY_READINGS, t.rails_rare);
	if (t.rails_left)
		fprintf(html, "Not drawn: %zu more rails; the table below has all. ", t.rails_left);
	if (rec->phases)
		fputs("The coloured height of a lane is the share of time in a phase. ", html);
	if (!timeline_is_whole(&t)) {
		fprintf(html,
			"Of a line of more than %zu points the plot has the first, lowest, "
			"highest and last of each ",
			REPORT_WHOLE);
		duration_write((double)(rec->t1 - rec->t0) / REPORT_CELLS, html);
		fputs(windows ? "; around each of the longest pauses it is finer. " : ". ", html);
	}
	if (many)
		fprintf(html,
			"Of more than %d phases it has their share of equal parts of the time%s.",
			LANES_WHOLE, windows ? ", and each phase around the longest pauses" : "");
	fputs("</p>\n", html);
}

/* The data from which the script draws. */
static void timeline_write(const struct recording *rec, size_t number,
			   const struct timeline_window *window, size_t windows, FILE *html)
{
	if (!*asset_dygraphs) {
		fputs("<p class=\"note\">Not drawn: gchintctl was built without dygraphs.</p>\n",
		      html);
		return;
	}
	fprintf(html, "<div class=\"timeline\" id=\"run%zu-time\">\n", number);
	fputs("<noscript><p class=\"note\">Not drawn: the page's scripts do not run here."
	      "</p></noscript>\n",
	      html);
	page_timeline(rec, window, windows, html);
	fputs("</div>\n", html);
	timeline_write_notes(rec, number, windows, html);
}

static void number_write(FILE *html, double v, int decimals)
{
	if (isfinite(v))
		fprintf(html, "<td class=\"more\">%.*f</td>", decimals, v);
	else
		fputs("<td class=\"more\">?</td>", html);
}

/* Which columns of the table of pauses have a value. */
struct pause_columns {
	bool mhz, wait, cpu, concurrent;
};

static void pause_write_row(const struct recording *rec, const struct pause *pause,
			    const struct pause_columns *has, const char *anchor, FILE *html)
{
	const struct recording_phase *p = pause->phase;
	const struct timeline_window shown = pause_find_window(rec, pause, 1);
	char name[48];

	fprintf(html,
		"<tr><td><a href=\"#%s\" data-from=\"%lld\" data-to=\"%lld\" data-at=\"%lld\">"
		"%.6f</a></td><td>%.3f</td><td class=\"left\">",
		anchor, US(shown.t0 - rec->t0), US(shown.t1 - rec->t0),
		US(pause->t0 + (pause->t1 - pause->t0) / 2 - rec->t0),
		recording_seconds(rec, pause->t0), MS(pause->t1 - pause->t0));
	plot_phase_write_dot(p->group, html);
	fprintf(html, "%s</td><td class=\"left\">%s</td>",
		phase_group_name(p->group, name, sizeof(name)), name_cause(p->cause));
	if (has->mhz) {
		number_write(html, pause->khz > 0 ? pause->khz / 1000 : NAN, 0);
		number_write(html, pause_at_top(pause), 3);
	}
	if (has->wait)
		number_write(html, pause_earlier(pause), 3);
	fputs("<td class=\"left more\">", html);
	escape_html(html, pause->comm);
	fputs(*pause->comm ? ", thread " : "thread ", html);
	if (p->tid)
		fprintf(html, "%d", p->tid);
	else
		fputs("not known", html);
	fputs(has->cpu && p->cpu < 0 ? ", CPU not known" : "", html);
	fputs(has->concurrent ? "</td><td class=\"left more\">" : "", html);
	for (size_t i = 0; i < pause->nr_concurrent; i++)
		fprintf(html, "%s%s", i ? "; " : "",
			phase_group_name(pause->concurrent[i], name, sizeof(name)));
	fputs(has->concurrent && !pause->nr_concurrent ? "none</td></tr>\n" : "</td></tr>\n", html);
}

/* Writes a table of the longest pauses, or waits; each row links to its time in the picture. */
static void report_stops(const struct recording *rec, const struct pause *pause, size_t n,
			 size_t number, FILE *html)
{
	struct pause_columns has = { 0 };
	char anchor[32];

	snprintf(anchor, sizeof(anchor), "run%zu-time", number);
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		has.mhz = has.mhz || pause[i].khz > 0;
		has.wait = has.wait || !pause[i].source;
		has.cpu = has.cpu || pause[i].phase->cpu >= 0;
		has.concurrent = has.concurrent || pause[i].nr_concurrent;
	}
	fprintf(html,
		"<h3 id=\"run%zu-%s\">%s</h3>\n<div class=\"scroll "
		"narrowed\"><table class=\"pauses\">"
		"<thead><tr><th>at (s)</th><th>length (ms)</th><th class=\"left\">phase</th>"
		"<th class=\"left\">cause</th>%s%s<th class=\"left more\">thread</th>"
		"%s</tr></thead><tbody>\n",
		number, has.wait ? "waits" : "pauses",
		has.wait ? "Longest waits of single threads" : "Longest pauses",
		has.mhz ? "<th class=\"more\">mean MHz</th><th class=\"more\">at the highest<br>"
			  "frequency (ms)</th>" :
			  "",
		has.wait ? "<th class=\"more\">begin earlier<br>by (ms)</th>" : "",
		has.concurrent ? "<th class=\"left more\">concurrent phases</th>" : "");
	for (size_t i = 0; i < n; i++)
		pause_write_row(rec, &pause[i], &has, anchor, html);
	fprintf(html,
		"</tbody></table></div>\n<p class=\"note\">The link of an instant leads to its "
		"place in the plot. %s%s%s</p>\n",
		has.mhz ? "At the highest frequency: the shortest length that the CPU's highest "
			  "frequency allows; it may take longer, because memory does not get "
			  "faster. " :
			  "",
		has.wait ? "Begin earlier by: how much earlier the collection had to begin for "
			   "the thread not to wait; other threads ran meanwhile. " :
			   "",
		has.concurrent ? "Concurrent phases: those of other threads." : "");
}

/* A process with a pause, or with phases alone. */
struct process_row {
	unsigned int group;
	struct pauses_sum sum;
	uint64_t phases;
};

static int by_paused(const void *a, const void *b)
{
	const struct process_row *x = a, *y = b;

	if (x->sum.paused != y->sum.paused)
		return x->sum.paused < y->sum.paused ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Writes the pauses of each process, of several. */
static void report_processes(const struct recording *rec, FILE *html)
{
	const double all = (double)recording_duration(rec);
	struct process_row row[PHASE_GROUPS];
	struct processes p;
	char name[48];

	if (!processes_of(rec, &p))
		return;
	for (unsigned int g = 1; g <= p.nr; g++)
		row[g - 1] = (struct process_row){ g, pauses_sum(rec, p.tgid[g]), 0 };
	for (size_t i = 0; i < rec->phases; i++)
		row[p.group[i] - 1].phases++;
	qsort(row, p.nr, sizeof(*row), by_paused);
	if (p.nr > 1)
		fputs("<h3>Processes</h3>\n<div class=\"scroll narrowed\"><table "
		      "class=\"processes\">"
		      "<thead><tr><th>process</th><th>paused</th><th>pauses</th>"
		      "<th>longest (ms)</th><th class=\"more\">median (ms)</th>"
		      "<th class=\"more\">99 % within (ms)</th><th class=\"more\">phases</th>"
		      "</tr></thead><tbody>\n",
		      html);
	for (size_t i = 0; p.nr > 1 && i < p.nr; i++) {
		const struct pauses_sum *sum = &row[i].sum;

		fputs("<tr><td>", html);
		escape_html(html, processes_name(&p, row[i].group, name, sizeof(name)));
		fprintf(html,
			"</td><td>%.2f&nbsp;%%</td><td>%zu</td><td>%.3f</td>"
			"<td class=\"more\">%.3f</td><td class=\"more\">%.3f</td>"
			"<td class=\"more\">%llu</td></tr>\n",
			100 * (double)sum->paused / all, sum->count, MS(sum->longest), MS(sum->p50),
			MS(sum->p99), (unsigned long long)row[i].phases);
	}
	fputs(p.nr > 1 ? "</tbody></table></div>\n" : "", html);
	processes_free(&p);
}

static void table_write_row(FILE *html, const char *key, const char *value)
{
	if (!*value)
		return;
	fprintf(html, "<tr><td>%s</td><td>", key);
	escape_html(html, value);
	fputs("</td></tr>\n", html);
}

static void table_write_query(const struct recording *rec, FILE *html, const char *sql)
{
	sqlite3_stmt *s = db_query(rec->db, sql);

	while (db_next(s)) {
		fputs("<tr><td>", html);
		escape_html(html, db_text(s, 0, "?"));
		fputs("</td><td>", html);
		escape_html(html, db_text(s, 1, "not known"));
		fputs("</td></tr>\n", html);
	}
	sqlite3_finalize(s);
}

/* Writes time, host, command, kernel, governors, sources and clocks of the recording. */
static void report_provenance(const struct recording *rec, size_t number, FILE *html)
{
	static const char *const metas[][2] = {
		{ "board", "board.model" },   { "host", "board.host" },
		{ "kernel", "board.kernel" }, { "machine", "board.machine" },
		{ "CPUs", "board.cpus" },     { "recorded by", "program" },
	};
	char text[256];

	fprintf(html,
		"<details id=\"run%zu-sources\"><summary>Where these numbers come from</summary>\n"
		"<table class=\"text\"><tbody>\n",
		number);
	table_write_row(html, "file", rec->path);
	recording_began(rec, text, sizeof(text));
	table_write_row(html, "recorded", text);
	table_write_query(
		rec, html,
		"SELECT 'command', coalesce((SELECT value FROM meta WHERE key = 'command'), "
		"substr(text, 8)) FROM annotations WHERE text LIKE 'start: %' "
		"ORDER BY t LIMIT 1");
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
		db_meta(rec->db, metas[i][1], text, sizeof(text));
		table_write_row(html, metas[i][0], text);
	}
	table_write_query(
		rec, html,
		"SELECT 'policy' || p.policy, 'CPUs ' || coalesce(p.cpus, '?') || ', ' || "
		"coalesce(p.driver, 'driver ?') || ', governor ' || "
		"coalesce(group_concat(DISTINCT s.governor), '?') || coalesce((SELECT "
		"', actuator ' || group_concat(DISTINCT a.actuator) FROM actuators a WHERE "
		"a.policy = p.policy), '') FROM policies p "
		"LEFT JOIN policy_states s USING(policy) GROUP BY p.policy");
	table_write_query(rec, html,
			  "SELECT 'source ' || name, state || ': ' || what FROM sources");
	table_write_query(rec, html,
			  "SELECT 'clock of ' || source, clock || coalesce(', within ' || "
			  "round(error_ns / 1e3, 1) || ' us', '') || ': ' || how FROM clocks");
	table_write_query(rec, html,
			  "SELECT 'dropped by ' || source, sum(count) || ': ' || why FROM drops "
			  "GROUP BY source, why");
	if (cost_format(rec->db, text, sizeof(text)))
		table_write_row(html, "cost of recording", text);
	fputs("</tbody></table></details>\n", html);
}

void report_mmu(struct recording *const *rec, size_t runs, FILE *html)
{
	bool any = false;

	for (size_t i = 0; i < runs; i++)
		any = any || rec[i]->pauses;
	if (!any) {
		fputs("<p class=\"note\">Minimum mutator utilisation is not drawn: no pause was "
		      "recorded.</p>\n",
		      html);
		return;
	}
	fputs("<h3>Minimum mutator utilisation</h3>\n", html);
	plot_mmu(rec, runs, html);
	fputs("<p class=\"note\">The least share of any window of that length that the mutators "
	      "had to themselves. Higher and further left is better; where a curve leaves 0 is "
	      "its longest pause.</p>\n",
	      html);
}

static void report_residency(const struct recording *rec, const struct plot_scale *scale,
			     FILE *html)
{
	if (!recording_has_frequency(rec))
		return;
	fputs("<h3>Frequency by phase</h3>\n", html);
	if (plot_residency(rec, scale, html))
		fputs("<p class=\"note\">Share of the time. Of a phase: the frequency of the CPU "
		      "on which it began. Outside: all CPUs.</p>\n",
		      html);
	else
		fputs("<p class=\"note\">Not known: no frequency was recorded for long enough."
		      "</p>\n",
		      html);
}

/* The label; of a recording without one the file's name, without its directories. */
static const char *recording_title(const struct recording *rec)
{
	const char *slash = strrchr(rec->path, '/');

	return slash && !strcmp(rec->label, rec->path) ? slash + 1 : rec->label;
}

void report_run(struct recording *rec, size_t number, const struct plot_scale *scale, bool alone,
		FILE *html)
{
	struct timeline_window window[2 * LINES];
	struct pauses_list list;
	size_t windows = 0;

	pauses_longest(rec, alone ? LINES : LINES / 2, &list);
	fprintf(html, "<section id=\"run%zu\">\n<h2>", number);
	escape_html(html, recording_title(rec));
	fputs("</h2>\n", html);
	headline_write(rec, html);
	reasons_write(rec, number, html);
	figures_write(rec, html);
	fputs("<h3>Over time</h3>\n", html);
	for (size_t i = 0; i < list.pauses; i++)
		window[windows++] = pause_find_window(rec, &list.pause[i], 2);
	for (size_t i = 0; i < list.waits; i++)
		window[windows++] = pause_find_window(rec, &list.wait[i], 2);
	windows = timeline_merge_windows(window, windows);
	timeline_write(rec, number, window, windows, html);
	report_stops(rec, list.pause, list.pauses, number, html);
	report_stops(rec, list.wait, list.waits, number, html);
	pauses_list_free(&list);
	report_processes(rec, html);
	fprintf(html, "<h3 id=\"run%zu-phases\">Phases</h3>\n", number);
	phase_table(rec, html);
	methods_write_html(rec, html);
	report_energy(rec, html);
	report_residency(rec, scale, html);
	if (alone)
		report_mmu(&rec, 1, html);
	report_provenance(rec, number, html);
	fputs("</section>\n", html);
}
