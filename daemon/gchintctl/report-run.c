// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "../common/escape.h"
#include "asset.h"
#include "db.h"
#include "energy.h"
#include "pauses.h"
#include "plot.h"
#include "report.h"

#define MS(ns) ((double)(ns) / 1e6)

static bool present(const struct run *run, unsigned int group)
{
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].group == group)
			return true;
	return false;
}

static void legend(const struct run *run, FILE *html)
{
	char name[48];

	fputs("<p class=\"legend\">", html);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++)
		if (present(run, g))
			fprintf(html,
				"<span class=\"item\"><span class=\"dot\" style=\"background:%s\">"
				"</span>%s</span>",
				plot_phase_colour(g), run_group_name(g, name, sizeof(name)));
	fputs("</p>\n", html);
}

/* A stretch around the longest pause, or the longest phase if there is no pause. */
static bool close_up(const struct run *run, uint64_t *t0, uint64_t *t1)
{
	const struct run_phase *longest = NULL;
	uint64_t span = run->t1 - run->t0, width = 1000000000ull, middle;

	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		if (!longest || (p->stw && !longest->stw) ||
		    (p->stw == longest->stw && p->t1 - p->t0 > longest->t1 - longest->t0))
			longest = p;
	}
	if (!longest)
		return false;
	if (width < 3 * (longest->t1 - longest->t0))
		width = 3 * (longest->t1 - longest->t0);
	if (width > span / 3)
		return false;
	middle = longest->t0 + (longest->t1 - longest->t0) / 2;
	*t0 = middle > run->t0 + width / 2 ? middle - width / 2 : run->t0;
	*t1 = *t0 + width < run->t1 ? *t0 + width : run->t1;
	return true;
}

static void phase_table(const struct run *run, FILE *html)
{
	char name[48];

	if (!run->phases) {
		fputs("<p class=\"missing\">No phase was seen: is the module loaded, does the "
		      "program "
		      "give hints?</p>\n",
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
			"<p class=\"note\">%zu phases were still running at the end; %zu have an "
			"uncertain end, because events were lost meanwhile.</p>\n",
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

static void energy_table(const struct run *run, FILE *html)
{
	struct energy *e = calloc(run->rails + 1, sizeof(*e));
	const struct run_rail **rail = calloc(run->rails + 1, sizeof(*rail));
	char name[48], source[64];
	size_t columns = 0;
	bool modelled;

	if (!e || !rail) {
		db_missing(run->path, "no memory for its energy");
		goto free_all;
	}
	for (size_t i = 0; i < run->rails; i++)
		if (energy_of(run, i, &e[columns]))
			rail[columns++] = &run->rail[i];
	modelled = energy_modelled(run, &e[columns], source, sizeof(source));
	fputs("<h3>Energy by phase (J)</h3>\n", html);
	if (!columns && !modelled) {
		fputs("<p class=\"missing\">No rail was measured and no OPP has a power: energy is "
		      "not known.</p>\n",
		      html);
		goto free_all;
	}
	fputs("<div class=\"scroll\"><table><thead><tr><th>phase</th>", html);
	for (size_t c = 0; c < columns; c++) {
		fputs("<th>", html);
		escape_html(html, *rail[c]->label ? rail[c]->label : rail[c]->name);
		fprintf(html, "<br>%s</th>", run_rail_how(rail[c]));
	}
	fputs(modelled ? "<th>OPP table<br>modelled</th></tr></thead><tbody>\n" :
			 "</tr></thead><tbody>\n",
	      html);
	for (unsigned int g = 0; g < RUN_GROUPS; g++) {
		if (g ? !present(run, g) : !columns)
			continue;
		fprintf(html, "<tr><td><span class=\"dot\" style=\"background:%s\"></span>%s</td>",
			plot_phase_colour(g), run_group_name(g, name, sizeof(name)));
		for (size_t c = 0; c < columns; c++)
			energy_cell(&e[c].part[g], true, html);
		if (modelled)
			energy_cell(&e[columns].part[g], false, html);
		fputs("</tr>\n", html);
	}
	fputs("<tr><td><b>whole run</b></td>", html);
	for (size_t c = 0; c < columns; c++)
		fprintf(html, "<td><b>%.4f</b></td>", e[c].total);
	fputs(modelled ? "<td>phases only</td></tr>\n" : "</tr>\n", html);
	fputs("</tbody></table></div>\n<p class=\"note\">", html);
	for (size_t c = 0; c < columns; c++) {
		escape_html(html, rail[c]->name);
		fputs(": ", html);
		escape_html(html, rail[c]->source);
		fputs(*rail[c]->derived ? ", " : "", html);
		escape_html(html, rail[c]->derived);
		fprintf(html,
			", a sample every %.1f ms (%zu, of which %zu not known), mean %.3f W. ",
			MS(e[c].interval_ns), e[c].samples, e[c].unknown, e[c].mean_w);
	}
	if (columns)
		fputs("Between two readings of a counter only the sum is known: a phase gets its "
		      "share by time, and took no less and no more than the brackets say. Between "
		      "two readings of a power meter nothing is: the brackets say how much of the "
		      "phases' time lies in intervals that they have whole. ?: not resolved, the "
		      "phases are short against the time between two readings. ",
		      html);
	if (modelled) {
		fputs("Modelled: power of each OPP from ", html);
		escape_html(html, source);
		fputs(" times the phase's time at it, its CPU taken to be busy.", html);
	}
	fputs("</p>\n", html);
free_all:
	free(rail);
	free(e);
}

static void headline(const struct run *run, FILE *html)
{
	const struct pauses_sum sum = pauses_sum(run);

	fprintf(html, "<p class=\"sub\">%.2f s", (double)run_duration(run) / 1e9);
	if (run->c1)
		fprintf(html, " (recorded: %.2f s)", (double)(run->t1 - run->t0) / 1e9);
	fprintf(html, ", %zu phases", run->phases);
	if (sum.count)
		fprintf(html, ", %zu pauses, together %.1f ms, longest %.2f ms", sum.count,
			MS(sum.paused), MS(sum.longest));
	fputs("</p>\n", html);
}

/* The picture, and behind it what the script draws in its place. */
static int timeline(const struct run *run, const char *anchor, uint64_t t0, uint64_t t1, FILE *html)
{
	int ret;

	fprintf(html, "<div class=\"timeline\" id=\"%s\">\n<div class=\"still\">\n", anchor);
	legend(run, html);
	ret = plot_timeline(run, t0, t1, html);
	fputs("</div>\n", html);
	if (*asset_dygraphs)
		page_timeline(run, t0, t1, html);
	fputs("</div>\n", html);
	return ret;
}

int report_run(const struct run *run, size_t number, const struct plot_scale *scale, FILE *html)
{
	char anchor[32], close[32];
	uint64_t t0, t1;
	int ret = 0, r;

	fprintf(html, "<section id=\"run%zu\">\n<h2>", number);
	escape_html(html, run->label);
	fputs("</h2>\n", html);
	headline(run, html);
	fputs("<h3>Over time</h3>\n", html);
	snprintf(anchor, sizeof(anchor), "run%zu-time", number);
	ret = timeline(run, anchor, run->t0, run->t1, html);
	if (close_up(run, &t0, &t1)) {
		fprintf(html, "<h3>Around the longest pause</h3>\n");
		snprintf(close, sizeof(close), "run%zu-close", number);
		r = timeline(run, close, t0, t1, html);
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
	energy_table(run, html);
	report_provenance(run, html);
	fputs("</section>\n", html);
	return ret;
}
