// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/escape.h"
#include "../../common/text.h"
#include "../../recording/reader/several.h"
#include "../../version.h"
#include "../ctl.h"
#include "../profile/profile.h"
#include "methods.h"
#include "plot.h"

#define TITLE_NAME 128

static const char usage[] =
	"usage: gchintctl report [-o report.html] [-t TITLE] [--detail N] FILE... [-- FILE...]\n"
	"Writes one HTML page that needs no network and no other program: findings, key figures,\n"
	"pauses, phases, heap, power and frequency over time, longest pauses, processes, phase\n"
	"table, energy by phase with its bounds, minimum mutator utilisation. It compares several\n"
	"recordings, values and verdicts first: those with the same label (gchintd --label, else\n"
	"the governor) are one group, or, with -- between them, those before it and those after\n"
	"it.\n"
	"\n"
	"  -o, --output FILE  the page (default: report.html)\n"
	"  -t, --title TITLE  heading of the page (default: the program's name)\n"
	"  -d, --detail N     show the first N recordings of each label one by one (default:\n"
	"                     1)\n"
	"\n"
	"The timeline needs a browser with scripts. It can be zoomed and scrolled, lines can be\n"
	"switched off, and pointing at an instant shows the request of that moment and the thread\n"
	"that made it. Around each of the longest pauses its data is finer than elsewhere.\n";

static void text_write_escaped(FILE *html, const char *before, const char *text, const char *after)
{
	fputs(before, html);
	escape_html(html, text);
	fputs(after, html);
}

/* The MIT licence of dygraphs must be included with copies; the script only names it. */
static void scripts_write(struct recording *const *rec, size_t runs, FILE *html)
{
	bool flames = false;

	for (size_t i = 0; i < runs; i++)
		flames = flames || methods_are_recorded(rec[i]);
	if (flames)
		fprintf(html, "<script>\n%s</script>\n", profile_flame_script);
	if (!*asset_dygraphs)
		return;
	fputs("<!-- The first script is dygraphs (package libjs-dygraphs):\n", html);
	fputs(asset_dygraphs_licence, html);
	fputs("-->\n<script>\n", html);
	fputs(asset_dygraphs, html);
	fputs("\n</script>\n<script>\n", html);
	fputs(asset_script, html);
	fputs("</script>\n", html);
}

static void contents_write(struct recording *const *rec, size_t runs, size_t detail, FILE *html)
{
	if (runs < 2 || !detail)
		return;
	fputs("<nav>One by one: ", html);
	for (size_t i = 0; i < runs; i++) {
		if (recording_nth_of_label(rec, i) >= detail)
			continue;
		fprintf(html, "<a href=\"#run%zu\">", i);
		text_write_escaped(html, "", rec[i]->label, "</a> ");
	}
	fputs("</nav>\n", html);
}

/* "java: garbage collection", of recordings of one program; @title of --title. */
static void title_format(struct recording *const *rec, size_t runs, const char *given, char *buf,
			 size_t size)
{
	char name[TITLE_NAME], other[TITLE_NAME];
	bool same = true;

	report_name_programs(rec[0], name, sizeof(name));
	for (size_t i = 1; same && i < runs; i++) {
		report_name_programs(rec[i], other, sizeof(other));
		same = !strcmp(name, other);
	}
	if (given)
		snprintf(buf, size, "%s", given);
	else if (same && *name)
		snprintf(buf, size, "%s: garbage collection", name);
	else
		snprintf(buf, size, "Garbage collection");
}

static void page_write_head(const char *title, size_t runs, FILE *html)
{
	text_write_escaped(html,
			   "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
			   title, "</title>\n<style>\n");
	fputs(asset_dygraphs_style, html);
	fputs(asset_style, html);
	text_write_escaped(html, "</style></head><body><main>\n<header><h1>", title, "</h1>\n");
	fprintf(html,
		"<p>%zu recording%s, made into this page by gchintctl " GCHINTD_VERSION
		"</p></header>\n",
		runs, runs == 1 ? "" : "s");
}

static void page_write(struct recording *const *rec, size_t runs, const struct plot_scale *scale,
		       const char *title, size_t detail, FILE *html)
{
	size_t wanted = 0, drawn = 0;

	for (size_t i = 0; i < runs; i++)
		wanted += recording_nth_of_label(rec, i) < detail;
	page_write_head(title, runs, html);
	if (runs > 1) {
		fputs("<section>\n<h2>Side by side</h2>\n", html);
		report_compare(rec, runs, html);
		contents_write(rec, runs, detail, html);
		fputs("</section>\n", html);
	}
	report_hosts(rec, runs, detail, html);
	if (runs > 1) {
		fputs("<section>\n", html);
		report_mmu(rec, runs, html);
		fputs("</section>\n", html);
	}
	for (size_t i = 0; i < runs; i++) {
		if (recording_nth_of_label(rec, i) >= detail)
			continue;
		report_run(rec[i], i, scale, runs == 1, html);
		recording_forget(rec[i]);
		drawn++;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\rgchintctl: %zu of %zu drawn%s", drawn, wanted,
				drawn == wanted ? "\n" : "");
	}
	fputs("</main>\n", html);
	scripts_write(rec, runs, html);
	fputs("</body></html>\n", html);
}

int cmd_report(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "detail", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ 0 },
	};
	const char *output = "report.html", *given = NULL;
	char title[512];
	uint64_t detail = 1;
	struct plot_scale scale;
	struct recording **rec;
	size_t runs, behind = recording_behind_dashes(argc, argv);
	FILE *html;
	int opt, ret = CTL_FILE;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "d:ho:t:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'd':
			if (text_u64(optarg, &detail) || detail > UINT32_MAX) {
				ctl_error("report: --detail takes a number, not %s", optarg);
				return CTL_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'o':
			output = optarg;
			break;
		case 't':
			given = optarg;
			break;
		default:
			return ctl_usage("report");
		}
	}
	if (optind == argc) {
		ctl_error("report: name one recording or more; see gchintctl report --help");
		return CTL_USAGE;
	}
	runs = (size_t)(argc - optind);
	rec = recording_open_all(argv + optind, runs, behind);
	if (!rec)
		return CTL_FILE;
	if (plot_scale(rec, runs, &scale))
		goto close_runs;
	html = ctl_create(output);
	if (!html)
		goto free_scale;
	title_format(rec, runs, given, title, sizeof(title));
	page_write(rec, runs, &scale, title, detail, html);
	ret = ctl_commit(html, output) ? CTL_FILE : CTL_OK;
	if (!ret && strcmp(output, "-") != 0)
		fprintf(stderr, "gchintctl: wrote %s\n", output);
free_scale:
	free(scale.khz);
close_runs:
	recording_close_all(rec, runs);
	return ret;
}
