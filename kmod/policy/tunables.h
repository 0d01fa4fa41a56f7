/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an administrator may set, and what nobody needs to. The names of the sysfs
 * files, the defaults and the bounds all come from the list below;
 * docs/abi/sysfs-cpufreq-gchint describes each.
 */
#ifndef _GCHINT_TUNABLES_H
#define _GCHINT_TUNABLES_H

#include "pure.h"

/* &gchint_tunables.bias that gives time any price, and below it: percent for each of it. */
#define GCHINT_BIAS_SPEED 100
#define GCHINT_BIAS_PRICE 2

/*
 * A phase that is paced to end before the instant at which mutators will stall is
 * planned to take this much less than the time left, for estimates of the work left
 * are estimates. Percent.
 */
#define GCHINT_MARGIN_PCT 25

/* T(name, default, lowest, highest), sorted by name. */
#define GCHINT_TUNABLES(T)				\
	T(awake_pct, 25, 0, 400)			\
	T(bias, 50, 0, 100)				\
	T(boost_unprivileged, 0, 0, 1)			\
	T(cap_pct, 50, 10, 100)				\
	T(hold_us, 10000, 0, 1000000)			\
	T(min_latencies, 20, 0, 1000)			\
	T(slowdown_pct, 50, 0, 1000)

/**
 * struct gchint_tunables - the values
 * @mode: enum gchint_mode; its sysfs file takes the names off, table, model
 * @awake_pct: power that burns while a CPU is merely awake, in percent of the
 *	power at the highest OPP; added to each OPP's own
 * @bias: the price of time: what a thread that waits is worth, in percent of twice
 *	the power of a busy CPU at the highest OPP; GCHINT_BIAS_SPEED: any power
 * @boost_unprivileged: sessions without CAP_SYS_NICE may raise as well
 * @cap_pct: part of the highest frequency that table mode gives a concurrent phase;
 *	model mode, until it knows better
 * @hold_us: load switches at most this often, as schedutil by its rate limit
 * @min_latencies: a cap must be expected to last this many switch latencies,
 *	and a boost outlives its phase by as many while its thread goes on
 * @slowdown_pct: bound on a concurrent phase's own slowdown; three times as much for
 *	what is done in the background
 * @headroom_pct: frequency asked for above what load fills, as schedutil's 25
 * @pause_stretch_pct: tolerated stretch of a pause known to be memory-bound: racing
 *	through memory stalls costs energy for next to nothing
 * @probe_every: one concurrent phase in so many tries a neighbouring OPP to keep
 *	learning, for no line fits through one frequency, and more while nothing is
 *	known; 0 never
 * @window_us: busy and idle time are put in order once in so long: PELT's ramp as
 *	closely as idle time alone can follow it
 *
 * Each value is one word: a reader may see an old or a new one, never a torn
 * one, and every combination of values within bounds is safe. The last four never
 * change after gchint_tunables_init(): they are here for tests to vary.
 */
struct gchint_tunables {
	u32 mode;
	u32 awake_pct;
	u32 bias;
	u32 boost_unprivileged;
	u32 cap_pct;
	u32 hold_us;
	u32 min_latencies;
	u32 slowdown_pct;
	u32 headroom_pct;
	u32 pause_stretch_pct;
	u32 probe_every;
	u32 window_us;
};

#define GCHINT_TUNABLE_DEFAULT(_name, _def, _lo, _hi) ._name = (_def),

/**
 * gchint_tunables_init() - set the defaults
 * @t: tunables to fill
 */
static inline void gchint_tunables_init(struct gchint_tunables *t)
{
	*t = (struct gchint_tunables){
		.mode = GCHINT_MODE_MODEL,
		GCHINT_TUNABLES(GCHINT_TUNABLE_DEFAULT)
		.headroom_pct = 25,
		.pause_stretch_pct = 2,
		.probe_every = 16,
		.window_us = 4000,
	};
}

/**
 * gchint_tunables_cap() - what table mode gives a concurrent phase
 * @t: tunables
 * @phase: enum gchint_phase
 *
 * Return: percent of the highest frequency; 100 while threads are only waited for.
 */
static inline u32 gchint_tunables_cap(const struct gchint_tunables *t, u8 phase)
{
	if (phase == GCHINT_PHASE_NONE || phase == GCHINT_PHASE_SAFEPOINT ||
	    phase == GCHINT_PHASE_WAIT)
		return 100;
	return READ_ONCE(t->cap_pct);
}

#endif /* _GCHINT_TUNABLES_H */
