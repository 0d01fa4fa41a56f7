// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/comparison.h"
#include "../../common/json.h"
#include "../../recording/reader/several.h"
#include "../ctl.h"

static const char usage[] =
	"usage: gchintctl [--json] compare [--brief] FILE... [-- FILE...]\n"
	"Compares two or more groups of recordings, energy, time and pauses first: the medians\n"
	"of both groups, the change from one to the other with its 95 % interval, and whether it\n"
	"is better, or that there is no clear difference, and how many runs would be needed to\n"
	"show one of 5 %. Of twenty figures without a real change, one differs by chance.\n"
	"Recordings with the same label (gchintctl record --label,\n"
	"else the governor) are one group; each group is compared with the first one. With --\n"
	"between them, the recordings before and after it are two groups, whatever their labels.\n"
	"\n"
	"  -b, --brief  energy, time and pauses only\n";

/* Three digits and the unit: "491 ms", "0.399 J", "1653 MHz". */
static void value_format(double v, const char *unit, char *buf, size_t size)
{
	const double a = fabs(v);
	const int decimals = a >= 100 || v == floor(v) ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3;

	if (a < 0.01 && a > 0)
		snprintf(buf, size, "%.3g%s%s", v, *unit ? " " : "", unit);
	else
		snprintf(buf, size, "%.*f%s%s", decimals, v, *unit ? " " : "", unit);
}

/* Why a figure cannot be compared; NULL if it can. */
static const char *verdict_obstacle(const struct verdict *v)
{
	if (!v->n[0])
		return "not known of the base";
	if (!v->n[1])
		return "not known of these runs";
	if (!v->min[0] && !v->max[0] && !v->min[1] && !v->max[1])
		return "0 in all runs";
	return NULL;
}

static void figure_print(const struct compare_figure *f, const struct verdict *v)
{
	const char *judgement = verdict_judgement(v, f->better);
	char words[256], base[32], other[32], values[80];

	value_format(v->median[0], f->unit, base, sizeof(base));
	value_format(v->median[1], f->unit, other, sizeof(other));
	snprintf(values, sizeof(values), "%s \u2192 %s", base, other);
	verdict_words(v, words, sizeof(words));
	/* The width is in bytes, of which the arrow has three in each row. */
	printf("  %-28s %-26s %s%s%s\n", f->name, values, words, *judgement ? ": " : "", judgement);
}

/* One line that names all figures that cannot be compared, by reason. */
static void group_print_obstacles(const struct comparison *c, size_t g, bool brief)
{
	static const char *const reasons[] = { "not known of the base", "not known of these runs",
					       "0 in all runs" };
	bool any = false;

	for (size_t r = 0; r < sizeof(reasons) / sizeof(reasons[0]); r++) {
		bool named = false;

		for (size_t i = 0; i < c->figures; i++) {
			const struct compare_figure *f = &c->figure[i];
			const char *obstacle;
			struct verdict v;

			if ((!f->n[g] && !f->n[c->group[g].base]) || (brief && !f->main))
				continue;
			compare_verdict(c, f, g, &v);
			obstacle = verdict_obstacle(&v);
			if (!obstacle || strcmp(obstacle, reasons[r]))
				continue;
			if (named)
				printf("; %s", f->name);
			else
				printf("%s%s: %s", any ? ". " : "  ", reasons[r], f->name);
			named = any = true;
		}
	}
	if (any)
		putchar('\n');
}

static void group_print(const struct comparison *c, size_t g, bool brief)
{
	const struct compare_group *group = &c->group[g], *base = &c->group[group->base];

	printf("%s (%zu) against %s (%zu), medians\n", group->label, group->nr, base->label,
	       base->nr);
	for (size_t i = 0; i < c->figures; i++) {
		const struct compare_figure *f = &c->figure[i];
		struct verdict v;

		if (brief && !f->main)
			continue;
		compare_verdict(c, f, g, &v);
		if (!verdict_obstacle(&v))
			figure_print(f, &v);
	}
	group_print_obstacles(c, g, brief);
	if (group->nr < 2 || base->nr < 2)
		puts("  record two runs or more of each group for a verdict");
}

static void comparison_print_text(const struct comparison *c, bool brief)
{
	bool first = true;

	for (size_t g = 0; g < c->groups; g++) {
		if (c->group[g].base == g)
			continue;
		if (!first)
			putchar('\n');
		first = false;
		group_print(c, g, brief);
	}
}

static void verdict_print_json(struct json *j, const struct comparison *c,
			       const struct compare_figure *f, size_t g)
{
	json_line(j);
	json_object(j, NULL);
	compare_print_json(j, c, f, g);
	json_end(j);
}

static void comparison_print_json(const struct comparison *c, bool brief)
{
	struct json j = { .f = stdout };

	json_list(&j, NULL);
	for (size_t g = 0; g < c->groups; g++)
		for (size_t i = 0; i < c->figures && c->group[g].base != g; i++)
			if (!brief || c->figure[i].main)
				verdict_print_json(&j, c, &c->figure[i], g);
	json_end(&j);
}

int cmd_compare(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "brief", no_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct comparison c = { 0 };
	struct recording **rec;
	bool brief = false;
	size_t runs, behind = recording_behind_dashes(argc, argv);
	int opt, ret = CTL_FILE;

	while ((opt = getopt_long(argc, argv, "bh", longs, NULL)) >= 0) {
		switch (opt) {
		case 'b':
			brief = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		default:
			return ctl_usage("compare");
		}
	}
	if (argc - optind < 2) {
		ctl_error("compare: name two recordings or more; see gchintctl compare --help");
		return CTL_USAGE;
	}
	runs = (size_t)(argc - optind);
	rec = recording_open_all(argv + optind, runs, behind);
	if (!rec)
		return CTL_FILE;
	if (!compare_make(rec, runs, NULL, &c))
		goto close_runs;
	ret = CTL_OK;
	if (c.groups < 2) {
		ctl_error("compare: all recordings are of the group '%s'; label them (gchintctl "
			  "record --label) or put -- between two groups",
			  c.group[0].label);
		ret = CTL_USAGE;
	} else if (ctl->json) {
		comparison_print_json(&c, brief);
	} else {
		comparison_print_text(&c, brief);
	}
	if (c.left)
		ctl_error(
			"%zu recordings are not compared: the limit is %d labels with %d runs each",
			c.left, COMPARE_GROUPS, COMPARE_RUNS);
close_runs:
	compare_free(&c);
	recording_close_all(rec, runs);
	return ret;
}
