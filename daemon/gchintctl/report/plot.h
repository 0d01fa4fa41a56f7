/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures for the report, written as HTML and SVG. The SVG of a panel is stretched to the width
 * of the page while its lines keep their width; texts are HTML next to it and keep their size. So
 * one picture fits a phone, a screen and paper, and takes its colours from the page's style.
 */
#ifndef GCHINTCTL_PLOT_H
#define GCHINTCTL_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../recording/reader/recording.h"

/**
 * struct plot_axis - the range of one axis
 * @from: its low end
 * @to: its high end, above @from
 * @logarithmic: equal distances are equal ratios; @from is above 0
 */
struct plot_axis {
	double from, to;
	bool logarithmic;
};

/**
 * struct plot_panel - a panel of which the parts are written one after the other
 * @html: the page
 * @x: horizontal axis
 * @y: vertical axis
 * @height: in pixels of the page
 * @x_labels: write the values of @x below the panel, with @x_title
 * @x_title: unit or meaning of @x
 * @title: text alternative
 */
struct plot_panel {
	FILE *html;
	struct plot_axis x, y;
	int height;
	bool x_labels;
	const char *x_title, *title;
};

void plot_panel_begin(const struct plot_panel *p);
void plot_panel_end(const struct plot_panel *p);

/* A box over all of the height between @from and @to, at least half a pixel wide. */
void plot_box(const struct plot_panel *p, double from, double to);

/**
 * struct plot_path - a line of a panel that is being written
 * @points: number of its points
 */
struct plot_path {
	const struct plot_panel *panel;
	size_t points;
};

/* Begins the line of the i-th label, see plot_group_write_key(). */
void plot_path_begin(struct plot_path *path, const struct plot_panel *p, size_t i);
void plot_path_put(struct plot_path *path, double x, double y);
void plot_path_end(struct plot_path *path);

/* "#rrggbb" of a phase, the same in every picture and table, whatever its class. */
const char *plot_phase_colour(unsigned int group);
/* Writes the sign of a phase: its colour, hatched if nothing waits for the phase. */
void plot_phase_write_dot(unsigned int group, FILE *html);
/* The sign of the i-th label. */
void plot_group_write_key(size_t i, FILE *html);

/* All frequencies of the runs of a page, ascending; a frequency's rank gives its shade. */
struct plot_scale {
	uint32_t *khz;
	size_t nr;
};

/* Returns 0 or -ENOMEM; the caller frees scale->khz. */
int plot_scale(struct recording *const *rec, size_t runs, struct plot_scale *scale);

/* Draws the share of time at each frequency, by phase. False: no frequency was recorded. */
bool plot_residency(const struct recording *rec, const struct plot_scale *scale, FILE *html);
/* Draws minimum mutator utilisation by length of window, all runs in one picture. */
void plot_mmu(struct recording *const *rec, size_t runs, FILE *html);

#endif
