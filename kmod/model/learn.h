/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How memory-bound each phase is, learned without a PMU: a weighted least-squares
 * line through time per unit of work against 1/f, with exponential forgetting, for
 * each phase and core type. And how long phases last.
 *
 * One per session, so that a process can spoil only its own estimates.
 */
#ifndef _GCHINT_LEARN_H
#define _GCHINT_LEARN_H

#include "phase.h"

/* Time per unit of work of one phase on one core type. */
struct gchint_learn_line {
	s64 cxx; /* weighted sum of squares of fmax/f about its mean, times 2^28 */
	s64 cxy; /* weighted sum of products with time per unit of work, times 2^14 */
	s64 mean_y; /* weighted mean of time per unit of work, times 2^@shift ns */
	u32 mean_x; /* weighted mean of fmax/f, times 2^20 */
	u32 weight; /* sum of weights, fixed point */
	u32 noise; /* smoothed relative deviation from the line, fixed point */
	u32 samples; /* saturated */
	s8 shift; /* scale of @mean_y, chosen by the first sample */
	u8 odd; /* consecutive samples too far off to be of the same unit of work */
	s8 drift; /* consecutive samples off the line on one side, signed */
	u32 phases; /* planned since the line was begun, for probing */
};

struct gchint_learn_length {
	u32 mean_us; /* smoothed wall time of such phases */
	u32 nr; /* phases seen, saturated */
};

/*
 * What is learned of one session: @line by phase and core type, with the mutators'
 * own work as the line of GCHINT_PHASE_NONE; @length by phase and whether the class
 * boosts. The caller serialises all calls for one session. Starts all zero.
 */
struct gchint_learn {
	struct gchint_learn_line line[GCHINT_PHASE_NR][GCHINT_CORE_TYPES];
	struct gchint_learn_length length[GCHINT_PHASE_NR][2];
};

/* Bound on the memory of a session. */
#define GCHINT_LEARN_BYTES 2816
static_assert(sizeof(struct gchint_learn) <= GCHINT_LEARN_BYTES, "learned state");

/* The line, ready to use. */
struct gchint_fit {
	bool known; /* enough samples, at sufficiently different frequencies */
	u32 mem; /* memory fraction m at fmax, 0..GCHINT_ONE */
	u32 error; /* standard error of @mem, fixed point */
	u32 samples;
	u64 a_ps; /* time per unit of work that does not depend on frequency, ps */
	u64 b_ps; /* the rest of the time per unit of work at fmax, ps */
};

/* Memory fraction assumed while it is unknown. */
#define GCHINT_MEM_ASSUMED (GCHINT_ONE / 2)

/* Learn from a sample with work; @ref_khz and return value as gchint_learn_add(). */
bool gchint_learn_work(struct gchint_learn_line *n, const struct gchint_sample *s, u32 ref_khz);

static inline void gchint_learn_length(struct gchint_learn_length *n, u64 wall_ns)
{
	u32 us = (u32)min_t(u64, div_u64(wall_ns, NSEC_PER_USEC), U32_MAX / 8);

	n->mean_us = n->nr ? (n->mean_us * 3 + us) / 4 : us;
	if (n->nr < U32_MAX)
		n->nr++;
}

/*
 * Learn from a valid sample. @ref_khz is &gchint_core_type.khz of its core type, always
 * the same for it; the sample's own frequency may be higher. False if part of the
 * sample was not credible: count GCHINT_IGNORED_SAMPLE.
 */
static inline bool gchint_learn_add(struct gchint_learn *l, const struct gchint_sample *s,
				    u32 ref_khz)
{
	u64 work = s->work;

	if (!s->valid)
		return true;
	if (s->phase >= GCHINT_PHASE_NR || s->core_type >= GCHINT_CORE_TYPES)
		return false;
	if (s->ended)
		gchint_learn_length(&l->length[s->phase][gchint_class_boosts(s->class)],
				    s->wall_ns);
	if (!work)
		return true;
	return gchint_learn_work(&l->line[s->phase][s->core_type], s, ref_khz);
}

/* What is known of a phase on @core_type; @fit is all zero without samples. */
void gchint_learn_fit(const struct gchint_learn *l, u8 phase, u8 core_type, struct gchint_fit *fit);

/*
 * Convert a fit from @from_khz, &gchint_core_type.khz of its core type (0: no
 * conversion), to a CPU whose highest frequency is @to_khz, not 0. CPUs of one type
 * differ by a few per cent, and by much more while boost is off.
 */
void gchint_learn_fit_at(struct gchint_fit *fit, u32 from_khz, u32 to_khz);

/*
 * How much longer a phase that has lasted for @elapsed_ns is expected to last, in ns;
 * U64_MAX if unknown. One older than the mean is expected to double its age.
 */
static inline u64 gchint_learn_left_ns(const struct gchint_learn *l, u8 phase, u8 class,
				       u64 elapsed_ns)
{
	const struct gchint_learn_length *n = &l->length[phase][gchint_class_boosts(class)];
	u64 mean_ns = (u64)n->mean_us * NSEC_PER_USEC;

	if (n->nr < 2)
		return U64_MAX;
	return mean_ns > elapsed_ns ? mean_ns - elapsed_ns : elapsed_ns;
}

/*
 * How memory-bound a mutator is, in the steps that decisions use: 0 not known, taken
 * for GCHINT_MUTATOR_UNKNOWN; else one plus the tenths of its time at the highest
 * frequency that wait for memory, at most seven.
 */
#define GCHINT_MUTATORS 9
#define GCHINT_MUTATOR_UNKNOWN 4

/*
 * The memory fraction of such a step, fixed point. The unknown step is what one
 * program measured: 26 to 37 % for allocating and walking a binary tree under the
 * Boehm collector.
 */
static inline u32 gchint_mutator_mem(u8 mutator)
{
	u32 tenths = (mutator ? mutator : GCHINT_MUTATOR_UNKNOWN) - 1;

	return GCHINT_ONE * tenths / 10;
}

/*
 * How memory-bound a session's mutators are, below GCHINT_MUTATORS. @before is the
 * last result, 0 at first. It changes only if the estimate is clearly different,
 * because each change moves a frequency.
 */
u8 gchint_learn_mutator(const struct gchint_learn *l, u8 core_type, u8 before);

#endif /* _GCHINT_LEARN_H */
