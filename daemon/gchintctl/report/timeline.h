/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time interval of a run as lines and boxes: which rails and CPUs are drawn, and their
 * points. The number of points is limited to what a picture can show, without losing a
 * peak; windows of the interval, which a reader will zoom to, have as many points again.
 */
#ifndef GCHINTCTL_TIMELINE_H
#define GCHINTCTL_TIMELINE_H

#include "../../recording/reader/recording.h"

#define TIMELINE_RAILS 5
#define TIMELINE_CPUS  8
#define TIMELINE_HEAPS 6

struct timeline_window {
	uint64_t t0, t1;
};

/**
 * struct timeline - a time interval, and the rails and CPUs that are drawn of it
 * @rec: the recording
 * @t0: start of the interval
 * @t1: end of the interval
 * @cells: the number of equal parts of the interval; a line has four points at most in
 *	each part: the first, both extremes and the last
 * @window: windows of the interval, in order and disjoint, with @cells parts each
 * @windows: entries of @window
 * @whole: a line of no more points is not thinned at all
 * @rail: indexes of rec->rail: meters of power, counters of energy, then those of single
 *	cores; without any of them the voltages that changed
 * @rails: entries of @rail
 * @rails_left: rails that would be drawn too, but exceed TIMELINE_RAILS
 * @rails_rare: rails of power read less than ENERGY_READINGS times, which are not drawn
 * @rails_still: rails whose counter never moved, which are not drawn
 * @axis: title of the rails' axis, with the unit; "" without rails
 * @steps: a value is valid until the next one (voltages)
 * @cpu: indexes of rec->cpu, the first of each policy
 * @cpus: entries of @cpu
 * @cpus_left: policies that exceed TIMELINE_CPUS
 * @heap: indexes of rec->heap: the first reading of each heap whose bytes in use are known
 * @heaps: entries of @heap
 * @heaps_left: heaps that exceed TIMELINE_HEAPS
 */
struct timeline {
	const struct recording *rec;
	uint64_t t0, t1;
	unsigned int cells;
	const struct timeline_window *window;
	size_t windows, whole;
	size_t rail[TIMELINE_RAILS], rails, rails_left, rails_rare, rails_still;
	const char *axis;
	bool steps;
	size_t cpu[TIMELINE_CPUS], cpus, cpus_left;
	size_t heap[TIMELINE_HEAPS], heaps, heaps_left;
};

/* Receives the points in order of time; a line is interrupted at a gap. */
struct timeline_sink {
	void (*point)(void *data, uint64_t t, double value);
	void (*gap)(void *data);
	void *data;
};

/* Fills the rails, CPUs and heaps. */
void timeline_choose(struct timeline *t);

/* Whether neither lines nor decisions are thinned. */
bool timeline_is_whole(const struct timeline *t);

/* Sorts windows and joins those that overlap, in place. Returns how many are left. */
size_t timeline_merge_windows(struct timeline_window *window, size_t nr);

/**
 * struct timeline_cell - one part of the interval, or of a window
 * @window: the first window that does not end before it
 * @number: of the part within its window; or else within the interval
 * @length: in ns, 1 at least
 * @inside: it is a part of @window
 */
struct timeline_cell {
	size_t window;
	uint64_t number, length;
	bool inside;
};

/* Finds the part with @t, which must not be before that of an earlier call with the same @c. */
void timeline_find_cell(const struct timeline *tl, uint64_t t, struct timeline_cell *c);

/* Points of rail[@i], in W or V; returns how many there were. */
size_t timeline_rail(const struct timeline *t, size_t i, const struct timeline_sink *sink);
/* Points of cpu[@i], in MHz. */
size_t timeline_cpu(const struct timeline *t, size_t i, const struct timeline_sink *sink);
/* Points of heap[@i], in MiB in use. */
size_t timeline_heap(const struct timeline *t, size_t i, const struct timeline_sink *sink);

/* The rail's label, else its name. */
const char *timeline_rail_name(const struct timeline *t, size_t i);

#endif
