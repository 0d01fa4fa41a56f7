/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The OPPs of a policy and what work costs at each.
 *
 * Time per unit of work at frequency f is a + b/f: a waits for memory, b/f computes.
 * With m = a / (a + b/fmax) the time at f, relative to that at the highest frequency
 * fmax, is the stretch
 *	T(f) = m + (1 - m) * fmax/f
 * and the energy of a unit of work is (P(f) + P_awake) * T(f).
 */
#ifndef _GCHINT_OPP_H
#define _GCHINT_OPP_H

#include "pure.h"

#define GCHINT_OPPS_MAX 64
/* Points that represent the frequency range of a driver without a table. */
#define GCHINT_OPPS_POINTS 24

#define GCHINT_SLOW_MAX (GCHINT_ONE * 64)

#define GCHINT_OPP_INEFFICIENT 0x01 /* a faster one costs no more power */
#define GCHINT_OPP_BOOST 0x02 /* above the sustained maximum */

struct gchint_opp {
	u32 khz;
	u32 power; /* of one busy CPU, in one unit for the whole table; 0 unknown */
	u32 slow; /* fmax / @khz, fixed point, at most GCHINT_SLOW_MAX */
	u32 flags; /* GCHINT_OPP_* */
};

struct gchint_opps {
	u32 nr; /* 0 if not even the driver's limits are known */
	u32 ref_khz; /* the hardware's highest, boost included: unit of loads, stretches */
	bool any; /* no table: any frequency will do, entries are points on that scale */
	bool powered; /* every OPP's power is known */
	struct gchint_opp opp[GCHINT_OPPS_MAX]; /* in ascending order of frequency */
};

/* Begin an empty table; @hw_max_khz is cpuinfo.max_freq. */
void gchint_opps_init(struct gchint_opps *t, u32 hw_max_khz);

/*
 * Add an OPP, in any order; @power 0 is unknown. A duplicate keeps the lower known
 * power. A full table drops the OPP closest to its lower neighbour, never the lowest
 * or the highest. -EINVAL for a frequency of 0.
 */
int gchint_opps_add(struct gchint_opps *t, u32 khz, u32 power, u32 flags);

/*
 * Fill the empty table of a driver without one, evenly from @min_khz (0: unknown,
 * leaves it empty) to &gchint_opps.ref_khz. Power is assumed, without a unit: f * V^2,
 * where V rises linearly from 0.55 of its maximum at f = 0. That is the line through
 * the OPP tables of MSM8974, Exynos 5422, RK3399, Hi3660 and i.MX6Q in vendors' and
 * mainline kernels; each is within an eighth of it.
 */
void gchint_opps_fill_range(struct gchint_opps *t, u32 min_khz);

/*
 * Derive the remaining fields of a complete table. An OPP is inefficient if a faster
 * one needs no more power.
 */
void gchint_opps_finish(struct gchint_opps *t);

/*
 * Convert @sums, GCHINT_OPPS_MAX of them, from the indices of table @from to those of
 * @to. The sum of a frequency that is gone goes to the next higher one, or to the
 * highest, so that nothing is lost.
 */
void gchint_opps_move_sums(const struct gchint_opps *to, const struct gchint_opps *from, u64 *sums);

/* Index of the lowest OPP at or above @khz, or of the highest. The table is not empty. */
u32 gchint_opp_at_least(const struct gchint_opps *t, u32 khz);

/*
 * The frequency to request for @khz: the lowest efficient OPP at or above it within
 * the limits; an inefficient one if the limits leave no other; if no OPP is within
 * the limits, the highest below @max_khz, else the lowest. Without a table, @khz
 * clamped.
 */
u32 gchint_opps_resolve(const struct gchint_opps *t, u32 khz, u32 min_khz, u32 max_khz);

/* fmax / @khz, fixed point: &gchint_opp.slow. */
static inline u32 gchint_khz_slow(u32 khz, u32 ref_khz)
{
	u64 slow = div_u64((u64)ref_khz << GCHINT_ONE_SHIFT, max_t(u32, khz, 1));

	return (u32)min_t(u64, slow, GCHINT_SLOW_MAX);
}

/* T(f): how much longer work takes than at the highest frequency, fixed point. */
static inline u32 gchint_opp_stretch(const struct gchint_opp *o, u32 mem)
{
	return mem + (u32)(((u64)(GCHINT_ONE - mem) * o->slow) >> GCHINT_ONE_SHIFT);
}

/* The same of a frequency that may be no OPP. */
static inline u32 gchint_khz_stretch(u32 khz, u32 ref_khz, u32 mem)
{
	struct gchint_opp o = { .slow = gchint_khz_slow(khz, ref_khz) };

	return gchint_opp_stretch(&o, mem);
}

/* Energy of a unit of work, to compare OPPs of one table; @awake in the unit of their power. */
static inline u64 gchint_opp_energy(const struct gchint_opp *o, u32 mem, u32 awake)
{
	return ((u64)o->power + awake) * gchint_opp_stretch(o, mem);
}

/* Power of a CPU that is merely awake, in the table's unit; 0 if power is unknown. */
u32 gchint_opps_awake(const struct gchint_opps *t, u32 awake_pct);

#endif /* _GCHINT_OPP_H */
