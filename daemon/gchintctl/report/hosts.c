// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of several hosts: a list, and a picture of their pauses on one time axis. */
#include <string.h>

#include "../../common/escape.h"
#include "../recording/pauses.h"
#include "plot.h"
#include "report.h"

#define WIDTH  1120
#define PIXELS 1000
#define MS(ns) ((double)(ns) / 1e6)

struct span {
	int64_t from, to; /* CLOCK_REALTIME, ns */
};

static bool hosts_differ(struct run *const *run, size_t runs)
{
	for (size_t i = 1; i < runs; i++)
		if (strcmp(run[i]->host, run[0]->host))
			return true;
	return false;
}

static void hosts_write_row(const struct run *run, size_t number, bool shown, FILE *html)
{
	const struct pauses_sum sum = pauses_sum(run, PAUSES_ALL);
	char when[40];

	run_began(run, when, sizeof(when));
	fputs("<tr><td>", html);
	if (shown)
		fprintf(html, "<a href=\"#run%zu\">", number);
	escape_html(html, run->label);
	fprintf(html,
		"%s</td><td class=\"left\">%s</td><td>%.2f</td><td>%zu</td><td>%.1f</td>"
		"<td>%.2f</td></tr>\n",
		shown ? "</a>" : "", when, (double)run_duration(run) / 1e9, sum.count,
		MS(sum.paused), MS(sum.longest));
}

/* Writes the pauses of a run as boxes; pauses less than half a pixel apart are joined. */
static void pauses_write_boxes(const struct run *run, const struct span *all, unsigned int at,
			       FILE *f)
{
	int64_t pixel = (all->to - all->from) / PIXELS, shift = run->began_ns - (int64_t)run->t0;
	int64_t from = 0, to = INT64_MIN / 2;

	for (size_t i = 0; i <= run->pauses; i++) {
		const struct run_pause *p = i < run->pauses ? &run->pause[i] : NULL;

		if (p && (p->t0 < run->t0 || p->t1 > run->t1))
			continue;
		if (p && (int64_t)p->t0 + shift <= to + pixel / 2) {
			if ((int64_t)p->t1 + shift > to)
				to = (int64_t)p->t1 + shift;
			continue;
		}
		if (to > INT64_MIN / 2)
			fprintf(f, "%.6f %.6f %u\n", (double)(from - all->from) / 1e9,
				(double)(to - all->from) / 1e9, at);
		if (p) {
			from = (int64_t)p->t0 + shift;
			to = (int64_t)p->t1 + shift;
		}
	}
}

static struct span run_span(const struct run *run)
{
	return (struct span){ run->began_ns, run->began_ns + (int64_t)(run->t1 - run->t0) };
}

/* The axis is CLOCK_REALTIME: the error between the hosts' clocks is not known. */
static int hosts_draw(struct run *const *run, size_t runs, FILE *html)
{
	struct span all = { INT64_MAX, INT64_MIN };
	unsigned int rows = 0;
	struct plot p;
	int ret;

	for (size_t i = 0; i < runs; i++) {
		struct span one = run_span(run[i]);

		if (run[i]->began_ns == RUN_UNKNOWN)
			continue;
		rows++;
		all.from = one.from < all.from ? one.from : all.from;
		all.to = one.to > all.to ? one.to : all.to;
	}
	if (!rows || all.to <= all.from)
		return 0;
	ret = plot_begin(&p, WIDTH, 90 + 26 * (int)rows);
	if (ret)
		return ret;
	fputs("$W << EOD\n", p.script);
	for (size_t i = 0, at = rows; i < runs; i++) {
		struct span one = run_span(run[i]);

		if (run[i]->began_ns != RUN_UNKNOWN)
			fprintf(p.script, "%.6f %.6f %zu\n", (double)(one.from - all.from) / 1e9,
				(double)(one.to - all.from) / 1e9, at--);
	}
	fputs("EOD\n$P << EOD\n", p.script);
	for (size_t i = 0, at = rows; i < runs; i++)
		if (run[i]->began_ns != RUN_UNKNOWN)
			pauses_write_boxes(run[i], &all, (unsigned int)at--, p.script);
	fprintf(p.script,
		"EOD\nset lmargin at screen 0.2\nset rmargin at screen 0.985\nset yrange "
		"[0.4:%u.6]\n"
		"set xrange [0:%.6f]\nset xlabel 'seconds since the first began' offset 0,0.3\n"
		"set grid xtics\nset ytics scale 0 noenhanced (",
		rows, (double)(all.to - all.from) / 1e9);
	for (size_t i = 0, at = rows; i < runs; i++)
		if (run[i]->began_ns != RUN_UNKNOWN) {
			fputs(at < rows ? "," : "", p.script);
			plot_text(p.script, run[i]->label);
			fprintf(p.script, " %zu", at--);
		}
	fputs(")\nplot $W using (($1+$2)/2):3:1:2:($3-0.36):($3+0.36) with boxxyerror fs solid 1 "
	      "noborder fc rgb '#e6eaef' notitle,\\\n"
	      "$P using (($1+$2)/2):3:1:2:($3-0.36):($3+0.36) with boxxyerror fs solid 1 border lc "
	      "rgb '#cc3311' lw 0.6 fc rgb '#cc3311' notitle\n",
	      p.script);
	return plot_end(&p, html, "Pauses of every recording on one clock, a row each");
}

int report_hosts(struct run *const *run, size_t runs, size_t detail, FILE *html)
{
	int ret;

	if (!hosts_differ(run, runs))
		return 0;
	fputs("<section>\n<h2>Hosts</h2>\n<p class=\"sub\">Pauses on one clock, as far as the "
	      "hosts' own clocks agreed.</p>\n",
	      html);
	ret = hosts_draw(run, runs, html);
	fputs("<div class=\"scroll\"><table><thead><tr><th>recording</th><th class=\"left\">began"
	      "</th><th>length (s)</th><th>pauses</th><th>paused (ms)</th><th>longest "
	      "(ms)</th></tr>"
	      "</thead><tbody>\n",
	      html);
	for (size_t i = 0; i < runs; i++)
		hosts_write_row(run[i], i, run_nth_of_label(run, i) < detail, html);
	fputs("</tbody></table></div>\n</section>\n", html);
	return ret;
}
