/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report's page. */
#ifndef GCHINTCTL_REPORT_H
#define GCHINTCTL_REPORT_H

#include <stdio.h>

#include "run.h"

extern const char report_style[];

/* One run: pictures, tables, where it came from. Returns 0 or the first -errno. */
int report_run(const struct run *run, FILE *html);
/* Several: groups of runs with one label, side by side, with how sure it is. */
void report_compare(struct run *const *run, size_t runs, FILE *html);

#endif
