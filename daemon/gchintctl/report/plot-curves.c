// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time at each frequency by phase, and minimum mutator utilisation (MinMU) by window: Figures 7
 * and 9 of the Dalvik seed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl.h"
#include "../recording/db.h"
#include "mmu.h"
#include "plot.h"

#define WIDTH 1120

/*
 * From cool for low frequencies to warm for high ones. No colour is as light as a white page or
 * as dark as a dark one.
 */
static void scale_shade(char *buf, size_t size, size_t i, size_t n)
{
	static const int stops[][3] = { { 0x2b, 0x4c, 0x7e },
					{ 0x4a, 0x97, 0xa8 },
					{ 0xb3, 0x9b, 0x3c },
					{ 0xdb, 0x87, 0x33 },
					{ 0xb8, 0x32, 0x2a } };
	double at = n > 1 ? 4.0 * (double)i / (double)(n - 1) : 0;
	int k = at >= 4 ? 3 : (int)at;
	double part = at - k;
	int c[3];

	for (int j = 0; j < 3; j++)
		c[j] = (int)(stops[k][j] + part * (stops[k + 1][j] - stops[k][j]) + 0.5);
	snprintf(buf, size, "#%02x%02x%02x", c[0], c[1], c[2]);
}

/* Ranks by the frequencies of all runs of the page, so that one has the same colour everywhere. */
static size_t scale_rank(const struct plot_scale *scale, uint32_t khz)
{
	size_t i = 0;

	while (i + 1 < scale->nr && scale->khz[i] < khz)
		i++;
	return i;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int plot_scale(struct run *const *run, size_t runs, struct plot_scale *scale)
{
	size_t all = 0;

	for (size_t i = 0; i < runs; i++)
		all += run[i]->khzs;
	*scale = (struct plot_scale){ .khz = malloc((all ? all : 1) * sizeof(*scale->khz)) };
	if (!scale->khz) {
		ctl_error("no memory for the frequencies of %zu recordings", runs);
		return -ENOMEM;
	}
	all = 0;
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 0; k < run[i]->khzs; k++)
			scale->khz[all++] = run[i]->khz[k];
	qsort(scale->khz, all, sizeof(*scale->khz), by_khz);
	for (size_t i = 0; i < all; i++)
		if (!scale->nr || scale->khz[scale->nr - 1] != scale->khz[i])
			scale->khz[scale->nr++] = scale->khz[i];
	return 0;
}

int plot_residency(const struct run *run, const struct plot_scale *scale, FILE *html)
{
	unsigned int group[RUN_GROUPS], rows = 0;
	char name[48], colour[8];
	struct plot p;
	int ret;

	for (unsigned int g = 0; g < RUN_GROUPS; g++) {
		uint64_t ns = 0;

		for (size_t k = 0; k < run->khzs; k++)
			ns += run->residency[k][g];
		if (ns)
			group[rows++] = g;
	}
	if (!rows) {
		fputs("<p class=\"missing\">No frequency was recorded.</p>\n", html);
		return 0;
	}
	ret = plot_begin(&p, WIDTH, 110 + 34 * (int)rows);
	if (ret)
		return ret;
	/* Horizontal stacked bars are drawn as single boxes, because gnuplot's stacked
	 * histograms are vertical only. */
	for (size_t k = 0; k < run->khzs; k++) {
		fprintf(p.script, "$K%zu << EOD\n", k);
		for (unsigned int r = 0; r < rows; r++) {
			uint64_t all = 0, before = 0;

			for (size_t j = 0; j < run->khzs; j++) {
				all += run->residency[j][group[r]];
				if (j < k)
					before += run->residency[j][group[r]];
			}
			fprintf(p.script, "%.4f %.4f %u\n", 100.0 * (double)before / (double)all,
				100.0 * (double)(before + run->residency[k][group[r]]) /
					(double)all,
				rows - r);
		}
		fputs("EOD\n", p.script);
	}
	fprintf(p.script,
		"set lmargin at screen 0.15\nset rmargin at screen 0.985\n"
		"set xrange [0:100]\nset yrange [0.4:%u.6]\n"
		"set xlabel 'share of the time (%%)' offset 0,0.3\nset grid xtics\n"
		"set key outside top center horizontal samplen 0.8 width -1 font ',12'\n"
		"set ytics scale 0 (",
		rows);
	for (unsigned int r = 0; r < rows; r++)
		fprintf(p.script, "%s'%s' %u", r ? "," : "",
			run_group_name(group[r], name, sizeof(name)), rows - r);
	fputs(")\nplot ", p.script);
	for (size_t k = 0; k < run->khzs; k++) {
		scale_shade(colour, sizeof(colour), scale_rank(scale, run->khz[k]), scale->nr);
		fprintf(p.script,
			"%s $K%zu using (($1+$2)/2):3:1:2:($3-0.36):($3+0.36) with boxxyerror fs "
			"solid 1 noborder fc rgb '%s' title '%.0f MHz'",
			k ? ",\\\n" : "", k, colour, run->khz[k] / 1000.0);
	}
	fputs("\n", p.script);
	/* The key is above the plot in three columns; the left margin holds the phases' names. */
	p.narrow = "set key maxcols 3\nset lmargin at screen 0.36";
	p.narrow_height = 120 + 34 * (int)rows + 18 * (int)((run->khzs + 2) / 3);
	return plot_end(&p, html, "Share of time at each frequency, by phase");
}

static void mmu_write_curve(const struct run *run, size_t i, FILE *f)
{
	double longest = (double)(run->t1 - run->t0), window = 1e6;
	struct mmu_processes p;

	fprintf(f, "$M%zu << EOD\n", i);
	if (mmu_processes_of(run, &p)) {
		for (; window < longest; window *= 1.06)
			fprintf(f, "%.6f %.6f\n", window / 1e6,
				100 * mmu_of_processes(&p, (uint64_t)window));
		fprintf(f, "%.6f %.6f\n", longest / 1e6,
			100 * mmu_of_processes(&p, (uint64_t)longest));
		mmu_processes_free(&p);
	}
	fputs("EOD\n", f);
}

/* The number of distinct labels: each has one line in the key. */
static size_t labels_count(struct run *const *run, size_t runs)
{
	size_t kinds = 0;

	for (size_t i = 0; i < runs; i++) {
		size_t j = 0;

		while (j < i && strcmp(run[j]->label, run[i]->label))
			j++;
		kinds += j == i;
	}
	return kinds;
}

int plot_mmu(struct run *const *run, size_t runs, FILE *html)
{
	struct plot p;
	int ret = plot_begin(&p, WIDTH, 420);

	if (ret)
		return ret;
	for (size_t i = 0; i < runs; i++)
		mmu_write_curve(run[i], i, p.script);
	fputs("set logscale x\nset xrange [1:*]\nset yrange [0:102]\n"
	      "set xlabel 'window (ms)' offset 0,0.3\nset ylabel 'minimum mutator utilisation (%)' "
	      "offset 1\nset key bottom right Left reverse samplen 1.6 font ',12'\n"
	      "set grid xtics ytics mxtics lc rgb '#e3e7ec' lt 1 lw 1\nplot ",
	      p.script);
	for (size_t i = 0; i < runs; i++) {
		size_t same = 0;
		bool repeated = false;

		/* Runs with the same label share a colour and one line of the key. */
		for (size_t j = 0, kinds = 0; j <= i; j++) {
			bool seen = false;

			for (size_t k = 0; k < j; k++)
				seen = seen || !strcmp(run[k]->label, run[j]->label);
			if (!strcmp(run[j]->label, run[i]->label)) {
				if (j < i)
					repeated = true;
				if (!seen)
					same = kinds;
			}
			kinds += !seen;
		}
		fprintf(p.script, "%s $M%zu using 1:2 with lines lw %s lc rgb '%s' ",
			i ? ",\\\n" : "", i, repeated ? "1" : "2", plot_line_colour(same));
		if (repeated) {
			fputs("notitle", p.script);
			continue;
		}
		fputs("title ", p.script);
		plot_text(p.script, run[i]->label);
		fputs(" noenhanced", p.script);
	}
	fputs("\n", p.script);
	/* The key is above the plot, because the curves take the whole width. */
	p.narrow = "set key outside top center vertical maxcols 1\n"
		   "set ylabel 'MinMU (%)' offset 2\nset lmargin 6\nset rmargin 3";
	p.narrow_height = 280 + 18 * (int)labels_count(run, runs);
	return plot_end(&p, html, "Minimum mutator utilisation against the window");
}
