// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "../ctl.h"
#include "../recording/db.h"
#include "../stats.h"
#include "comparison.h"
#include "report.h"

static void cell_write(const struct verdict *v, bool base, int better, FILE *html)
{
	const char *judgement = verdict_judgement(v, better);
	char percent[24];
	int digits;

	if (!v->n[1]) {
		fputs("<td>?</td>", html);
		return;
	}
	digits = stats_decimals(v->max[1] > v->min[1] ? v->max[1] - v->min[1] :
							fabs(v->median[1]) / 100);
	fprintf(html, "<td>%.*f", digits, v->median[1]);
	if (v->n[1] > 1)
		fprintf(html, " <span class=\"pm\">(%.*f&nbsp;to&nbsp;%.*f)</span>", digits,
			v->min[1], digits, v->max[1]);
	/* A change that rounds to zero gets no sign. */
	snprintf(percent, sizeof(percent), fabs(v->change) < 0.0005 ? "0.0" : "%+.1f",
		 100 * v->change);
	if (!base && v->known)
		fprintf(html, "<span class=\"%s\">%s&nbsp;%%%s%s</span>",
			*judgement ? judgement : "pm", percent, *judgement ? ", " : "",
			*judgement     ? judgement :
			v->significant ? "" :
					 ", not significant");
	fputs("</td>", html);
}

static void figure_write_row(const struct comparison *c, const struct compare_figure *f, FILE *html)
{
	static const char *const direction[] = { "lower is better", "", "higher is better" };
	bool any = false;

	for (size_t g = 0; g < c->groups; g++)
		any = any || f->n[g];
	if (!any)
		return;
	fputs("<tr><td>", html);
	escape_html(html, f->name);
	fprintf(html, "%s%s <span class=\"pm\">%s</span></td>", *f->unit ? ", " : "", f->unit,
		direction[f->better + 1]);
	for (size_t g = 0; g < c->groups; g++) {
		struct verdict v;

		compare_verdict(c, f, g, &v);
		cell_write(&v, c->group[g].base == g, f->better, html);
	}
	fputs("</tr>\n", html);
}

/* A label "PROGRAM / GOVERNOR" takes two lines. */
static void group_write_heading(const struct compare_group *group, FILE *html)
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

/* The verdicts come before the table, because readers look for them first. */
static void verdicts_write(const struct comparison *c, FILE *html)
{
	char words[256];

	for (size_t g = 0; g < c->groups; g++) {
		size_t base = c->group[g].base;

		if (base == g)
			continue;
		fputs("<div class=\"verdict\"><h3>", html);
		escape_html(html, c->group[g].label);
		fprintf(html, " (%zu) against ", c->group[g].nr);
		escape_html(html, c->group[base].label);
		fprintf(html, " (%zu)</h3>\n<ul>\n", c->group[base].nr);
		for (size_t i = 0; i < c->figures; i++) {
			const struct compare_figure *f = &c->figure[i];
			const char *judgement;
			struct verdict v;

			if (!f->main || (!f->n[g] && !f->n[base]))
				continue;
			compare_verdict(c, f, g, &v);
			judgement = verdict_judgement(&v, f->better);
			verdict_words(&v, words, sizeof(words));
			fputs("<li><b>", html);
			escape_html(html, f->name);
			fprintf(html, "</b>: <span class=\"%s\">%s%s%s</span></li>\n",
				*judgement ? judgement : "pm", words, *judgement ? ": " : "",
				judgement);
		}
		fputs("</ul></div>\n", html);
	}
}

void report_compare(struct run *const *run, size_t runs, FILE *html)
{
	struct comparison c;

	if (!compare_make(run, runs, NULL, &c))
		return;
	verdicts_write(&c, html);
	fprintf(html,
		"<div class=\"scroll\"><table class=\"compare\" "
		"style=\"--kinds:%zu\"><thead><tr><th></th>",
		c.groups);
	for (size_t g = 0; g < c.groups; g++)
		group_write_heading(&c.group[g], html);
	fputs("</tr></thead><tbody>\n", html);
	for (size_t i = 0; i < c.figures; i++)
		figure_write_row(&c, &c.figure[i], html);
	fputs("</tbody></table></div>\n<p class=\"note\">Runs with one label are one column: "
	      "median "
	      "(lowest to highest). Below it is the change against the first column, or the first "
	      "of that program (a label PROGRAM / GOVERNOR). It is significant if its 95&nbsp;% "
	      "interval excludes 0: a bootstrap's from 8 runs of each on, else Welch's t's, of the "
	      "logarithms if all values are above 0. The number of runs that detect a change of "
	      "5&nbsp;% is for a chance of 80&nbsp;%. Of twenty figures without a real change, one "
	      "is significant by chance.",
	      html);
	if (c.left) {
		fprintf(html,
			" Left out of the table: %zu recordings, beyond %d labels or %d of one "
			"label.",
			c.left, COMPARE_GROUPS, COMPARE_RUNS);
		ctl_error("%zu recordings are not compared: the limit is %d labels with %d runs "
			  "each; make a page of some of them",
			  c.left, COMPARE_GROUPS, COMPARE_RUNS);
	}
	fputs("</p>\n", html);
	compare_free(&c);
}
