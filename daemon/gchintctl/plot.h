/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures for the report, drawn by gnuplot. */
#ifndef GCHINTCTL_PLOT_H
#define GCHINTCTL_PLOT_H

#include <stdint.h>
#include <stdio.h>

#include "run.h"

/**
 * struct plot - a gnuplot script under way
 * @script: write commands here
 * @narrow: commands after which the same is drawn once more for a phone, PLOT_NARROW
 *	wide; NULL: a phone shows the wide one, in parts
 * @narrow_height: of that
 *
 * Datablocks ($NAME << EOD) are the way to hand data over.
 */
struct plot {
	FILE *script;
	char dir[32];
	int width, height;
	const char *narrow;
	int narrow_height;
};

#define PLOT_NARROW 340

/* 0 or -errno; -ENOENT when gnuplot is not installed. */
int plot_begin(struct plot *p, int width, int height);

/**
 * plot_end - draw, and put the picture into a page
 * @p: the script
 * @html: the page
 * @alt: what the picture shows, for those who do not see it
 *
 * Returns 0 or -errno; the page then says that the picture is missing.
 */
int plot_end(struct plot *p, FILE *html, const char *alt);

/*
 * A quoted string. Names come from devices and users; between single quotes
 * gnuplot takes nothing as a command.
 */
void plot_text(FILE *script, const char *s);

/* "#rrggbb" of a phase, the same in every picture and table. */
const char *plot_phase_colour(unsigned int group);
/* Of the i-th line of a plot. */
const char *plot_line_colour(size_t i);

/* A run over time: rails, phases, frequencies, between two instants. */
int plot_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html);

/* Every frequency of a page, ascending: what their colours go by. */
struct plot_scale {
	uint32_t *khz;
	size_t nr;
};

/* 0 or -ENOMEM; scale->khz is the caller's to free. */
int plot_scale(struct run *const *run, size_t runs, struct plot_scale *scale);

/* Share of time at each frequency, by phase. */
int plot_residency(const struct run *run, const struct plot_scale *scale, FILE *html);
/* Minimum mutator utilisation against the window, all runs in one. */
int plot_mmu(struct run *const *run, size_t runs, FILE *html);

#endif
