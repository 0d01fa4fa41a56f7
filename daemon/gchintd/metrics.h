/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running totals for a fleet's monitoring, in the OpenMetrics text format: a
 * file for node_exporter's textfile collector and an HTTP endpoint. What is not
 * known has no line.
 */
#ifndef GCHINTD_METRICS_H
#define GCHINTD_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct host;
struct metrics;
struct writer_stats;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Each record, as it is made. Allocates nothing but for a rail's first sample. */
void metrics_observe(struct metrics *m, const struct record *r);

/* A rail by its number in the recording; strings are copied. */
void metrics_rail(struct metrics *m, uint32_t id, const char *name, const char *label, int kind);

/**
 * metrics_text - the exposition, ended by "# EOF"
 * @m: totals
 * @host: for what is counted elsewhere; may be NULL
 * @writer: may be NULL
 * @size: receives its length
 *
 * Returns a string to be freed, NULL without memory.
 */
char *metrics_text(const struct metrics *m, const struct host *host,
		   const struct writer_stats *writer, size_t *size);

#endif
