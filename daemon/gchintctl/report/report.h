/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report's page. */
#ifndef GCHINTCTL_REPORT_H
#define GCHINTCTL_REPORT_H

#include <stdio.h>

#include "../../recording/reader/recording.h"
#include "plot.h"
#include "timeline.h"

/* Parts of a timeline for the script, see struct timeline; of a window there are as many. */
#define REPORT_CELLS 600
/* A line of up to four points a part is written as it is. */
#define REPORT_WHOLE (4 * (size_t)REPORT_CELLS)

/*
 * Texts that are embedded in pages, compiled into the program: our own style and script, and
 * dygraphs with its licence, from the build machine's package (libjs-dygraphs). They are strings,
 * all but the style "" where the program was built without dygraphs.
 */
extern const char asset_style[], asset_script[];
extern const char asset_dygraphs[], asset_dygraphs_style[], asset_dygraphs_licence[];

/**
 * report_run - write the section of a run: key figures, pictures, tables and provenance
 * @rec: the recording
 * @number: number of the section, used in its anchors
 * @scale: shades of frequencies
 * @alone: it is the page's only recording: the section has no heading, but a curve of MinMU
 * @html: the page
 */
void report_run(struct recording *rec, size_t number, const struct plot_scale *scale, bool alone,
		FILE *html);
/* The program that was paused for the longest, "java", or "java and 2 more"; "" not known. */
void report_name_programs(const struct recording *rec, char *buf, size_t size);
/* Writes the tables of energy by phase, core and process; nothing where there is none. */
void report_energy(const struct recording *rec, FILE *html);
/* Whether the energy of a rail is known. */
bool report_energy_is_known(const struct recording *rec);
/* Writes the energy in phases for the key figures, up to the end of its explanation. */
void report_energy_figure(const struct recording *rec, FILE *html);
/* Writes the run as JSON for the page's script, finest in the windows. */
void page_timeline(const struct recording *rec, const struct timeline_window *window,
		   size_t windows, FILE *html);
/* Writes the section about MinMU, or that there is no pause. */
void report_mmu(struct recording *const *rec, size_t runs, FILE *html);
/* For recordings of several hosts, writes their list and pauses. */
void report_hosts(struct recording *const *rec, size_t runs, size_t detail, FILE *html);
/* Compares groups of runs by label, with confidence intervals. */
void report_compare(struct recording *const *rec, size_t runs, FILE *html);

#endif
