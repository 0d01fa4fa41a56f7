// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/json.h"
#include "../ctl.h"
#include "comparison.h"

static const char usage[] =
	"usage: gchintctl [--json] compare [--brief] FILE... [-- FILE...]\n"
	"Describes the differences between two or more groups of recordings, energy, time and\n"
	"pauses first: the change with its 95 % interval, or that it is not significant, and how\n"
	"many runs would be needed to detect one of 5 %. Of twenty figures without a real change,\n"
	"one is significant by chance. Recordings with the same label (gchintctl record --label,\n"
	"else the governor) are one group; each group is compared with the first one. With --\n"
	"between them, the recordings before and after it are two groups, whatever their labels.\n"
	"\n"
	"  -b, --brief  energy, time and pauses only\n";

static void comparison_print_text(const struct comparison *c, bool brief)
{
	char words[256];
	bool first = true;

	for (size_t g = 0; g < c->groups; g++) {
		size_t base = c->group[g].base;

		if (base == g)
			continue;
		printf("%s%s (%zu) against %s (%zu)\n", first ? "" : "\n", c->group[g].label,
		       c->group[g].nr, c->group[base].label, c->group[base].nr);
		first = false;
		for (size_t i = 0; i < c->figures; i++) {
			const struct compare_figure *f = &c->figure[i];
			const char *judgement;
			struct verdict v;

			if ((!f->n[g] && !f->n[base]) || (brief && !f->main))
				continue;
			compare_verdict(c, f, g, &v);
			judgement = verdict_judgement(&v, f->better);
			verdict_words(&v, words, sizeof(words));
			printf("  %-32s %s%s%s\n", f->name, words, *judgement ? ": " : "",
			       judgement);
		}
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
	struct run **run;
	bool brief = false;
	size_t runs, behind = run_behind_dashes(argc, argv);
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
	run = run_open_all(argv + optind, runs, behind);
	if (!run)
		return CTL_FILE;
	if (!compare_make(run, runs, NULL, &c))
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
	run_close_all(run, runs);
	return ret;
}
