// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "../../common/escape.h"
#include "../../common/names.h"
#include "../recording/cost.h"
#include "../recording/db.h"
#include "../recording/energy.h"
#include "../recording/pauses.h"
#include "../recording/processes.h"
#include "asset.h"
#include "attributed.h"
#include "plot.h"
#include "report.h"

#define LINES  12 /* of the table of pauses */
#define MS(ns) ((double)(ns) / 1e6)
#define US(ns) ((long long)(ns) / 1000)

static bool phase_is_present(const struct run *run, unsigned int group)
{
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].group == group)
			return true;
	return false;
}

static void legend_write(const struct run *run, FILE *html)
{
	char name[48];

	fputs("<p class=\"legend\">", html);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++)
		if (phase_is_present(run, g))
			fprintf(html,
				"<span class=\"item\"><span class=\"dot\" style=\"background:%s\">"
				"</span>%s</span>",
				plot_phase_colour(g), run_group_name(g, name, sizeof(name)));
	fputs("</p>\n", html);
}

/*
 * Finds a span around the longest pause, or the longest phase if there is no pause. Returns false
 * if there is no phase, or if the span would be more than a third of the recording.
 */
static bool close_up_find(const struct run *run, uint64_t *t0, uint64_t *t1)
{
	uint64_t span = run->t1 - run->t0, width = 1000000000ull, longest = 0, from = 0;

	for (size_t i = 0; i < run->pauses; i++)
		if (run->pause[i].t1 - run->pause[i].t0 > longest) {
			from = run->pause[i].t0;
			longest = run->pause[i].t1 - from;
		}
	for (size_t i = 0; !run->pauses && i < run->phases; i++)
		if (run->phase[i].t1 - run->phase[i].t0 > longest) {
			from = run->phase[i].t0;
			longest = run->phase[i].t1 - from;
		}
	if (!longest)
		return false;
	if (width < 3 * longest)
		width = 3 * longest;
	if (width > span / 3)
		return false;
	from += longest / 2;
	*t0 = from > run->t0 + width / 2 ? from - width / 2 : run->t0;
	*t1 = *t0 + width < run->t1 ? *t0 + width : run->t1;
	return true;
}

static void phase_table(const struct run *run, FILE *html)
{
	char name[48];

	if (!run->phases) {
		fputs("<p class=\"missing\">No phase was recorded. Is the module loaded, and does "
		      "the program give hints?</p>\n",
		      html);
		return;
	}
	fputs("<div class=\"scroll\"><table><thead><tr><th>phase</th><th>count</th><th>total "
	      "ms</th>"
	      "<th>share</th><th>mean ms</th><th>p50 ms</th><th>p95 ms</th><th>longest ms</th>"
	      "<th>mean MHz</th></tr></thead><tbody>\n",
	      html);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		struct run_lengths l;

		run_lengths(run, g, &l);
		if (!l.count)
			continue;
		fprintf(html,
			"<tr><td><span class=\"dot\" "
			"style=\"background:%s\"></span>%s</td><td>%zu</td>"
			"<td>%.2f</td><td>%.1f&nbsp;%%</td><td>%.3f</td><td>%.3f</td><td>%.3f</td>"
			"<td>%.3f</td>",
			plot_phase_colour(g), run_group_name(g, name, sizeof(name)), l.count,
			MS(l.total), 100.0 * (double)l.total / (double)run_duration(run),
			MS(l.mean), MS(l.p50), MS(l.p95), MS(l.max));
		if (l.khz > 0)
			fprintf(html, "<td>%.0f</td></tr>\n", l.khz / 1000);
		else
			fputs("<td>?</td></tr>\n", html);
	}
	fputs("</tbody></table></div>\n", html);
	if (run->open || run->uncertain)
		fprintf(html,
			"<p class=\"note\">Left out, because their end is not known: %zu phases "
			"that were still running at the end, %zu during which events were "
			"lost.</p>\n",
			run->open, run->uncertain);
}

static void energy_cell(const struct energy_part *p, bool measured, FILE *html)
{
	if (!p->ns && p->unknown_ns) {
		fputs("<td title=\"the rail was not known\">?</td>", html);
		return;
	}
	if (!p->ns) {
		fputs("<td></td>", html);
		return;
	}
	if (!measured) {
		fprintf(html, "<td>%.4f</td>", p->joules);
		return;
	}
	if (energy_resolved(p))
		fprintf(html, "<td>%.4f", p->joules);
	else
		fputs("<td title=\"not resolved: short against the time between two readings\">?",
		      html);
	if (isfinite(p->high))
		fprintf(html, " <span class=\"pm\">(%.4f&nbsp;to&nbsp;%.4f)</span></td>", p->low,
			p->high);
	else
		fprintf(html, " <span class=\"pm\">(%.0f&nbsp;%% whole)</span></td>",
			100 * (double)p->whole_ns / (double)p->ns);
}

/* A column of the energy tables: one rail, or the sum of the rails that feed one core each. */
struct column {
	struct energy e;
	const struct run_rail *rail;
};

static const char *column_name(const struct column *c)
{
	if (*c->rail->cpus)
		return "all cores";
	return *c->rail->label ? c->rail->label : c->rail->name;
}

/* Returns the number of columns; @column has one element more than there are rails. */
static size_t columns_load(const struct run *run, const uint16_t *group, struct column *column)
{
	const struct run_rail *core = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < run->rails; i++) {
		if (*run->rail[i].cpus) {
			core = core ? core : &run->rail[i];
			continue;
		}
		column[nr].rail = &run->rail[i];
		nr += energy_of(run, i, group, &column[nr].e);
	}
	if (core && energy_of_cores(run, group, &column[nr].e))
		column[nr++].rail = core;
	return nr;
}

static void energy_head(const char *what, const struct column *column, size_t columns, FILE *html)
{
	fprintf(html, "<div class=\"scroll\"><table><thead><tr><th>%s</th>", what);
	for (size_t c = 0; c < columns; c++) {
		fputs("<th>", html);
		escape_html(html, column_name(&column[c]));
		fprintf(html, "<br>%s</th>", run_rail_how(column[c].rail));
	}
}

static void sensor_write(const struct column *c, FILE *html)
{
	const struct energy_limits *l = &c->rail->limits;

	escape_html(html, *c->rail->cpus ? "all cores" : c->rail->name);
	fputs(": ", html);
	escape_html(html, c->rail->source);
	fputs(*c->rail->derived ? ", " : "", html);
	escape_html(html, c->rail->derived);
	fprintf(html, ", a sample every %.1f ms", MS(c->e.interval_ns));
	if (!*c->rail->cpus)
		fprintf(html, " (%zu, of which %zu not known)", c->e.samples, c->e.unknown);
	fprintf(html, ", mean %.3f W", c->e.mean_w);
	if (l->update_ns)
		fprintf(html, ", counts on about every %.1f ms, which its bounds allow for",
			MS(l->update_ns));
	if (l->wraps > 0)
		fprintf(html, ", begins anew after %.0f J", l->wraps);
	if (c->e.wrapped)
		fprintf(html, ", perhaps twice in %zu intervals, which are not known",
			c->e.wrapped);
	fputs(". ", html);
}

static void energy_notes(const struct column *column, size_t columns, const char *modelled,
			 FILE *html)
{
	fputs("</tbody></table></div>\n<p class=\"note\">", html);
	for (size_t c = 0; c < columns; c++)
		sensor_write(&column[c], html);
	if (columns)
		fputs("Between two readings of a counter only the sum is known: a phase gets its "
		      "share by time, and the brackets are its lower and upper bound. Between two "
		      "readings of a power meter nothing is known: the brackets are the part of "
		      "the phases' time in intervals that phases fill entirely. ?: not resolved, "
		      "because the phases are shorter than the interval between two readings. ",
		      html);
	if (modelled) {
		fputs("Modelled: power of each OPP from ", html);
		escape_html(html, modelled);
		fputs(" times the phase's time at it, its CPU taken to be busy.", html);
	}
	fputs("</p>\n", html);
}

static void energy_by_phase(const struct run *run, const struct column *column, size_t columns,
			    FILE *html)
{
	char name[48], source[64];
	struct energy model;
	bool modelled = energy_modelled(run, &model, source, sizeof(source));

	fputs("<h3>Energy while phases were open (J)</h3>\n", html);
	if (!columns && !modelled) {
		fputs("<p class=\"missing\">No rail was measured and no OPP has a power: energy is "
		      "not known.</p>\n",
		      html);
		return;
	}
	energy_head("phase", column, columns, html);
	fputs(modelled ? "<th>OPP table<br>modelled</th></tr></thead><tbody>\n" :
			 "</tr></thead><tbody>\n",
	      html);
	for (unsigned int g = 0; g < RUN_GROUPS; g++) {
		if (g ? !phase_is_present(run, g) : !columns)
			continue;
		fprintf(html, "<tr><td><span class=\"dot\" style=\"background:%s\"></span>%s</td>",
			plot_phase_colour(g), run_group_name(g, name, sizeof(name)));
		for (size_t c = 0; c < columns; c++)
			energy_cell(&column[c].e.part[g], true, html);
		if (modelled)
			energy_cell(&model.part[g], false, html);
		fputs("</tr>\n", html);
	}
	fputs("<tr><td><b>whole run</b></td>", html);
	for (size_t c = 0; c < columns; c++)
		fprintf(html, "<td><b>%.4f</b></td>", column[c].e.total);
	fputs(modelled ? "<td>phases only</td></tr>\n" : "</tr>\n", html);
	energy_notes(column, columns, modelled ? source : NULL, html);
}

static void energy_by_process(const struct run *run, struct column *column, FILE *html)
{
	struct processes p;
	char name[48];
	size_t columns;

	if (!processes_of(run, &p))
		return;
	columns = p.nr > 1 ? columns_load(run, p.group, column) : 0;
	if (columns) {
		fputs("<h3>Energy by process, in its phases (J)</h3>\n", html);
		energy_head("process", column, columns, html);
		fputs("</tr></thead><tbody>\n", html);
		for (unsigned int g = 1; g <= p.nr; g++) {
			fputs("<tr><td>", html);
			escape_html(html, processes_name(&p, g, name, sizeof(name)));
			fputs("</td>", html);
			for (size_t c = 0; c < columns; c++)
				energy_cell(&column[c].e.part[g], true, html);
			fputs("</tr>\n", html);
		}
		fputs("</tbody></table></div>\n", html);
	}
	processes_free(&p);
}

/* Only for boards with one rail per core. */
static void energy_by_core(const struct run *run, FILE *html)
{
	struct energy_part in;
	struct energy e;
	bool any = false;

	for (size_t i = 0; i < run->rails; i++) {
		if (!*run->rail[i].cpus || !energy_of(run, i, NULL, &e))
			continue;
		if (!any)
			fputs("<h3>Energy by core (J)</h3>\n<div class=\"scroll\"><table><thead>"
			      "<tr><th>core</th><th>whole run</th><th>mean W</th><th>in phases</th>"
			      "</tr></thead><tbody>\n",
			      html);
		any = true;
		fputs("<tr><td>CPU ", html);
		escape_html(html, run->rail[i].cpus);
		fprintf(html, "</td><td>%.4f</td><td>%.3f</td>", e.total, e.mean_w);
		in = energy_inside(&e);
		energy_cell(&in, true, html);
		fputs("</tr>\n", html);
	}
	if (any)
		fputs("</tbody></table></div>\n<p class=\"note\">Each core's rail by the phases "
		      "that began on its CPUs; a thread that moved meanwhile still counts "
		      "there.</p>\n",
		      html);
}

static void energy_tables(const struct run *run, FILE *html)
{
	struct column *column = calloc(run->rails + 1, sizeof(*column));

	if (!column) {
		db_missing(run->path, "no memory for its energy");
		return;
	}
	energy_by_phase(run, column, columns_load(run, NULL, column), html);
	attributed_print_html(run, html);
	energy_by_core(run, html);
	energy_by_process(run, column, html);
	free(column);
}

static void headline_write(const struct run *run, FILE *html)
{
	const struct pauses_sum sum = pauses_sum(run, PAUSES_ALL);

	fprintf(html, "<p class=\"sub\">%.2f s", (double)run_duration(run) / 1e9);
	if (run->c1)
		fprintf(html, " (recorded: %.2f s)", (double)(run->t1 - run->t0) / 1e9);
	fprintf(html, ", %zu phases", run->phases);
	if (sum.count)
		fprintf(html, ", %zu pauses, together %.1f ms, longest %.2f ms", sum.count,
			MS(sum.paused), MS(sum.longest));
	fputs("</p>\n", html);
}

/* The picture, and after it the data from which the script draws its replacement. */
static int timeline_write(const struct run *run, const char *anchor, uint64_t t0, uint64_t t1,
			  FILE *html)
{
	int ret;

	fprintf(html, "<div class=\"timeline\" id=\"%s\">\n<div class=\"still\">\n", anchor);
	legend_write(run, html);
	ret = plot_timeline(run, t0, t1, html);
	fputs("</div>\n", html);
	if (*asset_dygraphs)
		page_timeline(run, t0, t1, html);
	fputs("</div>\n", html);
	return ret;
}

static void number_write(FILE *html, double v, int decimals)
{
	if (isfinite(v))
		fprintf(html, "<td>%.*f</td>", decimals, v);
	else
		fputs("<td>?</td>", html);
}

static void pause_write_row(const struct run *run, const struct pause *pause, const char *anchor,
			    FILE *html)
{
	const struct run_phase *p = pause->phase;
	char name[48];

	fprintf(html,
		"<tr><td><a href=\"#%s\" data-from=\"%lld\" data-to=\"%lld\">%.6f</a></td>"
		"<td>%.3f</td><td class=\"left\"><span class=\"dot\" "
		"style=\"background:%s\"></span>%s</td><td class=\"left\">%s</td>",
		anchor, US(pause->t0 - run->t0), US(pause->t1 - run->t0), run_seconds(run, pause->t0),
		MS(pause->t1 - pause->t0), plot_phase_colour(p->group),
		run_group_name(p->group, name, sizeof(name)), name_cause(p->cause));
	number_write(html, pause->khz > 0 ? pause->khz / 1000 : NAN, 0);
	number_write(html, pause_at_top(pause), 3);
	if (pause->source)
		fputs("<td>-</td>", html);
	else
		number_write(html, pause_earlier(pause), 3);
	fputs("<td class=\"left\">", html);
	escape_html(html, pause->comm);
	fputs(*pause->comm ? ", thread " : "thread ", html);
	if (p->tid)
		fprintf(html, "%d", p->tid);
	else
		fputs("not known", html);
	fprintf(html, "%s</td><td class=\"left\">", p->cpu < 0 ? ", CPU not known" : "");
	for (size_t i = 0; i < pause->nr_concurrent; i++)
		fprintf(html, "%s%s", i ? "; " : "",
			run_group_name(pause->concurrent[i], name, sizeof(name)));
	fputs(pause->nr_concurrent ? "</td></tr>\n" : "none</td></tr>\n", html);
}

/* Writes a table of the longest pauses; each row links to its time in the picture @anchor. */
static void report_pauses(const struct run *run, const char *anchor, FILE *html)
{
	struct pause *pause;
	size_t n;

	pause = pauses_longest(run, LINES, &n);
	if (pause && n) {
		fputs("<h3>Longest pauses</h3>\n<div class=\"scroll\"><table class=\"pauses\">"
		      "<thead><tr><th>at (s)</th><th>length (ms)</th><th class=\"left\">phase</th>"
		      "<th class=\"left\">cause</th><th>mean MHz</th><th>at top "
		      "(ms)</th><th>earlier (ms)</th>"
		      "<th class=\"left\">thread</th><th class=\"left\">concurrent "
		      "phases</th></tr></thead>"
		      "<tbody>\n",
		      html);
		for (size_t i = 0; i < n; i++)
			pause_write_row(run, &pause[i], anchor, html);
		fputs("</tbody></table></div>\n<p class=\"note\">At top: shortest length that the "
		      "highest frequency of the CPU allows, because memory does not get faster. "
		      "Earlier: how much earlier the collection had to begin to avoid the wait. "
		      "Concurrent phases: those of other threads. The link of an instant leads to "
		      "its place in the picture.</p>\n",
		      html);
	}
	free(pause);
}

static void table_write_row(FILE *html, const char *key, const char *value)
{
	if (!*value)
		return;
	fprintf(html, "<tr><td>%s</td><td>", key);
	escape_html(html, value);
	fputs("</td></tr>\n", html);
}

static void table_write_query(const struct run *run, FILE *html, const char *sql)
{
	sqlite3_stmt *s = db_query(run->db, sql);

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
static void report_provenance(const struct run *run, FILE *html)
{
	static const char *const metas[][2] = {
		{ "board", "board.model" },   { "host", "board.host" },
		{ "kernel", "board.kernel" }, { "machine", "board.machine" },
		{ "CPUs", "board.cpus" },     { "recorded by", "program" },
	};
	char text[256];

	fputs("<details open><summary>Where these numbers come from</summary>\n"
	      "<table class=\"text\"><tbody>\n",
	      html);
	table_write_row(html, "file", run->path);
	run_began(run, text, sizeof(text));
	table_write_row(html, "recorded", text);
	table_write_query(
		run, html,
		"SELECT 'command', coalesce((SELECT value FROM meta WHERE key = 'command'), "
		"substr(text, 8)) FROM annotations WHERE text LIKE 'start: %' "
		"ORDER BY t LIMIT 1");
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
		db_meta(run->db, metas[i][1], text, sizeof(text));
		table_write_row(html, metas[i][0], text);
	}
	table_write_query(
		run, html,
		"SELECT 'policy' || p.policy, 'CPUs ' || coalesce(p.cpus, '?') || ', ' || "
		"coalesce(p.driver, 'driver ?') || ', governor ' || "
		"coalesce(group_concat(DISTINCT s.governor), '?') || coalesce((SELECT "
		"', actuator ' || group_concat(DISTINCT a.actuator) FROM actuators a WHERE "
		"a.policy = p.policy), '') FROM policies p "
		"LEFT JOIN policy_states s USING(policy) GROUP BY p.policy");
	table_write_query(run, html,
			  "SELECT 'source ' || name, state || ': ' || what FROM sources");
	table_write_query(run, html,
			  "SELECT 'clock of ' || source, clock || coalesce(', within ' || "
			  "round(error_ns / 1e3, 1) || ' us', '') || ': ' || how FROM clocks");
	table_write_query(run, html,
			  "SELECT 'dropped by ' || source, sum(count) || ': ' || why FROM drops "
			  "GROUP BY source, why");
	if (cost_format(run->db, text, sizeof(text)))
		table_write_row(html, "cost of recording", text);
	fputs("</tbody></table></details>\n", html);
}

int report_run(const struct run *run, size_t number, const struct plot_scale *scale, FILE *html)
{
	char anchor[32], close[32];
	uint64_t t0, t1;
	int ret = 0, r;

	fprintf(html, "<section id=\"run%zu\">\n<h2>", number);
	escape_html(html, run->label);
	fputs("</h2>\n", html);
	headline_write(run, html);
	fputs("<h3>Over time</h3>\n", html);
	snprintf(anchor, sizeof(anchor), "run%zu-time", number);
	ret = timeline_write(run, anchor, run->t0, run->t1, html);
	if (close_up_find(run, &t0, &t1)) {
		fprintf(html, "<h3>Around the longest pause</h3>\n");
		snprintf(close, sizeof(close), "run%zu-close", number);
		r = timeline_write(run, close, t0, t1, html);
		ret = ret ? ret : r;
	}
	fputs("<h3>Phases</h3>\n", html);
	phase_table(run, html);
	report_pauses(run, anchor, html);
	fputs("<h3>Frequency by phase</h3>\n", html);
	r = plot_residency(run, scale, html);
	ret = ret ? ret : r;
	fputs("<p class=\"note\">Of a phase: the frequency of the CPU on which it began. Outside: "
	      "all "
	      "CPUs.</p>\n",
	      html);
	energy_tables(run, html);
	report_provenance(run, html);
	fputs("</section>\n", html);
	return ret;
}
