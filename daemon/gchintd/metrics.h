/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running totals for a fleet's monitoring: a file for node_exporter's textfile
 * collector, which reads Prometheus's own text format only, and an HTTP endpoint,
 * which speaks OpenMetrics too. What is not known has no line.
 */
#ifndef GCHINTD_METRICS_H
#define GCHINTD_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct metrics;
struct writer_stats;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Each record, as it is made. Allocates nothing but for a rail's first sample. */
void metrics_observe(struct metrics *m, const struct record *r);

/**
 * metrics_rail - a rail by its number in the recording
 * @m: totals
 * @id: its number
 * @name: copied, as is @label, which may be NULL
 * @kind: enum rail_kind
 * @everyones: any user of the machine can read it
 */
void metrics_rail(struct metrics *m, uint32_t id, const char *name, const char *label, int kind,
		  bool everyones);

/*
 * For whom a text is. What the kernel keeps from most users is for them energy in
 * whole joules, a minute old at most: fine readings give keys away (CVE-2020-8694).
 */
enum metrics_for {
	METRICS_FOR_EVERYONE,
	METRICS_FOR_KNOWN
};

enum metrics_format {
	METRICS_OPENMETRICS, /* version 1.0.0, ended by "# EOF" */
	METRICS_PROMETHEUS /* text format 0.0.4 */
};

/**
 * struct metrics_around - what is counted elsewhere
 * @lost: records that found the queue full
 * @known: the rest is known
 * @slots: leased ones
 * @in_phase: of those, in a collection phase now
 */
struct metrics_around {
	uint64_t lost;
	bool known;
	unsigned int slots, in_phase;
};

/**
 * metrics_text - the exposition
 * @m: totals
 * @around: may be NULL
 * @writer: may be NULL
 * @whom: for whom
 * @format: which text format
 * @size: receives its length
 *
 * Returns a string to be freed, NULL without memory.
 */
char *metrics_text(const struct metrics *m, const struct metrics_around *around,
		   const struct writer_stats *writer, enum metrics_for whom,
		   enum metrics_format format, size_t *size);

#endif
