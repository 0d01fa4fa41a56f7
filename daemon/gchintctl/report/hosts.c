// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of several hosts: a list, and a picture of their pauses on one time axis. */
#include <string.h>

#include "../../analysis/pauses.h"
#include "../../common/escape.h"
#include "../../recording/reader/several.h"
#include "plot.h"
#include "report.h"

#define PIXELS 1000
#define MS(ns) ((double)(ns) / 1e6)

struct span {
	int64_t from, to; /* CLOCK_REALTIME, ns */
};

static bool hosts_differ(struct recording *const *rec, size_t runs)
{
	for (size_t i = 1; i < runs; i++)
		if (strcmp(rec[i]->host, rec[0]->host))
			return true;
	return false;
}

static void hosts_write_row(const struct recording *rec, size_t number, bool shown, FILE *html)
{
	const struct pauses_sum sum = pauses_sum(rec, PAUSES_ALL);
	char when[40];

	recording_began(rec, when, sizeof(when));
	fputs("<tr><td>", html);
	if (shown)
		fprintf(html, "<a href=\"#run%zu\">", number);
	escape_html(html, rec->label);
	fprintf(html,
		"%s</td><td class=\"left\">%s</td><td class=\"more\">%.2f</td>"
		"<td class=\"more\">%zu</td><td>%.1f</td>"
		"<td>%.2f</td></tr>\n",
		shown ? "</a>" : "", when, (double)recording_duration(rec) / 1e9, sum.count,
		MS(sum.paused), MS(sum.longest));
}

/* Writes the pauses of a run as boxes; pauses less than half a pixel apart are joined. */
static void pauses_write_boxes(const struct recording *rec, const struct span *all,
			       const struct plot_panel *p)
{
	int64_t pixel = (all->to - all->from) / PIXELS, shift = rec->began_ns - (int64_t)rec->t0;
	int64_t from = 0, to = INT64_MIN / 2;

	for (size_t i = 0; i <= rec->pauses; i++) {
		const struct recording_pause *pause = i < rec->pauses ? &rec->pause[i] : NULL;

		if (pause && (pause->t0 < rec->t0 || pause->t1 > rec->t1))
			continue;
		if (pause && (int64_t)pause->t0 + shift <= to + pixel / 2) {
			if ((int64_t)pause->t1 + shift > to)
				to = (int64_t)pause->t1 + shift;
			continue;
		}
		if (to > INT64_MIN / 2)
			plot_box(p, (double)(from - all->from) / 1e9,
				 (double)(to - all->from) / 1e9);
		if (pause) {
			from = (int64_t)pause->t0 + shift;
			to = (int64_t)pause->t1 + shift;
		}
	}
}

static struct span recording_span(const struct recording *rec)
{
	return (struct span){ rec->began_ns, rec->began_ns + (int64_t)(rec->t1 - rec->t0) };
}

static void host_draw(const struct recording *rec, const struct span *all, struct plot_panel *p)
{
	const struct span one = recording_span(rec);

	fputs("<div class=\"lane host\"><span>", p->html);
	escape_html(p->html, rec->label);
	fputs("</span>", p->html);
	p->title = rec->label;
	plot_panel_begin(p);
	fputs("<path class=\"recorded\" d=\"", p->html);
	plot_box(p, (double)(one.from - all->from) / 1e9, (double)(one.to - all->from) / 1e9);
	fputs("\"/>\n<path class=\"paused\" d=\"", p->html);
	pauses_write_boxes(rec, all, p);
	fputs("\"/>\n", p->html);
	plot_panel_end(p);
	fputs("</div>\n", p->html);
}

/* The axis is CLOCK_REALTIME: the error between the hosts' clocks is not known. */
static void hosts_draw(struct recording *const *rec, size_t runs, FILE *html)
{
	struct span all = { INT64_MAX, INT64_MIN };
	struct plot_panel p = { .html = html, .height = 20 };

	for (size_t i = 0; i < runs; i++) {
		struct span one = recording_span(rec[i]);

		if (rec[i]->began_ns == RECORDING_UNKNOWN)
			continue;
		all.from = one.from < all.from ? one.from : all.from;
		all.to = one.to > all.to ? one.to : all.to;
	}
	if (all.to <= all.from)
		return;
	p.x.to = (double)(all.to - all.from) / 1e9;
	for (size_t i = 0; i < runs; i++)
		if (rec[i]->began_ns != RECORDING_UNKNOWN)
			host_draw(rec[i], &all, &p);
	p.x_labels = true;
	p.height = 6;
	p.x_title = "time since the first began (s)";
	p.title = "time";
	plot_panel_begin(&p);
	plot_panel_end(&p);
}

void report_hosts(struct recording *const *rec, size_t runs, size_t detail, FILE *html)
{
	if (!hosts_differ(rec, runs))
		return;
	fputs("<section>\n<h2>Hosts</h2>\n<p class=\"sub\">Pauses on one clock, as far as the "
	      "hosts' own clocks agreed.</p>\n",
	      html);
	hosts_draw(rec, runs, html);
	fputs("<div class=\"scroll\"><table><thead><tr><th>recording</th><th class=\"left\">began"
	      "</th><th class=\"more\">length (s)</th><th class=\"more\">pauses</th>"
	      "<th>paused (ms)</th><th>longest (ms)</th></tr>"
	      "</thead><tbody>\n",
	      html);
	for (size_t i = 0; i < runs; i++)
		hosts_write_row(rec[i], i, recording_nth_of_label(rec, i) < detail, html);
	fputs("</tbody></table></div>\n</section>\n", html);
}
