/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything an administrator may turn. The names of the sysfs files, the
 * defaults and the bounds all come from the list below.
 */
#ifndef _GCHINT_TUNABLES_H
#define _GCHINT_TUNABLES_H

#include "pure.h"

/* &gchint_tunables.bias that gives time any price, and below it: percent for each of it. */
#define GCHINT_BIAS_SPEED 100
#define GCHINT_BIAS_PRICE 2

/* T(name, default, lowest, highest), sorted by name. */
#define GCHINT_TUNABLES(T)				\
	T(awake_pct, 25, 0, 400)			\
	T(bias, 50, 0, 100)		\
	T(boost_pct, 100, 50, 100)			\
	T(boost_unprivileged, 0, 0, 1)			\
	T(cap_collect_pct, 60, 10, 100)			\
	T(cap_mark_pct, 50, 10, 100)			\
	T(cap_sweep_pct, 50, 10, 100)			\
	T(cap_trim_pct, 40, 10, 100)			\
	T(headroom_pct, 25, 0, 100)			\
	T(hold_us, 10000, 0, 1000000)			\
	T(margin_pct, 25, 0, 500)			\
	T(min_latencies, 20, 0, 1000)			\
	T(mutator_slowdown_pct, 100, 0, 1000)		\
	T(pause_stretch_pct, 2, 0, 100)			\
	T(probe_every, 16, 0, 1000)			\
	T(rate_limit_us, 0, 0, 100000)			\
	T(slowdown_pct, 50, 0, 1000)			\
	T(window_us, 4000, 1000, 100000)

/**
 * struct gchint_tunables - the values
 * @mode: enum gchint_mode; its sysfs file takes the names off, table, model
 * @awake_pct: power that burns while a CPU is merely awake, in percent of the
 *	power at the highest OPP; added to each OPP's own
 * @bias: the price of time: what a thread that waits is worth, in percent of twice
 *	the power of a busy CPU at the highest OPP; GCHINT_BIAS_SPEED: any power
 * @boost_pct: boost to this part of the highest frequency allowed
 * @boost_unprivileged: sessions without CAP_SYS_NICE may raise as well
 * @cap_collect_pct: part of the highest frequency that table mode gives a concurrent
 *	phase that none of the next three is of; model mode, until it knows better
 * @cap_mark_pct: likewise, to marking
 * @cap_sweep_pct: likewise, to sweeping
 * @cap_trim_pct: likewise, to returning memory
 * @headroom_pct: frequency asked for above what load fills, as schedutil's 25
 * @hold_us: load switches at most this often, as schedutil by its rate limit
 * @margin_pct: a paced phase shall end this much of its time early
 * @min_latencies: a cap must be expected to last this many switch latencies,
 *	and a boost outlives its phase by as many while its thread goes on
 * @mutator_slowdown_pct: bound on a mutator's own slowdown while a collection
 *	cannot end before it stalls, see gchint_pace_slowdown(), at &gchint_tunables.bias
 *	0; less above it, none at GCHINT_BIAS_SPEED
 * @pause_stretch_pct: tolerated stretch of a pause known to be memory-bound
 * @probe_every: one concurrent phase in so many tries a neighbouring OPP to
 *	keep learning, and more while nothing is known; 0 never
 * @rate_limit_us: least time between decisions without a phase edge;
 *	0 chooses, see gchint_decide_delay_ns()
 * @slowdown_pct: bound on a concurrent phase's own slowdown; three times as much for
 *	what is done in the background
 * @window_us: busy and idle time are put in order once in so long
 *
 * Each value is one word: a reader may see an old or a new one, never a torn
 * one, and every combination of values within bounds is safe.
 */
struct gchint_tunables {
	u32 mode;
	u32 awake_pct;
	u32 bias;
	u32 boost_pct;
	u32 boost_unprivileged;
	u32 cap_collect_pct;
	u32 cap_mark_pct;
	u32 cap_sweep_pct;
	u32 cap_trim_pct;
	u32 headroom_pct;
	u32 hold_us;
	u32 margin_pct;
	u32 min_latencies;
	u32 mutator_slowdown_pct;
	u32 pause_stretch_pct;
	u32 probe_every;
	u32 rate_limit_us;
	u32 slowdown_pct;
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
	switch (phase) {
	case GCHINT_PHASE_NONE:
	case GCHINT_PHASE_SAFEPOINT:
	case GCHINT_PHASE_WAIT:
		return 100;
	case GCHINT_PHASE_MARK:
		return READ_ONCE(t->cap_mark_pct);
	case GCHINT_PHASE_SWEEP:
		return READ_ONCE(t->cap_sweep_pct);
	case GCHINT_PHASE_TRIM:
		return READ_ONCE(t->cap_trim_pct);
	default:
		return READ_ONCE(t->cap_collect_pct);
	}
}

#endif /* _GCHINT_TUNABLES_H */
