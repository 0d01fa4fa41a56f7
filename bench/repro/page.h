/* SPDX-License-Identifier: MIT */
/* A finding in words, and the page that holds them all. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "repro/record.h"

/** page_verdict() - the verdict and the needs that were not met, to @text. */
void page_verdict(const struct claim *claim, const struct finding *f, char *text, size_t size);

/** page_figures() - the figures known of @e, one after the other, to @text. */
void page_figures(const struct entry *e, const double *figure, char *text, size_t size);

/** page_control() - the result of the control and whether it confirms, to @text. */
void page_control(const struct finding *f, char *text, size_t size);

/** page_write() - @path as Markdown. 0 or negative errno. */
int page_write(const struct record *r, const char *path);

#endif
