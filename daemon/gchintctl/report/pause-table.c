// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "../../common/escape.h"
#include "../../common/names.h"
#include "../recording/db.h"
#include "../recording/pauses.h"
#include "plot.h"
#include "report.h"

#define LINES  12
#define MS(ns) ((double)(ns) / 1e6)
#define US(ns) ((long long)(ns) / 1000)

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
		anchor, US(p->t0 - run->t0), US(p->t1 - run->t0), run_seconds(run, p->t0),
		MS(p->t1 - p->t0), plot_phase_colour(p->group),
		run_group_name(p->group, name, sizeof(name)), name_cause(p->cause));
	number_write(html, pause->khz > 0 ? pause->khz / 1000 : NAN, 0);
	number_write(html, pause_at_top(pause), 3);
	if (p->stw)
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
	for (size_t i = 0; i < pause->besides; i++)
		fprintf(html, "%s%s", i ? "; " : "",
			run_group_name(pause->beside[i], name, sizeof(name)));
	fputs(pause->besides ? "</td></tr>\n" : "nothing seen</td></tr>\n", html);
}

void report_pauses(const struct run *run, const char *anchor, FILE *html)
{
	struct pause *pause;
	size_t n;

	pause = pauses_longest(run, LINES, &n);
	if (pause && n) {
		fputs("<h3>Longest pauses</h3>\n<div class=\"scroll\"><table class=\"pauses\">"
		      "<thead><tr><th>at (s)</th><th>length (ms)</th><th class=\"left\">phase</th>"
		      "<th class=\"left\">cause</th><th>mean MHz</th><th>at top "
		      "(ms)</th><th>earlier (ms)</th>"
		      "<th class=\"left\">who</th><th class=\"left\">beside it</th></tr></thead>"
		      "<tbody>\n",
		      html);
		for (size_t i = 0; i < n; i++)
			pause_write_row(run, &pause[i], anchor, html);
		fputs("</tbody></table></div>\n<p class=\"note\">At top: no shorter than this with "
		      "the CPU at its highest frequency all the while, for memory does not get "
		      "faster. Earlier: a wait is spared by a collection that begins so much "
		      "earlier. Beside it: phases of other threads. An instant leads to its place "
		      "in the picture.</p>\n",
		      html);
	}
	free(pause);
}
