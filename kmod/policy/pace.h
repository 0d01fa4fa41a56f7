/* SPDX-License-Identifier: GPL-2.0-only */
/* How slow may a phase be and still end before mutators stall? */
#ifndef _GCHINT_PACE_H
#define _GCHINT_PACE_H

#include "learn.h"
#include "opp.h"

/**
 * gchint_pace_stretch() - the longest stretch that still ends in time
 * @h: the hint
 * @fit: what is known of the phase; its rate counts until the phase's own is
 *	known, its memory fraction always if known
 * @ref_khz: &gchint_opps.ref_khz
 * @margin_pct: &gchint_tunables.margin_pct
 * @latency_ns: time that a switch takes
 * @given: what mutators were given by the last gchint_pace_slowdown(), 0 or GCHINT_ONE
 *	nothing; the stall instant is by the rate at which they allocate under it
 * @now_ns: current time
 *
 * Takes into account that the thread may get only a part of a CPU.
 *
 * Return: bound on T(f), fixed point; 0 if no frequency is fast enough or the
 * instant passed; U32_MAX if there is no stall instant, or no rate to go by
 */
u32 gchint_pace_stretch(const struct gchint_hint *h, const struct gchint_fit *fit, u32 ref_khz,
			u32 margin_pct, u64 latency_ns, u32 given, u64 now_ns);

/**
 * gchint_pace_length() - the same of a phase that tells no work, by how long such phases last
 * @h: the hint, with a stall instant
 * @left_ns: gchint_learn_left_ns(); at whatever frequencies they ran, which is rather
 *	too long for the highest
 * @margin_pct: as above
 * @latency_ns: as above
 * @given: as above
 * @now_ns: current time
 *
 * Return: bound on T(f), fixed point; 0 if no frequency is fast enough, the instant
 * passed, or nothing is known of such phases: what is spent on finding out is time that
 * mutators may have to wait for
 */
u32 gchint_pace_length(const struct gchint_hint *h, u64 left_ns, u32 margin_pct, u64 latency_ns,
		       u32 given, u64 now_ns);

/**
 * gchint_pace_slowdown() - by how much may mutators be slower, and cost nobody time?
 * @h: hint of the thread that collects, of class concurrent, background or urgent
 * @fit: as above
 * @ref_khz: &gchint_opps.ref_khz
 * @margin_pct: &gchint_tunables.margin_pct
 * @given: what they have been given by the last call, as above
 * @now_ns: current time
 *
 * A collection that cannot end before its mutators stall, not at the highest
 * frequency, is what all of them will wait for: what they do faster meanwhile,
 * they wait longer for afterwards.
 *
 * Return: bound on T(f) of the mutators, fixed point; GCHINT_ONE if it ends in
 * time or that is not known; U32_MAX if somebody waits already
 */
u32 gchint_pace_slowdown(const struct gchint_hint *h, const struct gchint_fit *fit, u32 ref_khz,
			 u32 margin_pct, u32 given, u64 now_ns);

#endif /* _GCHINT_PACE_H */
