// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time at each frequency by phase, and minimum mutator utilisation (MinMU) by window: Figures 7
 * and 9 of the Dalvik seed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/mmu.h"
#include "../../common/escape.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/several.h"
#include "../ctl.h"
#include "plot.h"
#include "report.h"

/*
 * The depth of a frequency's shade of ink, 0 to 1: low frequencies are pale, high ones dark.
 * Ranks are among the frequencies of all runs of the page, so that one has the same shade
 * everywhere.
 */
static double scale_depth(const struct plot_scale *scale, uint32_t khz)
{
	size_t i = 0;

	while (i + 1 < scale->nr && scale->khz[i] < khz)
		i++;
	return scale->nr > 1 ? 0.15 + 0.8 * (double)i / (double)(scale->nr - 1) : 0.5;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int plot_scale(struct recording *const *rec, size_t runs, struct plot_scale *scale)
{
	size_t all = 0;

	for (size_t i = 0; i < runs; i++)
		all += rec[i]->khzs;
	*scale = (struct plot_scale){ .khz = malloc((all ? all : 1) * sizeof(*scale->khz)) };
	if (!scale->khz) {
		ctl_error("no memory for the frequencies of %zu recordings", runs);
		return -ENOMEM;
	}
	all = 0;
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 0; k < rec[i]->khzs; k++)
			scale->khz[all++] = rec[i]->khz[k];
	qsort(scale->khz, all, sizeof(*scale->khz), by_khz);
	for (size_t i = 0; i < all; i++)
		if (!scale->nr || scale->khz[scale->nr - 1] != scale->khz[i])
			scale->khz[scale->nr++] = scale->khz[i];
	return 0;
}

static uint64_t residency_sum(const struct recording *rec, unsigned int group)
{
	uint64_t ns = 0;

	for (size_t k = 0; k < rec->khzs; k++)
		ns += rec->residency[k][group];
	return ns;
}

static void residency_write_bar(const struct recording *rec, const struct plot_scale *scale,
				unsigned int group, uint64_t all, FILE *html)
{
	char name[48];

	fputs("<div class=\"bar\"><span>", html);
	plot_phase_write_dot(group, html);
	fprintf(html, "%s</span><div>", phase_group_name(group, name, sizeof(name)));
	for (size_t k = 0; k < rec->khzs; k++) {
		double share = 100.0 * (double)rec->residency[k][group] / (double)all;

		if (rec->residency[k][group])
			fprintf(html,
				"<i style=\"width:%.2f%%;opacity:%.2f\" title=\"%.0f MHz: %.1f "
				"%%\"></i>",
				share, scale_depth(scale, rec->khz[k]), rec->khz[k] / 1000.0,
				share);
	}
	fputs("</div></div>\n", html);
}

bool plot_residency(const struct recording *rec, const struct plot_scale *scale, FILE *html)
{
	bool any = false;

	for (unsigned int g = 0; g < PHASE_GROUPS; g++)
		any = any || residency_sum(rec, g);
	if (!any)
		return false;
	fputs("<div class=\"bars\">\n", html);
	for (unsigned int g = 0; g < PHASE_GROUPS; g++)
		if (residency_sum(rec, g))
			residency_write_bar(rec, scale, g, residency_sum(rec, g), html);
	fputs("</div>\n<p class=\"legend\"><b>MHz</b>", html);
	for (size_t k = 0; k < rec->khzs; k++)
		fprintf(html,
			"<span class=\"item\"><i class=\"depth\" style=\"opacity:%.2f\"></i>%.0f"
			"</span>",
			scale_depth(scale, rec->khz[k]), rec->khz[k] / 1000.0);
	fputs("</p>\n", html);
	return true;
}

static void mmu_write_curve(const struct recording *rec, struct plot_path *path)
{
	double longest = (double)(rec->t1 - rec->t0), window = 1e6;
	struct mmu_processes p;

	if (!mmu_processes_of(rec, &p))
		return;
	for (; window < longest; window *= 1.06)
		plot_path_put(path, window / 1e6, 100 * mmu_of_processes(&p, (uint64_t)window));
	plot_path_put(path, longest / 1e6, 100 * mmu_of_processes(&p, (uint64_t)longest));
	mmu_processes_free(&p);
}

/* The rank of the run's label among the labels; each has one style. */
static size_t label_rank(struct recording *const *rec, size_t i)
{
	size_t rank = 0;

	for (size_t j = 0; j < i && strcmp(rec[j]->label, rec[i]->label); j++)
		rank += !recording_nth_of_label(rec, j);
	return rank;
}

void plot_mmu(struct recording *const *rec, size_t runs, FILE *html)
{
	struct plot_panel p = {
		.html = html,
		.x = { .from = 1, .to = 1.1, .logarithmic = true },
		.y = { .from = 0, .to = 102 },
		.height = 260,
		.x_labels = true,
		.x_title = "window (ms)",
		.title = "minimum mutator utilisation in % against the window in ms",
	};

	fputs("<p class=\"legend\"><b>MinMU (%)</b>", html);
	for (size_t i = 0; i < runs; i++) {
		p.x.to = fmax(p.x.to, (double)(rec[i]->t1 - rec[i]->t0) / 1e6);
		if (recording_nth_of_label(rec, i))
			continue;
		fputs("<span class=\"item\">", html);
		plot_group_write_key(label_rank(rec, i), html);
		escape_html(html, rec[i]->label);
		fputs("</span>", html);
	}
	fputs("</p>\n", html);
	plot_panel_begin(&p);
	for (size_t i = 0; i < runs; i++) {
		struct plot_path path;

		plot_path_begin(&path, &p, label_rank(rec, i));
		mmu_write_curve(rec[i], &path);
		plot_path_end(&path);
	}
	plot_panel_end(&p);
}
