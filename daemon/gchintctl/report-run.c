// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "../common/escape.h"
#include "db.h"
#include "energy.h"
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
			MS(l.total), 100.0 * (double)l.total / (double)(run->t1 - run->t0),
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
	if (!p->ns && p->unknown_ns)
		fputs("<td title=\"the rail was not known\">?</td>", html);
	else if (!p->ns)
		fputs("<td></td>", html);
	else if (!measured)
		fprintf(html, "<td>%.4f</td>", p->joules);
	else
		fprintf(html, "<td%s>%.4f <span class=\"pm\">&plusmn;&nbsp;%.4f</span></td>",
			p->error > p->joules / 2 ? " class=\"weak\" title=\"not resolved: the "
						   "phases are short against "
						   "the sampling period\"" :
						   "",
			p->joules, p->error);
}

/* A run has few rails that tell energy; the table has a column for each. */
#define ENERGY_COLUMNS 6

static void energy_table(const struct run *run, FILE *html)
{
	struct energy *e = calloc(ENERGY_COLUMNS + 1, sizeof(*e));
	const struct run_rail *rail[ENERGY_COLUMNS];
	char name[48], source[64];
	size_t columns = 0;
	bool modelled;

	if (!e)
		return;
	for (size_t i = 0; i < run->rails && columns < ENERGY_COLUMNS; i++)
		if (energy_of(run, &run->rail[i], &e[columns]))
			rail[columns++] = &run->rail[i];
	modelled = energy_modelled(run, &e[columns], source, sizeof(source));
	fputs("<h3>Energy by phase (J)</h3>\n", html);
	if (!columns && !modelled) {
		fputs("<p class=\"missing\">No rail was measured and no OPP has a power: energy is "
		      "not known.</p>\n",
		      html);
		free(e);
		return;
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
		fputs("Between two samples only the sum is known: a phase gets its share by time; "
		      "&plusmn; is how far off that can be at most, given the rail's lowest and "
		      "highest power. "
		      "Grey: not resolved at this sampling period. ",
		      html);
	if (modelled) {
		fputs("Modelled: power of each OPP from ", html);
		escape_html(html, source);
		fputs(" times the phase's time at it, its CPU taken to be busy.", html);
	}
	fputs("</p>\n", html);
	free(e);
}

static void row(FILE *html, const char *key, const char *value)
{
	if (!*value)
		return;
	fprintf(html, "<tr><td>%s</td><td>", key);
	escape_html(html, value);
	fputs("</td></tr>\n", html);
}

static void rows(const struct run *run, FILE *html, const char *sql)
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

static void provenance(const struct run *run, FILE *html)
{
	static const char *const metas[][2] = {
		{ "board", "board.model" },   { "host", "board.host" },
		{ "kernel", "board.kernel" }, { "machine", "board.machine" },
		{ "CPUs", "board.cpus" },     { "recorded by", "program" },
	};
	char text[256];

	fputs("<details><summary>Where these numbers come from</summary>\n"
	      "<table class=\"text\"><tbody>\n",
	      html);
	row(html, "file", run->path);
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
		db_meta(run->db, metas[i][1], text, sizeof(text));
		row(html, metas[i][0], text);
	}
	rows(run, html,
	     "SELECT 'policy' || p.policy, 'CPUs ' || coalesce(p.cpus, '?') || ', ' || "
	     "coalesce(p.driver, 'driver ?') || ', governor ' || "
	     "coalesce(group_concat(DISTINCT s.governor), '?') FROM policies p "
	     "LEFT JOIN policy_states s USING(policy) GROUP BY p.policy");
	rows(run, html, "SELECT 'source ' || name, state || ': ' || what FROM sources");
	rows(run, html,
	     "SELECT 'clock of ' || source, clock || coalesce(', within ' || "
	     "round(error_ns / 1e3, 1) || ' us', '') || ': ' || how FROM clocks");
	rows(run, html,
	     "SELECT 'dropped by ' || source, sum(count) || ': ' || why FROM drops "
	     "GROUP BY source, why");
	rows(run, html,
	     "SELECT 'cost of recording', round(100.0 * (max(cpu_ns) - min(cpu_ns)) / "
	     "(max(t) - min(t)), 2) || ' % of one CPU, ' || round((max(wakeups) - "
	     "min(wakeups)) * 1e9 / (max(t) - min(t)), 1) || ' wake-ups a second, ' || "
	     "max(rss_kib) || ' KiB' FROM costs HAVING count(*) > 1");
	fputs("</tbody></table></details>\n", html);
}

static void headline(const struct run *run, FILE *html)
{
	uint64_t longest = 0, paused = 0;
	size_t pauses = 0;

	for (size_t i = 0; i < run->phases; i++) {
		uint64_t ns = run->phase[i].t1 - run->phase[i].t0;

		if (!run->phase[i].stw)
			continue;
		pauses++;
		paused += ns;
		longest = ns > longest ? ns : longest;
	}
	fprintf(html, "<p class=\"sub\">%.2f s, %zu phases", (double)(run->t1 - run->t0) / 1e9,
		run->phases);
	if (pauses)
		fprintf(html, ", %zu pauses, together %.1f ms, longest %.2f ms", pauses, MS(paused),
			MS(longest));
	fputs("</p>\n", html);
}

int report_run(const struct run *run, FILE *html)
{
	uint64_t t0, t1;
	int ret = 0, r;

	fputs("<section>\n<h2>", html);
	escape_html(html, run->label);
	fputs("</h2>\n", html);
	headline(run, html);
	fputs("<h3>Over time</h3>\n", html);
	legend(run, html);
	ret = plot_timeline(run, run->t0, run->t1, html);
	if (close_up(run, &t0, &t1)) {
		fprintf(html, "<h3>Around the longest pause</h3>\n");
		r = plot_timeline(run, t0, t1, html);
		ret = ret ? ret : r;
	}
	fputs("<h3>Phases</h3>\n", html);
	phase_table(run, html);
	fputs("<h3>Frequency by phase</h3>\n", html);
	r = plot_residency(run, html);
	ret = ret ? ret : r;
	fputs("<p class=\"note\">Of a phase: the frequency of the CPU on which it began. Outside: "
	      "all "
	      "CPUs.</p>\n",
	      html);
	energy_table(run, html);
	provenance(run, html);
	fputs("</section>\n", html);
	return ret;
}
