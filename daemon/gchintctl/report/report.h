/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report's page. */
#ifndef GCHINTCTL_REPORT_H
#define GCHINTCTL_REPORT_H

#include <stdio.h>

#include "../recording/recording.h"
#include "plot.h"

/**
 * report_run - write the section of a run: pictures, tables and provenance
 * @run: the run
 * @number: number of the section, used in its anchors
 * @scale: colours of frequencies
 * @html: the page
 *
 * Returns 0 or the first -errno.
 */
int report_run(const struct run *run, size_t number, const struct plot_scale *scale, FILE *html);
/* Writes a span of a run as JSON for the page's script. */
void page_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html);
/* For recordings of several hosts, writes their list and pauses. Returns 0 or -errno. */
int report_hosts(struct run *const *run, size_t runs, size_t detail, FILE *html);
/* Compares groups of runs by label, with confidence intervals. */
void report_compare(struct run *const *run, size_t runs, FILE *html);

#endif
