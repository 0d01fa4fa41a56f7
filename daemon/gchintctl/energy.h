/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy of a rail, split over phases by the time they overlap with its samples.
 *
 * Between two readings of a counter the energy of the whole interval is known, and
 * nothing else: a phase in it took anything from none to all, for power is not
 * below 0 and no reading tells how high it was. Known limits of the rail's power
 * narrow that; the mean of an interval is no such limit. Where a phase covers
 * whole intervals it has all of their energy.
 *
 * A counter that counts in steps of time (RAPL's, of about a millisecond) tells at each
 * reading the energy of up to one step ago. An interval's energy may then be of anything
 * from one step before its first reading to its last: a phase has all of it only where it
 * covers all of that, and none only where it touches nothing of it. How far such a counter
 * goes before it begins anew is known too: where it may have done so twice between two
 * readings, nothing is known of that interval.
 *
 * A power meter tells power at instants. What it was between them is an estimate
 * (the trapezium); of a phase that lies between two of them nothing is known.
 */
#ifndef GCHINTCTL_ENERGY_H
#define GCHINTCTL_ENERGY_H

#include "run.h"

/**
 * struct energy_part - what a group of phases took
 * @joules: share by time
 * @low: it took no less, J
 * @high: it took no more, J; INFINITY where nothing bounds it
 * @ns: time of the group that lies between known samples
 * @whole_ns: of that, in intervals of which the group has all
 * @unknown_ns: time of the group in which the rail was not known
 */
struct energy_part {
	double joules, low, high;
	uint64_t ns, whole_ns, unknown_ns;
};

/*
 * Whether @joules says something: the truth is bounded to within half of it, or
 * nine tenths of the time were seen whole.
 */
bool energy_resolved(const struct energy_part *p);

struct energy {
	struct energy_part part[RUN_GROUPS];
	double total; /* J, over the intervals known */
	uint64_t known_ns;
	double mean_w;
	size_t samples, unknown;
	size_t beyond; /* intervals whose mean power is outside of the limits */
	size_t wrapped; /* not known: the counter may have begun anew twice meanwhile */
	uint64_t interval_ns; /* median distance of samples */
};

/* Kinds of phase that can share a stretch. */
#define ENERGY_SHARES 4

/* A stretch of time with the set of groups that were active in it. */
struct energy_segment {
	uint64_t t0, t1;
	uint16_t group[ENERGY_SHARES]; /* the first few; a stretch rarely has more */
	uint16_t nr; /* 0: outside of phases */
};

/**
 * energy_segments - the phases of a run as disjoint stretches, in order
 * @run: the run
 * @rail: only phases that began on a CPU that it feeds; NULL all
 * @group: of each phase, below RUN_GROUPS; NULL that of its kind
 * @nr: receives how many
 *
 * Covers [t0, t1) of the run. Returns an array to be freed, NULL without memory.
 */
struct energy_segment *energy_segments(const struct run *run, const struct run_rail *rail,
				       const uint16_t *group, size_t *nr);

/**
 * energy_split - pure: samples and stretches in, parts out
 * @s: samples in order of time
 * @samples: how many
 * @counter: values are a counter of energy (uJ), not a power (uW)
 * @limits: of the rail
 * @seg: stretches
 * @segments: how many
 * @e: result
 *
 * Returns false without memory for the interval between samples.
 */
bool energy_split(const struct run_sample *s, size_t samples, bool counter,
		  const struct energy_limits *limits, const struct energy_segment *seg,
		  size_t segments, struct energy *e);

/*
 * All of it for run->rail[@rail], by @group of each phase (NULL: its kind); false if it has
 * no energy to tell, or without memory, which is told.
 */
bool energy_of(const struct run *run, size_t rail, const uint16_t *group, struct energy *e);

/*
 * Of all rails that feed one core each together: what ran on each, added up. Returns how
 * many there are that tell energy.
 */
size_t energy_of_cores(const struct run *run, const uint16_t *group, struct energy *e);

/* What was not in group 0: all that a rail took, less what it took outside. */
struct energy_part energy_inside(const struct energy *e);

/**
 * energy_modelled - from OPP powers instead of a rail
 * @run: the run
 * @e: parts of the phases only: a phase is taken to keep its CPU busy
 * @source: receives the table's name
 * @size: of @source
 *
 * False if the recording has no power for its OPPs.
 */
bool energy_modelled(const struct run *run, struct energy *e, char *source, size_t size);

#endif
