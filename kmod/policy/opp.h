/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The OPPs of a policy and what work costs at each.
 *
 * Time per unit of work at frequency f is a + b/f: a waits for memory, b/f
 * computes. With m = a / (a + b/fmax) the time at f, relative to that at the
 * highest frequency fmax, is the stretch
 *	T(f) = m + (1 - m) * fmax/f
 * and the energy of a unit of work is (P(f) + P_awake) * T(f).
 */
#ifndef _GCHINT_OPP_H
#define _GCHINT_OPP_H

#include "pure.h"

#define GCHINT_OPPS_MAX 64
/* So many stand for the frequencies of a driver without a table. */
#define GCHINT_OPPS_MARKS 24

#define GCHINT_OPP_INEFFICIENT 0x01 /* a faster one costs no more power */
#define GCHINT_OPP_BOOST 0x02 /* above the sustained maximum */

/**
 * struct gchint_opp - one operating performance point
 * @khz: frequency
 * @power: power of one busy CPU in any one unit; 0 unknown
 * @slow: fmax / @khz, fixed point, at most GCHINT_ONE * 64
 * @flags: GCHINT_OPP_*
 */
struct gchint_opp {
	u32 khz;
	u32 power;
	u32 slow;
	u32 flags;
};

/**
 * struct gchint_opps - the OPPs of a policy
 * @nr: how many; 0 if not even the driver's limits are known
 * @any: the driver has no table: any frequency will do, and these are marks on
 *	the scale from the lowest to the highest
 * @ref_khz: highest frequency of the hardware, boost included: the unit of
 *	loads and stretches
 * @powered: every OPP's power is known
 * @opp: in ascending order of frequency
 */
struct gchint_opps {
	u32 nr;
	u32 ref_khz;
	bool any;
	bool powered;
	struct gchint_opp opp[GCHINT_OPPS_MAX];
};

/**
 * gchint_opps_init() - begin an empty table
 * @t: table
 * @hw_max_khz: cpuinfo.max_freq
 */
void gchint_opps_init(struct gchint_opps *t, u32 hw_max_khz);

/**
 * gchint_opps_add() - add an OPP, in any order
 * @t: table
 * @khz: frequency; a duplicate keeps the lower known power
 * @power: power of one busy CPU, 0 unknown
 * @flags: GCHINT_OPP_*
 *
 * A full table makes room by dropping the OPP closest to its lower neighbour,
 * never the lowest or the highest.
 *
 * Return: 0, or -EINVAL for a frequency of 0, with nothing changed
 */
int gchint_opps_add(struct gchint_opps *t, u32 khz, u32 power, u32 flags);

/**
 * gchint_opps_mark() - OPPs for a driver without a table
 * @t: empty table
 * @min_khz: lowest frequency; 0 unknown, which leaves the table empty
 *
 * Evenly from there to &gchint_opps.ref_khz. Their power is an assumption, in no
 * unit: it goes with f * V^2, and V is 0.55 of the highest at no frequency and rises
 * in a straight line. That is the line through the OPP tables of MSM8974, Exynos
 * 5422, RK3399, Hi3660 and i.MX6Q as vendors' and mainline's kernels have them; each
 * is within an eighth of it.
 */
void gchint_opps_mark(struct gchint_opps *t, u32 min_khz);

/**
 * gchint_opps_finish() - derive the rest
 * @t: table with all its OPPs
 *
 * Also marks each OPP inefficient whose power is not below that of a faster one.
 */
void gchint_opps_finish(struct gchint_opps *t);

/**
 * gchint_opps_move() - sums by OPP of one table become those of another
 * @to: new table
 * @from: old table
 * @sums: GCHINT_OPPS_MAX sums by index in @from, afterwards in @to
 *
 * What was at a frequency that is no more goes to the next higher, or to the
 * highest. Nothing is lost.
 */
void gchint_opps_move(const struct gchint_opps *to, const struct gchint_opps *from, u64 *sums);

/**
 * gchint_opp_at_least() - the lowest OPP that is fast enough
 * @t: table, @nr not 0
 * @khz: frequency asked for
 *
 * Return: index; the highest OPP's if none is fast enough
 */
u32 gchint_opp_at_least(const struct gchint_opps *t, u32 khz);

/**
 * gchint_opps_resolve() - the frequency to request
 * @t: table, may be empty
 * @khz: frequency asked for
 * @min_khz: lowest allowed
 * @max_khz: highest allowed
 *
 * The lowest efficient OPP at or above @khz within the limits; an inefficient
 * one if the limits leave no other; if no OPP lies within the limits, the
 * highest below @max_khz, else the lowest one. If any will do, @khz clamped.
 */
u32 gchint_opps_resolve(const struct gchint_opps *t, u32 khz, u32 min_khz, u32 max_khz);

/**
 * gchint_opp_stretch() - how much longer work takes than at the highest frequency
 * @o: OPP
 * @mem: memory fraction m, 0..GCHINT_ONE
 *
 * Return: T(f), fixed point
 */
static inline u32 gchint_opp_stretch(const struct gchint_opp *o, u32 mem)
{
	return mem + (u32)(((u64)(GCHINT_ONE - mem) * o->slow) >> GCHINT_ONE_SHIFT);
}

/**
 * gchint_opp_energy() - energy of a unit of work, in a unit of its own
 * @o: OPP of known power
 * @mem: memory fraction m, 0..GCHINT_ONE
 * @awake: power that burns while merely awake, same unit as the OPP's
 */
static inline u64 gchint_opp_energy(const struct gchint_opp *o, u32 mem, u32 awake)
{
	return ((u64)o->power + awake) * gchint_opp_stretch(o, mem);
}

/**
 * gchint_opps_awake() - power that burns while merely awake
 * @t: table
 * @awake_pct: &gchint_tunables.awake_pct
 */
u32 gchint_opps_awake(const struct gchint_opps *t, u32 awake_pct);

#endif /* _GCHINT_OPP_H */
