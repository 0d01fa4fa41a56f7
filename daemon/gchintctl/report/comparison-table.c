// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/comparison.h"
#include "../../analysis/stats.h"
#include "../../common/escape.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "plot.h"
#include "report.h"

/* "12 % less": a percentage does not end a line. */
static void words_write(const char *words, FILE *html)
{
	for (; *words; words++) {
		if (words[0] == ' ' && words[1] == '%')
			fputs("&nbsp;", html);
		else
			fputc(*words, html);
	}
}

static void cell_write(const struct verdict *v, bool base, int better, FILE *html)
{
	const char *judgement = verdict_judgement(v, better);
	char words[256];
	int digits;

	if (!v->n[1]) {
		fputs("<td>?</td>", html);
		return;
	}
	digits = stats_decimals(v->max[1] > v->min[1] ? v->max[1] - v->min[1] :
							fabs(v->median[1]) / 100);
	fprintf(html, "<td><b>%.*f</b>", digits, v->median[1]);
	if (v->n[1] > 1)
		fprintf(html, " <span class=\"pm\">(%.*f&nbsp;to&nbsp;%.*f)</span>", digits,
			v->min[1], digits, v->max[1]);
	/* Of a base that is 0 the values say all that there is. */
	if (!base && (v->known || !isnan(v->change))) {
		verdict_words(v, words, sizeof(words));
		fprintf(html, "<span class=\"verdict %s\">", *judgement ? judgement : "pm");
		words_write(words, html);
		fprintf(html, "%s%s</span>", *judgement ? ": " : "", judgement);
	}
	fputs("</td>", html);
}

/* Whether a run has a value of it, other than 0. */
static bool figure_says_something(const struct comparison *c, const struct compare_figure *f)
{
	for (size_t g = 0; g < c->groups; g++)
		for (size_t i = 0; i < f->n[g]; i++)
			if (f->value[g][i] != 0)
				return true;
	return false;
}

static void figure_write_row(const struct comparison *c, const struct compare_figure *f, FILE *html)
{
	static const char *const direction[] = { "lower is better", "", "higher is better" };

	if (!figure_says_something(c, f))
		return;
	fputs("<tr><td>", html);
	escape_html(html, f->name);
	if (*f->unit)
		fprintf(html, "&nbsp;(%s)", f->unit);
	fprintf(html, " <span class=\"pm\">%s</span></td>", direction[f->better + 1]);
	for (size_t g = 0; g < c->groups; g++) {
		struct verdict v;

		compare_verdict(c, f, g, &v);
		cell_write(&v, c->group[g].base == g, f->better, html);
	}
	fputs("</tr>\n", html);
}

/* A label "PROGRAM / GOVERNOR" takes two lines. */
static void label_write(const char *label, FILE *html)
{
	const char *slash = strstr(label, " / ");
	char program[96] = "";

	if (slash) {
		snprintf(program, sizeof(program), "%.*s", (int)(slash - label), label);
		escape_html(html, program);
		fputs("<br>", html);
	}
	escape_html(html, slash ? slash + 3 : label);
}

static void group_write_heading(const struct comparison *c, size_t g, FILE *html)
{
	const struct compare_group *group = &c->group[g], *base = &c->group[group->base];

	fputs("<th>", html);
	plot_group_write_key(g, html);
	label_write(group->label, html);
	fprintf(html, "<br>%zu run%s", group->nr, group->nr == 1 ? "" : "s");
	if (group->base != g) {
		fputs(", against ", html);
		escape_html(html, base->label);
	}
	fputs("</th>", html);
}

/* The key is the one of the curves of MinMU. */
static void figures_write_table(const struct comparison *c, bool main, FILE *html)
{
	fprintf(html,
		"<div class=\"scroll\"><table class=\"compare\" style=\"--kinds:%zu\">"
		"<thead><tr><th></th>",
		c->groups);
	for (size_t g = 0; g < c->groups; g++)
		group_write_heading(c, g, html);
	fputs("</tr></thead><tbody>\n", html);
	for (size_t i = 0; i < c->figures; i++)
		if (c->figure[i].main == main)
			figure_write_row(c, &c->figure[i], html);
	fputs("</tbody></table></div>\n", html);
}

void report_compare(struct recording *const *rec, size_t runs, FILE *html)
{
	struct comparison c;

	if (!compare_make(rec, runs, NULL, &c))
		return;
	figures_write_table(&c, true, html);
	fputs("<details><summary>Further figures, and how they are compared</summary>\n", html);
	figures_write_table(&c, false, html);
	fputs("<p class=\"note\">Runs with one label are one column: median (lowest to highest). "
	      "Below it is the change against the base with its 95&nbsp;% interval, which is "
	      "significant if it excludes 0: a bootstrap's from 8 runs of each on, else Welch's "
	      "t's, of the logarithms if all values are above 0. The number of runs that detect a "
	      "change of 5&nbsp;% is for a chance of 80&nbsp;%. Of twenty figures without a real "
	      "change, one is significant by chance.</p></details>\n",
	      html);
	if (c.left) {
		fprintf(html,
			"<p class=\"note\">Left out of the table: %zu recordings, beyond %d "
			"labels or %d of one label.</p>\n",
			c.left, COMPARE_GROUPS, COMPARE_RUNS);
		ctl_error("%zu recordings are not compared: the limit is %d labels with %d runs "
			  "each; make a page of some of them",
			  c.left, COMPARE_GROUPS, COMPARE_RUNS);
	}
	compare_free(&c);
}
