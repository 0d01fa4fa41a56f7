/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy of a rail while phases were open: split over them by the time they overlap with its
 * samples. It is the energy of all that the rail feeds, whatever ran there, and the bounds are of
 * that. What of it the threads in phases drew is attribution.h.
 *
 * Between two readings of a counter only the energy of the whole interval is known. A
 * phase in it took anything from none to all of it, because power is not below 0 and no
 * reading shows how high it was. Known limits of the rail's power narrow that; the mean of
 * an interval is no such limit. Where a phase covers whole intervals it has all of their
 * energy.
 *
 * A counter that advances in steps of time (RAPL's, of about a millisecond) shows at each
 * reading the energy as of up to one step ago. An interval's energy may then belong to any
 * time from one step before its first reading to its last: a phase has all of it only where
 * it covers all of that time, and none only where it overlaps with none of it. The value at
 * which such a counter wraps is known: where it may have wrapped twice between two readings,
 * nothing is known of that interval.
 *
 * A power meter shows power at instants. Power between them is estimated (trapezoidal
 * rule); nothing is known of a phase that lies between two of them. A meter that averages shows
 * the mean of some time before each reading: until that has passed since the begin, the energy is
 * unknown, and a phase has all of an interval's only where it covers that time, too.
 */
#ifndef ANALYSIS_ENERGY_H
#define ANALYSIS_ENERGY_H

#include "../recording/reader/recording.h"

/**
 * struct energy_part - energy of a group of phases
 * @joules: share by time
 * @low: lower bound, J
 * @high: upper bound, J; INFINITY where there is none
 * @ns: time of the group that lies between known samples
 * @whole_ns: of that, in intervals where the group's share is exact
 * @unknown_ns: time of the group in which the rail's energy is unknown
 */
struct energy_part {
	double joules, low, high;
	uint64_t ns, whole_ns, unknown_ns;
};

/*
 * Whether @joules is meaningful: its bounds are no further apart than @joules itself, or the
 * share is exact for nine tenths of the time.
 */
bool energy_resolved(const struct energy_part *p);

/* A rail read less often than this has an energy in all, but none by phase. */
#define ENERGY_READINGS 3

struct energy {
	struct energy_part part[PHASE_GROUPS];
	double total; /* J, over the intervals known */
	uint64_t known_ns;
	double mean_w;
	size_t samples, unknown;
	size_t beyond; /* intervals whose mean power is outside of the limits */
	uint64_t gaps_ns; /* between readings, in which it is not known */
	bool still; /* a counter that never moved: its energy is not known */
	bool negative; /* a power that is below zero: its energy is not known */
	size_t stopped; /* readings of a counter that no longer counted */
	size_t averaged; /* intervals that are unknown because a meter's mean begins before them */
	size_t wrapped; /* intervals that are unknown because the counter may have wrapped twice */
	uint64_t interval_ns; /* median distance of samples */
	uint64_t no_khz_ns; /* energy_modelled(): phases on a CPU at an unknown frequency */
};

/* Groups of phases that can share a stretch. */
#define ENERGY_SHARES 4

/* A stretch of time with the set of groups that were active in it. */
struct energy_segment {
	uint64_t t0, t1;
	uint16_t group[ENERGY_SHARES]; /* the first few; a stretch rarely has more */
	uint16_t nr; /* 0: outside of phases */
};

/**
 * energy_segments - the phases of a recording as disjoint stretches, in order
 * @rec: the recording
 * @rail: include only phases that began on a CPU that it feeds; NULL: all
 * @group: of each phase, below PHASE_GROUPS; NULL: the phase's own group
 * @nr: receives the number of stretches
 *
 * Covers [t0, t1) of the recording. Returns an array to be freed, NULL without memory.
 */
struct energy_segment *energy_segments(const struct recording *rec,
				       const struct recording_rail *rail, const uint16_t *group,
				       size_t *nr);

/* J between two readings: of a counter, or of a power meter (trapezoidal rule). */
double energy_joules(const struct recording_sample *a, const struct recording_sample *b,
		     bool counter);
/* Whether it is known. A counter that goes back was reset: nothing is known of that interval. */
bool energy_known(const struct recording_sample *a, const struct recording_sample *b, bool counter);
/* The highest mean power of an interval of a counter that advances in steps of @step ns, W. */
double energy_max_power(const struct recording_sample *s, size_t samples, uint64_t step);
/*
 * Whether the counter may have wrapped once more than was seen: this would need no more power than
 * @most_w, the rail's maximum or, where that is unknown, the highest of all intervals.
 */
bool energy_may_wrap(const struct energy_limits *limits, double joules, double seconds,
		     double most_w);
/* Whether all readings of a counter are the same, some with no unknown one between: it does not count. */
bool energy_is_still(const struct recording_sample *s, size_t samples);

/**
 * energy_split - split the energy of samples between groups of phases; pure
 * @s: samples in order of time
 * @samples: number of samples
 * @counter: values are a counter of energy (uJ), not a power (uW)
 * @limits: of the rail
 * @seg: stretches
 * @segments: number of stretches
 * @e: result
 *
 * Returns false without memory to compute @interval_ns.
 */
bool energy_split(const struct recording_sample *s, size_t samples, bool counter,
		  const struct energy_limits *limits, const struct energy_segment *seg,
		  size_t segments, struct energy *e);

/* Why energy_of() knows none, in words; NULL if there is no reason but too few readings. */
const char *energy_lack_text(const struct energy *e);

/*
 * The rails that answer what a recording drew: those of the first role of enum rail_role that has a known
 * energy. Of packages and CPUs these are all of them, each counted once: an interface that reports
 * the same again (intel-rapl-mmio, a die that mirrors its package's counter) is left out; of other
 * roles, the first one. A rail of a single core is none of them: see energy_of_cores().
 *
 * Returns their number, at most @max, with their indices in @rail.
 */
#define ENERGY_HEADLINE 16
size_t energy_headline(const struct recording *rec, size_t *rail, size_t max);

/* The sum of energy_of() of @nr rails; @e->interval_ns is the longest. */
void energy_of_rails(const struct recording *rec, const size_t *rail, size_t nr,
		     const uint16_t *group, struct energy *e);

/*
 * Splits the energy of rec->rail[@rail], with @group as in energy_segments(). Returns false if
 * the rail has no known energy (energy_lack_text() says why), or, after an error message, without
 * memory.
 */
bool energy_of(const struct recording *rec, size_t rail, const uint16_t *group, struct energy *e);

/**
 * energy_of_command - the energy of a rail while the recorded command ran
 * @rec: the recording
 * @rail: index of the rail
 *
 * A reading may lie up to one interval before or after the command's begin or end; the energy of
 * such an interval is split by time. Returns joules. NAN if there was no command, if less than
 * nine tenths of its time lie between readings, if part of its energy is unknown, or if readings
 * are too rare for its length, as energy_resolved() says.
 */
double energy_of_command(const struct recording *rec, size_t rail);

/*
 * The same for all rails that feed one core each, added up. Returns the number of such rails
 * whose energy is known.
 */
size_t energy_of_cores(const struct recording *rec, const uint16_t *group, struct energy *e);

/* The energy of all phases: the rail's total less that of group 0. */
struct energy_part energy_inside(const struct energy *e);

/**
 * energy_modelled - estimate energy from the power of OPPs instead of a rail
 * @rec: the recording
 * @e: result, of phases only: a phase is assumed to keep its CPU busy
 * @source: receives the name of the table
 * @size: size of @source
 *
 * Returns false if the recording has no power for its OPPs.
 */
bool energy_modelled(const struct recording *rec, struct energy *e, char *source, size_t size);

#endif
