/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a hint to the bounds of a thread's utilisation, by which the scheduler
 * chooses frequency and, on unlike cores, the core.
 */
#ifndef _GCHINT_PLACE_H
#define _GCHINT_PLACE_H

#include "phase.h"
#include "tunables.h"

/**
 * enum gchint_where - kinds of CPU that a thread belongs on
 * @GCHINT_WHERE_ANY: nothing speaks for either, or all are alike
 * @GCHINT_WHERE_SMALL: the least capable: nobody waits for it
 * @GCHINT_WHERE_LARGE: the most capable: somebody does
 */
enum gchint_where {
	GCHINT_WHERE_ANY,
	GCHINT_WHERE_SMALL,
	GCHINT_WHERE_LARGE,
};

/**
 * struct gchint_place - bounds of a thread's utilisation
 * @min: take it for no less than this; 0 no bound
 * @max: take it for no more than this; GCHINT_ONE no bound
 * @where: enum gchint_where, for who cannot leave that to the scheduler
 *
 * In parts of the most capable CPU at its highest frequency.
 */
struct gchint_place {
	u32 min;
	u32 max;
	u8 where;
};

/**
 * struct gchint_rates - how long a unit of a thread's work takes, by kind of core
 * @each: for each phase, ns << GCHINT_ONE_SHIFT: on the most capable kind of CPU,
 *	on the least capable one; 0 not seen yet
 * @at_ns: when the figures below were seen
 * @done: units of work done in the phase
 * @capacity: of the CPU that it was on
 * @phase: enum gchint_phase
 *
 * All zero knows nothing.
 */
struct gchint_rates {
	u64 each[GCHINT_PHASE_NR][2];
	u64 at_ns;
	u64 done;
	u32 capacity;
	u8 phase;
};

/**
 * gchint_place_look() - learn from what a slot holds now
 * @r: gains what was done since the last look, if that was the same phase on a CPU
 *	of the same capacity
 * @phase: enum gchint_phase; none ends the last one, with its last figure
 * @done: work of the phase
 * @capacity: of the CPU that the thread is on, 1..GCHINT_ONE
 * @least: capacity of the least capable kind, GCHINT_ONE if all are alike
 * @now_ns: current time, not before the last look
 */
void gchint_place_look(struct gchint_rates *r, u8 phase, u64 done, u32 capacity, u32 least,
		       u64 now_ns);

/**
 * gchint_place_fits() - the most use that a CPU is taken to be enough for
 * @capacity: of the CPU, 1..GCHINT_ONE
 *
 * The scheduler's own rule (fits_capacity() of kernel/sched/fair.c): a fifth is
 * left over. schedutil asks for a quarter above use (get_next_freq() and
 * map_util_perf()), so that this much use already gets the highest frequency.
 */
static inline u32 gchint_place_fits(u32 capacity)
{
	return (capacity * 1024 - 1) / 1280;
}

/**
 * gchint_place_find() - bounds of a thread's utilisation
 * @p: result
 * @h: its hint; of the figures only &gchint_hint.stall_ns and
 *	&gchint_hint.work_left, which may be 0
 * @r: what is known of its rate of work
 * @tun: tunables
 * @least: capacity of the least capable kind of CPU, GCHINT_ONE if all are alike
 * @now_ns: current time
 *
 * A class that caps is given its percentage; where CPUs differ and it can end in
 * time on the small ones, no more than fits there: by the rate that was seen on
 * them, else by that of the most capable ones and what the small ones are less. A
 * phase with a deadline of which neither is known stays where it is fastest. A class
 * that raises, with the right to, is given what the highest frequency of the most
 * capable CPU takes and no more: a thread that needs all of the largest CPU makes
 * the scheduler stop placing by energy (overutilised), for everybody. For that
 * reason, where CPUs differ, who is in no phase is bounded there as well, which
 * costs no speed.
 */
void gchint_place_find(struct gchint_place *p, const struct gchint_hint *h,
		       const struct gchint_rates *r, const struct gchint_tunables *tun,
		       u32 least, u64 now_ns);

#endif /* _GCHINT_PLACE_H */
