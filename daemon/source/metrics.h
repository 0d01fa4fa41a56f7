/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running totals for monitoring: a file for node_exporter's textfile collector, which reads
 * only Prometheus's text format, and an HTTP endpoint, which also supports OpenMetrics. An
 * unknown value has no line.
 */
#ifndef SOURCE_METRICS_H
#define SOURCE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../recording/record.h"

#define METRICS_SERVICE 64 /* bytes of a service's name */

struct metrics;
struct writer_stats;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Accounts a record. Called for each one when it is made. */
void metrics_observe(struct metrics *m, const struct record *r);
/* No more records follow. */
void metrics_finish(struct metrics *m);

/**
 * metrics_process - the service that a process belongs to
 * @m: totals
 * @tgid: the process; what was known of another one with this number is replaced
 * @service: copied; a label of what is observed of the process from now on
 *
 * The label has at most 64 values: further services are the service "other".
 */
void metrics_process(struct metrics *m, int32_t tgid, const char *service);

/**
 * metrics_rail - a rail by its number in the recording
 * @m: totals
 * @id: its number
 * @name: copied, as is @label, which may be NULL
 * @kind: enum rail_kind
 * @everyones: any user of the machine may read it
 */
void metrics_rail(struct metrics *m, uint32_t id, const char *name, const char *label, int kind,
		  bool everyones);

/*
 * The audience of a text. Phases, decisions and frequencies are for who may read recordings.
 * Rails that the kernel hides from most users are shown to clients without the token as energy
 * in whole joules, updated once a minute: fine readings leak keys (CVE-2020-8694).
 */
enum metrics_for {
	METRICS_FOR_EVERYONE, /* rails and the daemon's own state */
	METRICS_FOR_GROUP, /* the text file: all but fine readings of hidden rails */
	METRICS_FOR_KNOWN, /* with the token: all */
	METRICS_FOR_NR
};

enum metrics_format {
	METRICS_OPENMETRICS, /* version 1.0.0, ended by "# EOF" */
	METRICS_PROMETHEUS, /* text format 0.0.4 */
	METRICS_FORMAT_NR
};

/**
 * struct metrics_around - totals of other components
 * @lost: records that found the queue full
 * @known: @slots and @in_phase are valid
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
 * @m: totals; a pause counts a second after its end
 * @around: may be NULL
 * @writer: may be NULL
 * @whom: the audience
 * @format: which text format
 * @size: receives its length
 *
 * Returns a string to be freed, NULL without memory.
 */
char *metrics_text(struct metrics *m, const struct metrics_around *around,
		   const struct writer_stats *writer, enum metrics_for whom,
		   enum metrics_format format, size_t *size);

#endif
