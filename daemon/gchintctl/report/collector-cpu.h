/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time of collection: over a run, and in words. */
#ifndef GCHINTCTL_COLLECTOR_CPU_H
#define GCHINTCTL_COLLECTOR_CPU_H

#include "../../recording/reader/recording.h"

/**
 * struct collector_cpu - what is known of the CPU time of collection
 * @known: there is a figure
 * @at_most: only the upper bound says something
 * @range: the bounds are far apart: @amount has both
 * @amount: "1.34 s", or "1.96 to 2.33 s"
 * @share: of one CPU, "18 %"; "" for a range
 * @waited: runnable without a CPU for at least that long, "505 ms"; "" if it is not worth a word
 * @wait_unknown: it may have waited, but no reading says so
 */
struct collector_cpu {
	bool known, at_most, range, wait_unknown;
	char amount[64], share[32], waited[32];
};

/* Returns false without phases, or without memory, after reporting it. */
bool collector_cpu_of(const struct recording *rec, struct collector_cpu *c);

#define COLLECTOR_CPU_PARTS 400

/**
 * struct collector_curve - CPU time of collection by equal parts of a run
 * @parts: 0 if it is not known
 * @length: of a part, ns
 * @run: CPU time in each part, ns
 */
struct collector_curve {
	size_t parts;
	uint64_t length;
	double run[COLLECTOR_CPU_PARTS];
};

void collector_curve_of(const struct recording *rec, struct collector_curve *curve);

#endif
