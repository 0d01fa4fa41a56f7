/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of a run as lines and boxes: which rails and CPUs are drawn, and their
 * points, no more of them than a picture has room for. However many there were, no
 * peak is lost.
 */
#ifndef GCHINTCTL_TIMELINE_H
#define GCHINTCTL_TIMELINE_H

#include "run.h"

#define TIMELINE_RAILS 5
#define TIMELINE_CPUS  8

/**
 * struct timeline - what is drawn
 * @run: of it
 * @t0: from
 * @t1: to
 * @cells: a line has four points at most in each of so many parts of the time: the
 *	first, both extremes and the last
 * @rail: indexes of run->rail: meters of power, counters of energy, then those of single
 *	cores; without any of them the voltages that changed
 * @rails: how many
 * @rails_left: more of that kind
 * @axis: what they are, with the unit; "" without any
 * @steps: a value holds until the next (voltages)
 * @cpu: indexes of run->cpu, the first of each policy
 * @cpus: how many
 * @cpus_left: policies beyond
 */
struct timeline {
	const struct run *run;
	uint64_t t0, t1;
	unsigned int cells;
	size_t rail[TIMELINE_RAILS], rails, rails_left;
	const char *axis;
	bool steps;
	size_t cpu[TIMELINE_CPUS], cpus, cpus_left;
};

/* Where points go, in order of time; a line breaks at a gap. */
struct timeline_sink {
	void (*point)(void *data, uint64_t t, double value);
	void (*gap)(void *data);
	void *data;
};

/* Fills all but run, t0, t1 and cells. */
void timeline_choose(struct timeline *t);

/* Points of rail[@i], in W or V; returns how many there were. */
size_t timeline_rail(const struct timeline *t, size_t i, const struct timeline_sink *sink);
/* Points of cpu[@i], in MHz. */
size_t timeline_cpu(const struct timeline *t, size_t i, const struct timeline_sink *sink);
/* Phases of a group, those closer than half a part joined; returns how many boxes. */
size_t timeline_boxes(const struct timeline *t, unsigned int group,
		      void (*box)(void *data, uint64_t from, uint64_t to), void *data);

/* The rail's label, else its name. */
const char *timeline_rail_name(const struct timeline *t, size_t i);

#endif
