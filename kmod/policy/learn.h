/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How memory-bound each kind of phase is, learned without a PMU: a weighted
 * least-squares line through time per unit of work against 1/f, with
 * exponential forgetting, for each phase and each kind of CPU. And how long
 * phases last.
 *
 * One per session, so a process can spoil only its own estimates.
 */
#ifndef _GCHINT_LEARN_H
#define _GCHINT_LEARN_H

#include "phase.h"

/**
 * struct gchint_learn_line - time per unit of work of one phase on one kind of CPU
 * @cxx: weighted sum of squares of fmax/f about its mean, times 2^28
 * @cxy: weighted sum of products with time per unit of work, times 2^14
 * @mean_y: weighted mean of time per unit of work, times 2^@shift ns
 * @mean_x: weighted mean of fmax/f, times 2^20
 * @weight: sum of weights, fixed point
 * @noise: smoothed relative deviation from the line, fixed point
 * @samples: samples taken, saturated
 * @shift: scale of @mean_y, chosen by the first sample
 * @odd: consecutive samples too far off to belong to the unit of work so far
 * @drift: consecutive samples off the line on one side, signed
 * @phases: phases planned since the line was begun, for probing
 */
struct gchint_learn_line {
	s64 cxx;
	s64 cxy;
	s64 mean_y;
	u32 mean_x;
	u32 weight;
	u32 noise;
	u32 samples;
	s8 shift;
	u8 odd;
	s8 drift;
	u32 phases;
};

/**
 * struct gchint_learn_length - how long phases of one kind last
 * @mean_us: smoothed wall time
 * @nr: phases seen, saturated
 */
struct gchint_learn_length {
	u32 mean_us;
	u32 nr;
};

/**
 * struct gchint_learn - what is learned of one session
 * @line: by phase and kind of CPU; of no phase: its mutators' own work
 * @length: by phase and whether mutators wait (class foreground and above)
 *
 * The caller serialises all calls for one session. All zero is a valid initial
 * state.
 */
struct gchint_learn {
	struct gchint_learn_line line[GCHINT_PHASE_NR][GCHINT_KINDS];
	struct gchint_learn_length length[GCHINT_PHASE_NR][2];
};

/* A session may hold this much of what is learned. */
#define GCHINT_LEARN_BYTES 2816
static_assert(sizeof(struct gchint_learn) <= GCHINT_LEARN_BYTES, "learned state");

/**
 * struct gchint_fit - the line, ready to use
 * @known: there are enough samples, at frequencies different enough
 * @mem: memory fraction m at fmax, 0..GCHINT_ONE
 * @error: standard error of @mem, fixed point
 * @samples: samples taken
 * @a_ps: time per unit of work that does not depend on frequency, picoseconds
 * @b_ps: the rest of the time per unit of work at fmax, picoseconds
 */
struct gchint_fit {
	bool known;
	u32 mem;
	u32 error;
	u32 samples;
	u64 a_ps;
	u64 b_ps;
};

/**
 * gchint_learn_work() - learn from a sample's work
 * @n: line of the sample's phase and kind
 * @s: sample with work
 * @ref_khz: as for gchint_learn_add()
 *
 * Return: as gchint_learn_add()
 */
bool gchint_learn_work(struct gchint_learn_line *n, const struct gchint_sample *s, u32 ref_khz);

/**
 * gchint_learn_length() - learn from the length of a phase
 * @n: length of such phases so far
 * @wall_ns: its length
 */
static inline void gchint_learn_length(struct gchint_learn_length *n, u64 wall_ns)
{
	u32 us = (u32)min_t(u64, div_u64(wall_ns, NSEC_PER_USEC), U32_MAX / 8);

	n->mean_us = n->nr ? (n->mean_us * 3 + us) / 4 : us;
	if (n->nr < U32_MAX)
		n->nr++;
}

/**
 * gchint_learn_add() - learn from a sample
 * @l: what is learned of the session
 * @s: from gchint_phase_update(); ignored if !valid
 * @ref_khz: &gchint_kind.khz of the sample's @kind; always the same for it. A
 *	sample may come from above it.
 *
 * Return: true if all of the sample was credible; otherwise count
 * GCHINT_IGNORED_SAMPLE
 */
static inline bool gchint_learn_add(struct gchint_learn *l, const struct gchint_sample *s,
				    u32 ref_khz)
{
	u64 work = s->work;

	if (!s->valid)
		return true;
	if (s->phase >= GCHINT_PHASE_NR || s->kind >= GCHINT_KINDS)
		return false;
	if (s->ended)
		gchint_learn_length(&l->length[s->phase][gchint_class_boosts(s->class)],
				    s->wall_ns);
	if (!work)
		return true;
	return gchint_learn_work(&l->line[s->phase][s->kind], s, ref_khz);
}

/**
 * gchint_learn_fit() - what is known of a phase
 * @l: what is learned of the session
 * @phase: enum gchint_phase, below GCHINT_PHASE_NR
 * @kind: kind of CPU, below GCHINT_KINDS
 * @fit: result; without samples all zero
 */
void gchint_learn_fit(const struct gchint_learn *l, u8 phase, u8 kind, struct gchint_fit *fit);

/**
 * gchint_learn_fit_at() - the same for a CPU of another highest frequency
 * @fit: from gchint_learn_fit(); afterwards @mem is that at @to_khz
 * @from_khz: highest frequency that stands for its kind; 0: it is @to_khz
 * @to_khz: highest frequency of the CPU, not 0
 *
 * CPUs of one kind differ by some per cent, and by much more while boost is off.
 */
void gchint_learn_fit_at(struct gchint_fit *fit, u32 from_khz, u32 to_khz);

/**
 * gchint_learn_left_ns() - how much longer a phase is expected to last
 * @l: what is learned of the session
 * @phase: enum gchint_phase
 * @class: enum gchint_class
 * @elapsed_ns: how long it has lasted
 *
 * A phase older than expected is expected to last as long again as it has.
 *
 * Return: ns; U64_MAX if nothing is known
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
 * How memory-bound a mutator is, as far as decisions go by it: 0 not known, which is
 * taken for GCHINT_MUTATOR_UNKNOWN; else tenths of its time at the highest frequency,
 * and one. More than seven are taken for seven.
 */
#define GCHINT_MUTATORS 9
#define GCHINT_MUTATOR_UNKNOWN 4

/**
 * gchint_mutator_mem() - the memory fraction that a mutator is taken for
 * @mutator: below GCHINT_MUTATORS
 *
 * What nothing is known of is taken for what was measured of one program: allocating and
 * walking a binary tree under Boehm's collector, 26 to 37 per cent of the time was the
 * memory's.
 *
 * Return: fixed point
 */
static inline u32 gchint_mutator_mem(u8 mutator)
{
	u32 tenths = (mutator ? mutator : GCHINT_MUTATOR_UNKNOWN) - 1;

	return GCHINT_ONE * tenths / 10;
}

/**
 * gchint_learn_mutator() - how memory-bound a session's mutators are
 * @l: what is learned of the session
 * @kind: kind of CPU, below GCHINT_KINDS
 * @before: what it returned last, 0 at first. One that is known is left only for what is
 *	clearly another: each change moves a frequency.
 *
 * Return: below GCHINT_MUTATORS
 */
u8 gchint_learn_mutator(const struct gchint_learn *l, u8 kind, u8 before);

#endif /* _GCHINT_LEARN_H */
