/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report's page. */
#ifndef GCHINTCTL_REPORT_H
#define GCHINTCTL_REPORT_H

#include <stdio.h>

#include "plot.h"
#include "run.h"

extern const char report_style[];

/**
 * report_run - one run: pictures, tables, where it came from
 * @run: the run
 * @number: of its section, which makes its anchors
 * @scale: colours of frequencies
 * @html: the page
 *
 * Returns 0 or the first -errno.
 */
int report_run(const struct run *run, size_t number, const struct plot_scale *scale, FILE *html);
/* Its longest pauses; each row leads to its place in the picture @anchor. */
void report_pauses(const struct run *run, const char *anchor, FILE *html);
/* When, where, by which command, kernel, governor, sources, clocks. */
void report_provenance(const struct run *run, FILE *html);
/* A stretch of a run as data for the page's script. */
void page_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html);
/* Of several hosts: which, when, their pauses on one clock. 0 or the first -errno. */
int report_hosts(struct run *const *run, size_t runs, size_t detail, FILE *html);
/* Several: groups of runs with one label, side by side, with how sure it is. */
void report_compare(struct run *const *run, size_t runs, FILE *html);

#endif
