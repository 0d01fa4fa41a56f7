/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a collection must end: before its mutators stall. How much slower than at the
 * highest frequency it may be for that, and how much slower its mutators may be if it
 * will be late anyway.
 */
#ifndef _GCHINT_PACE_H
#define _GCHINT_PACE_H

#include "learn.h"

/**
 * struct gchint_pace - a collection, and the CPU that it runs on
 * @hint: of the thread. The stall instant is extrapolated from the mutators'
 *	allocation rate under &gchint_hint.slowdown
 * @fit: its rate counts until the phase's own is known, its memory fraction always
 *	if known
 * @ref_khz: &gchint_opps.ref_khz
 * @margin_pct: GCHINT_MARGIN_PCT
 * @latency_ns: time that a switch takes
 * @now_ns: current time
 */
struct gchint_pace {
	const struct gchint_hint *hint;
	const struct gchint_fit *fit;
	u32 ref_khz;
	u32 margin_pct;
	u32 latency_ns;
	u64 now_ns;
};

/*
 * The longest stretch T(f) with which a phase ends before mutators stall, fixed
 * point; 0 if no frequency is fast enough or the instant passed; U32_MAX without a
 * stall instant or a rate to go by. The thread may get only a part of a CPU, which is
 * taken into account.
 */
u32 gchint_pace_stretch(const struct gchint_pace *p);

/*
 * The same for a phase with a stall instant but without figures of work, by the time
 * @left_ns that such phases last (gchint_learn_left_ns()). 0 also if that is unknown:
 * finding out might make mutators wait.
 */
u32 gchint_pace_length(const struct gchint_pace *p, u64 left_ns);

/*
 * How much slower mutators may be without a delay in the end, a bound on their T(f):
 * if a collection cannot end before they stall, even at the highest frequency, all
 * of them will wait for it, and time they gain now they wait longer then. The hint is
 * of class concurrent, background or urgent. GCHINT_ONE if the collection ends in time
 * or that is not known; U32_MAX if mutators wait already.
 */
u32 gchint_pace_slowdown(const struct gchint_pace *p);

#endif /* _GCHINT_PACE_H */
