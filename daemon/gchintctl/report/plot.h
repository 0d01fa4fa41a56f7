/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures for the report, drawn by gnuplot. */
#ifndef GCHINTCTL_PLOT_H
#define GCHINTCTL_PLOT_H

#include <stdint.h>
#include <stdio.h>

#include "../recording/recording.h"

/**
 * struct plot - a gnuplot script that is being written
 * @script: write commands here; pass data in datablocks ($NAME << EOD)
 * @narrow: commands that adapt the plot to a phone: it is drawn a second time after them,
 *	PLOT_NARROW wide; NULL: a phone shows the wide picture and scrolls
 * @narrow_height: height of the second picture
 */
struct plot {
	FILE *script;
	char dir[32];
	int width, height;
	const char *narrow;
	int narrow_height;
};

#define PLOT_NARROW 340

/* Starts a script in a temporary directory. Returns 0 or -errno. */
int plot_begin(struct plot *p, int width, int height);

/**
 * plot_end - run gnuplot and embed the picture in a page
 * @p: the script
 * @html: the page
 * @alt: text alternative to the picture
 *
 * Returns 0 or -errno: -ENOENT if gnuplot is not installed. On an error the page says that the
 * picture is missing.
 */
int plot_end(struct plot *p, FILE *html, const char *alt);

/*
 * Writes a quoted string. Names come from devices and users; gnuplot interprets nothing
 * between single quotes.
 */
void plot_text(FILE *script, const char *s);

/* "#rrggbb" of a phase, the same in every picture and table. */
const char *plot_phase_colour(unsigned int group);
/* Colour of the i-th line of a plot. */
const char *plot_line_colour(size_t i);

/* Rails, phases and frequencies of a run between two instants. */
int plot_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html);

/* All frequencies of the runs of a page, ascending; a frequency's rank gives its colour. */
struct plot_scale {
	uint32_t *khz;
	size_t nr;
};

/* Returns 0 or -ENOMEM; the caller frees scale->khz. */
int plot_scale(struct run *const *run, size_t runs, struct plot_scale *scale);

/* Draws the share of time at each frequency, by phase. */
int plot_residency(const struct run *run, const struct plot_scale *scale, FILE *html);
/* Draws minimum mutator utilisation by length of window, all runs in one picture. */
int plot_mmu(struct run *const *run, size_t runs, FILE *html);

#endif
