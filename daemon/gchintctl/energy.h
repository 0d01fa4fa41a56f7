/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy of a rail, split over phases by the time they overlap with its samples.
 *
 * Between two samples only the energy of the whole interval is known. A part
 * of it goes to a phase in proportion to the overlap; how wrong that can be is
 * bounded by the lowest and highest power the rail showed in the run: the rest
 * of the interval cannot have taken more than the highest nor less than the
 * lowest. A phase that lies across whole intervals is therefore sharp, one
 * much shorter than the sampling period is not, and says so.
 */
#ifndef GCHINTCTL_ENERGY_H
#define GCHINTCTL_ENERGY_H

#include "run.h"

/**
 * struct energy_part - what a group of phases took
 * @joules: best estimate
 * @error: the truth is no further away than this, J
 * @ns: time of the group that lies between known samples
 * @unknown_ns: time of the group in which the rail was not known
 */
struct energy_part {
	double joules, error;
	uint64_t ns, unknown_ns;
};

struct energy {
	struct energy_part part[RUN_GROUPS];
	double total; /* J, over the intervals known */
	uint64_t known_ns;
	double mean_w, min_w, max_w;
	size_t samples, unknown;
	uint64_t interval_ns; /* median distance of samples */
};

/* A sample: value in uW (power) or uJ (energy), or not known. */
struct energy_sample {
	uint64_t t;
	int64_t value;
	bool known;
};

/* A stretch of time with the set of groups that were active in it. */
struct energy_segment {
	uint64_t t0, t1;
	uint16_t group[4]; /* the first few; a stretch rarely has more */
	uint16_t nr; /* 0: outside of phases */
};

/**
 * energy_segments - the phases of a run as disjoint stretches, in order
 * @run: the run
 * @nr: receives how many
 *
 * Covers [t0, t1) of the run. Returns an array to be freed, NULL without memory.
 */
struct energy_segment *energy_segments(const struct run *run, size_t *nr);

/**
 * energy_split - pure: samples and stretches in, parts out
 * @s: samples in order of time
 * @samples: how many
 * @counter: values are a counter of energy, not a power
 * @seg: stretches
 * @segments: how many
 * @e: result
 */
void energy_split(const struct energy_sample *s, size_t samples, bool counter,
		  const struct energy_segment *seg, size_t segments, struct energy *e);

/* All of it for one rail of a run; false if it has no energy to tell. */
bool energy_of(const struct run *run, const struct run_rail *rail, struct energy *e);

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
