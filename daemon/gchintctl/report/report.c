// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/escape.h"
#include "../../common/text.h"
#include "../../version.h"
#include "../ctl.h"
#include "asset.h"
#include "plot.h"

static const char usage[] =
	"usage: gchintctl report [-o report.html] [-t TITLE] [--detail N] FILE... [-- FILE...]\n"
	"Writes one HTML page that needs no network: rails, phases and frequencies over time,\n"
	"phase table, frequency by phase, energy by phase with its uncertainty, minimum\n"
	"mutator utilisation. It compares several recordings, the verdict first: those with the\n"
	"same label (gchintd --label, else the governor) are one group, or, with -- between them,\n"
	"those before it and those after it.\n"
	"\n"
	"  -o, --output FILE  the page (default: report.html)\n"
	"  -t, --title TITLE  heading of the page\n"
	"  -d, --detail N     show the first N recordings of each label one by one (default:\n"
	"                     1)\n"
	"\n"
	"gnuplot draws the pictures (Debian package gnuplot-nox). In a browser with scripts they\n"
	"can be zoomed and scrolled, lines can be switched off, and pointing at an instant shows\n"
	"the request of that moment and the thread that made it.\n";

/* clang-format off */
static const char report_style[] =
":root{--ink:#1d2733;--soft:#5b6875;--line:#dfe4ea;--page:#f4f6f8;--card:#fff;--accent:#1b5e9e}\n"
"*{box-sizing:border-box}\n"
"body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,'DejaVu Sans',"
"Helvetica,sans-serif}\n"
"main{max-width:1200px;margin:0 auto;padding:28px 20px 60px}\n"
"h1{font-size:26px;margin:0 0 4px}h2{font-size:20px;margin:0 0 2px}h3{font-size:16px;margin:26px 0 6px}\n"
"header p,.sub{color:var(--soft);margin:0 0 18px}\n"
"section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:20px 22px;"
"margin:18px 0}\n"
".plot img{display:block;width:100%;max-width:none;height:auto;margin:6px 0 2px}\n"
".scroll,.plot{overflow-x:auto}\n"
"table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}\n"
"th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
"th:first-child,td:first-child,.text th,.text td{text-align:left}\n"
".text td{white-space:normal}\n"
"th{color:var(--soft);font-weight:600;font-size:13px;border-bottom-color:#b9c2cc}\n"
"tbody tr:hover{background:#f7f9fb}\n"
".dot{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:8px;"
"vertical-align:-1px}\n"
".legend{margin:2px 0 4px;color:var(--soft);font-size:13px}.legend .item{margin-right:18px;"
"white-space:nowrap}\n"
".note{color:var(--soft);font-size:13px;margin:6px 0 0}\n"
".pm{color:var(--soft)}.weak{color:#9aa5b1}.missing{color:#a33;font-style:italic}\n"
".better{color:#14795a}.worse{color:#b3372b}\n"
".verdict h3{margin:12px 0 2px}.verdict ul{margin:0 0 10px;padding-left:20px}\n"
/* Percentages on lines of their own: four columns and their names fit side by side. */
"table.compare td span{display:block}table.compare td:first-child{white-space:normal;min-width:11em}\n"
".left{text-align:left}table.pauses td:last-child{white-space:normal}td a{color:var(--accent)}\n"
/* The script's charts replace the picture on screens; in print the picture stays. */
".live{display:none}.scripted .live{display:block}.scripted .still{display:none}\n"
".live:focus-visible{outline:2px solid var(--accent);outline-offset:4px}.charts{position:relative}\n"
".live .chart{width:100%}.live canvas.lanes{width:100%;display:block}\n"
".live .cursor{display:none;position:absolute;top:0;bottom:40px;width:1px;background:var(--soft);pointer-events:none;z-index:5}\n"
".live .readout{min-height:3.2em}.live .tools{margin:4px 0;font-size:13px}\n"
".live button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:4px;"
"padding:2px 10px;margin-right:6px;cursor:pointer;min-width:2.4em}\n"
".live .group{font-weight:600;margin-right:8px}.live label{cursor:pointer;display:inline-block}.live input{margin:0 5px 0 0;vertical-align:-1px}\n"
".live .dygraph-axis-label,.live .dygraph-label{color:var(--soft);font-size:12px}\n"
"details{margin-top:18px}summary{cursor:pointer;color:var(--accent)}\n"
"nav a{color:var(--accent);margin-right:16px;text-decoration:none}\n"
/*
 * Phones: labels wrap. Pictures with a narrow version use it; others keep a legible size and
 * scroll sideways.
 */
"@media(max-width:640px){main{padding:14px 8px 40px}section{padding:14px 12px}th,td{padding:5px 6px}"
"th:first-child,td:first-child,table.pauses td:last-child{white-space:normal;min-width:8em}.plot .wide{width:760px}"
/* Phones: the name of a figure is above its values, so that two columns fit. */
"table.compare,table.compare thead,table.compare tbody{display:block}table.compare tr{display:grid;"
"grid-template-columns:repeat(var(--kinds),minmax(9.6em,1fr));border-bottom:1px solid var(--line)}"
"table.compare td{border:0}table.compare td:first-child{grid-column:1/-1;padding-bottom:0;font-weight:600}"
"table.compare td:first-child span{display:inline;font-weight:400}table.compare th:first-child{display:none}}\n"
/* Dark pages: pictures have a white background; invert it, and rotate hues back. */
"@media(prefers-color-scheme:dark){:root{--ink:#e3e8ee;--soft:#9fabb8;--line:#333d48;--page:#12171d;--card:#1a2129;"
"--accent:#7fb4e6}th{border-bottom-color:#4a5663}tbody tr:hover{background:#212a34}.plot img,.live canvas,.dot{filter:invert(.9) hue-rotate(180deg)}"
".better{color:#57c79b}.worse{color:#f08a7e}}\n"
"@media print{.scripted .live{display:none}.scripted .still{display:block}body{background:#fff}main{max-width:none;padding:0}section{border:0;padding:0}.scroll,.plot{overflow:visible}"
"th,td{white-space:normal;padding:3px 5px}tr,.plot,.still{break-inside:avoid}h2,h3,.sub,.legend{break-after:avoid}"
".dot{print-color-adjust:exact;-webkit-print-color-adjust:exact}nav{display:none}}\n";
/* clang-format on */

static void text_write_escaped(FILE *html, const char *before, const char *text, const char *after)
{
	fputs(before, html);
	escape_html(html, text);
	fputs(after, html);
}

/* The MIT licence of dygraphs must be included with copies; the script only names it. */
static void scripts_write(FILE *html)
{
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

static void contents_write(struct run *const *run, size_t runs, size_t detail, FILE *html)
{
	if (runs < 2)
		return;
	fputs("<nav>", html);
	for (size_t i = 0; i < runs; i++) {
		if (run_nth_of_label(run, i) >= detail)
			continue;
		fprintf(html, "<a href=\"#run%zu\">", i);
		text_write_escaped(html, "", run[i]->label, "</a> ");
	}
	fputs("</nav>\n", html);
}

static int page_write(struct run *const *run, size_t runs, const struct plot_scale *scale,
		      const char *title, size_t detail, FILE *html)
{
	size_t wanted = 0, drawn = 0;
	int ret, r, hosts;

	for (size_t i = 0; i < runs; i++)
		wanted += run_nth_of_label(run, i) < detail;
	text_write_escaped(html,
			   "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
			   title, "</title>\n<style>\n");
	fputs(report_style, html);
	fputs(asset_dygraphs_style, html);
	text_write_escaped(html, "</style></head><body><main>\n<header><h1>", title, "</h1>\n");
	fprintf(html,
		"<p>%zu recording%s, made into this page by gchintctl " GCHINTD_VERSION
		"</p></header>\n",
		runs, runs == 1 ? "" : "s");
	contents_write(run, runs, detail, html);
	if (runs > 1) {
		fputs("<section>\n<h2>Side by side</h2>\n", html);
		report_compare(run, runs, html);
		fputs("</section>\n", html);
	}
	hosts = report_hosts(run, runs, detail, html);
	fputs("<section>\n<h2>Minimum mutator utilisation</h2>\n<p class=\"sub\">The least share "
	      "of "
	      "any window that the mutators had to themselves. Higher and further left is better; "
	      "where a curve leaves 0 is its longest pause.</p>\n",
	      html);
	ret = plot_mmu(run, runs, html);
	ret = ret ? ret : hosts;
	fputs("</section>\n", html);
	for (size_t i = 0; i < runs; i++) {
		if (run_nth_of_label(run, i) >= detail)
			continue;
		r = report_run(run[i], i, scale, html);
		run_forget(run[i]);
		ret = ret ? ret : r;
		drawn++;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\rgchintctl: %zu of %zu drawn%s", drawn, wanted,
				drawn == wanted ? "\n" : "");
	}
	fputs("</main>\n", html);
	scripts_write(html);
	fputs("</body></html>\n", html);
	return ret;
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
	const char *output = "report.html", *title = "Garbage collection, frequency and power";
	uint64_t detail = 1;
	struct plot_scale scale;
	struct run **run;
	size_t runs, behind = run_behind_dashes(argc, argv);
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
			title = optarg;
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
	run = run_open_all(argv + optind, runs, behind);
	if (!run)
		return CTL_FILE;
	if (plot_scale(run, runs, &scale))
		goto close_runs;
	html = ctl_create(output);
	if (!html)
		goto free_scale;
	ret = page_write(run, runs, &scale, title, detail, html) ? CTL_FAILED : CTL_OK;
	if (ctl_commit(html, output))
		ret = CTL_FILE;
free_scale:
	free(scale.khz);
close_runs:
	run_close_all(run, runs);
	return ret;
}
