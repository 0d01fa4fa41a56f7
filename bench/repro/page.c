// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "repro/page.h"

#include "lib/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static void text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void text_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static bool by_proxy(const struct claim *claim)
{
	for (size_t i = 0; i < claim_terms(claim); i++)
		if (claim->term[i].basis == BASIS_PROXY)
			return true;
	return false;
}

void page_verdict(const struct claim *claim, const struct finding *f, char *text, size_t size)
{
	const char *name = verdict_name(f->verdict);

	*text = 0;
	if (f->unmet & UNMET_CPUS)
		text_append(text, size, "needs %u CPUs", claim->needs.cpus);
	if (f->unmet & UNMET_RAIL)
		text_append(text, size, "%sneeds a power rail", *text ? ", " : "");
	if (f->unmet & UNMET_RUNS)
		text_append(text, size, "%sunsettled: fewer than %u runs", *text ? ", " : "",
			    claim->needs.runs);
	if (f->unmet & UNMET_QUIET)
		text_append(text, size, "%sunsettled: machine not quiet", *text ? ", " : "");
	if (!*text)
		text_append(text, size, "%s", name);
	else if ((f->unmet & UNMET_RAIL) && by_proxy(claim))
		text_append(text, size, " (its substitute: %s)", name);
	else if (f->unmet & UNMET_RAIL)
		text_append(text, size, " (the rest: %s)", name);
	else
		text_append(text, size, " (here: %s)", name);
}

void page_figures(const struct entry *e, const double *figure, char *text, size_t size)
{
	*text = 0;
	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct term *t = &e->claim->term[i];

		if (isnan(figure[i]))
			text_append(text, size, "%s%s: not measured", i ? "; " : "", t->name);
		else
			text_append(text, size, "%s%s: %.3g%s%s", i ? "; " : "", t->name, figure[i],
				    *t->unit ? " " : "", t->unit);
	}
}

void page_control(const struct finding *f, char *text, size_t size)
{
	if (!f->alteration)
		snprintf(text, size, "none");
	else if (f->control == VERDICT_UNKNOWN)
		snprintf(text, size, "%s for %s: not run", f->alteration->to,
			 f->alteration->from ? f->alteration->from : "the default");
	else
		snprintf(text, size, "%s for %s: %s%s", f->alteration->to,
			 f->alteration->from ? f->alteration->from : "the default",
			 verdict_name(f->control),
			 control_confirms(f->verdict, f->control) ? "" : "; confirms nothing");
}

static void end_of(double value, char *text, size_t size)
{
	if (isinf(value))
		text_append(text, size, "more");
	else
		text_append(text, size, "%g", value);
}

static void claim_format_terms(const struct claim *claim, char *text, size_t size)
{
	static const char *const basis[] = {
		[BASIS_COUNT] = "counts",
		[BASIS_TIME] = "time",
		[BASIS_PROXY] = "time, for energy",
		[BASIS_ENERGY] = "energy",
	};

	*text = 0;
	for (size_t i = 0; i < claim_terms(claim); i++) {
		const struct term *t = &claim->term[i];

		text_append(text, size, "%s%s (%s): %g to %g%s%s, contradicted outside %g to ",
			    i ? "; " : "", t->name, basis[t->basis], t->size[0], t->size[1],
			    *t->unit ? " " : "", t->unit, t->shape[0]);
		end_of(t->shape[1], text, size);
	}
}

static void needs_text(const struct needs *n, char *text, size_t size)
{
	*text = 0;
	if (n->cpus)
		text_append(text, size, "%u CPUs", n->cpus);
	if (n->rail)
		text_append(text, size, "%sa power rail", *text ? ", " : "");
	if (n->runs)
		text_append(text, size, "%s%u runs, quiet", *text ? ", " : "", n->runs);
	if (!*text)
		text_append(text, size, "nothing");
}

/* The source trees on which an entry's figures were taken, each once. */
static void trees_of(const struct entry *e, char *text, size_t size)
{
	*text = 0;
	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const char *tree = e->from[i].tree;

		if (!isnan(e->figure[i]) && !strstr(text, tree))
			text_append(text, size, "%s%s", *text ? ", " : "", tree);
	}
}

static void write_findings(const struct record *r, FILE *out)
{
	static const char *const heading[] = { "id",	  "claim", "paper", "ours",
					       "verdict", "tree",  "note" };
	struct table *t = table_new(heading, 7);
	char text[2000];

	for (size_t i = 0; t && i < r->entries; i++) {
		const struct entry *e = &r->entry[i];
		struct finding f = record_finding(e, false);

		table_row(t);
		table_cell(t, "%s", e->claim->id);
		table_cell(t, "%s", e->claim->text);
		table_cell(t, "%s", e->claim->paper);
		page_figures(e, e->figure, text, sizeof(text));
		table_cell(t, "%s", text);
		page_verdict(e->claim, &f, text, sizeof(text));
		table_cell(t, "%s", text);
		trees_of(e, text, sizeof(text));
		table_cell(t, "%s", text);
		table_cell(t, "%s%s%s", e->claim->note, *e->detail ? ". " : "", e->detail);
	}
	if (t)
		table_print(t, TABLE_MARKDOWN, out);
	table_free(t);
}

static void write_declarations(const struct record *r, FILE *out)
{
	static const char *const heading[] = { "id", "contradicted if", "counts as reproduced",
					       "needs", "control" };
	struct table *t = table_new(heading, 5);
	char text[2000];

	for (size_t i = 0; t && i < r->entries; i++) {
		const struct entry *e = &r->entry[i];
		struct finding f = record_finding(e, false);

		table_row(t);
		table_cell(t, "%s", e->claim->id);
		table_cell(t, "%s", e->claim->falsifier);
		claim_format_terms(e->claim, text, sizeof(text));
		table_cell(t, "%s", text);
		needs_text(&e->claim->needs, text, sizeof(text));
		table_cell(t, "%s", text);
		page_control(&f, text, sizeof(text));
		table_cell(t, "%s", text);
	}
	if (t)
		table_print(t, TABLE_MARKDOWN, out);
	table_free(t);
}

/* Does @e lack a figure that can be measured here: by counts alone, or only with times? */
static bool entry_is_missing(const struct entry *e, bool counts)
{
	bool missing = false, timed = false;

	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct term *t = &e->claim->term[i];

		if (t->basis == BASIS_ENERGY || !isnan(e->figure[i]))
			continue;
		missing = true;
		timed = timed || term_rests_on_time(t);
	}
	return missing && timed != counts;
}

static void write_missing(const struct record *r, bool counts, const char *command, FILE *out)
{
	size_t listed = 0;

	for (size_t i = 0; i < r->entries; i++) {
		if (!entry_is_missing(&r->entry[i], counts))
			continue;
		if (!listed++)
			fprintf(out, "To be measured again with `%s`: ", command);
		else
			fputs(", ", out);
		fputs(r->entry[i].claim->id, out);
	}
	if (listed)
		fputs(".\n\n", out);
}

int page_write(const struct record *r, const char *path)
{
	FILE *f = fopen(path, "we");
	int code = 0;

	if (!f)
		return -errno;
	fputs("# The seeds' claims, tested\n\n"
	      "Written by `make repro` from the figures in seeds.tsv. Claims 000 are of the "
	      "Dalvik seed (Hussein\net al., 2015), 001 of GCW (Intel, 2016), 002 of VARI, the "
	      "vertical profiler (Su et al., 2014), 003 of\nsize-aware promotion in ART, 004 of "
	      "mark stack overflow (Ugawa et al., 2012). Each figure was taken on\nthe tree in "
	      "its row; `make repro` drops those of trees that the history lacks. VARI's tables I "
	      "to III and\nfigures 1 to 8, 12 and 17 contain no claim to test: they show other "
	      "tools, its board, drawings,\na listing and a window.\n\n"
	      "*Reproduces*: every figure of the claim is within its band. *Shape only*: all "
	      "figures have the paper's\ndirection, at least one by another amount. *Does not*: "
	      "a figure contradicts the paper. *Needs*: this\nmachine lacks something that the "
	      "seed had; the verdict in brackets is that of the figures here.\n*Unsettled*: the "
	      "claim rests on time, and the machine was not quiet. The verdict follows only from\n"
	      "the second table and the figures.\n\n",
	      f);
	write_missing(r, true, "make repro COUNTS=1", f);
	write_missing(r, false, "make repro", f);
	write_findings(r, f);
	fputs("\n## What each claim was judged by\n\n"
	      "The control is the same measurement without the mechanism, which must contradict a "
	      "claim that holds;\nor, where a claim does not hold here, with something that makes "
	      "it hold.\n\n",
	      f);
	write_declarations(r, f);
	if (r->table)
		fprintf(f,
			"\n## Table 1 of the Dalvik seed, and ours\n\n"
			"Programs made after its figures, on `plan=cms` with the seed's heap "
			"sizing, tree %s. Allocated and\nlive bytes, objects and threads are "
			"input; "
			"lifetimes are measured by a collection at every 64 KiB;\nevents, "
			"contention, pauses and CPU share are results of this machine.\n\n%s",
			r->table_tree, r->table);
	if (ferror(f))
		code = -EIO;
	return fclose(f) && !code ? -errno : code;
}
