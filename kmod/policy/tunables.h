/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything an administrator may turn. The names of the sysfs files, the
 * defaults and the bounds all come from the two lists below.
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
	T(background_slowdown_pct, 150, 0, 1000)	\
	T(bias, 100, 0, 100)		\
	T(boost_pct, 100, 50, 100)			\
	T(boost_unprivileged, 0, 0, 1)			\
	T(headroom_pct, 25, 0, 100)			\
	T(hold_us, 10000, 0, 1000000)			\
	T(hysteresis_pct, 5, 0, 50)			\
	T(margin_pct, 25, 0, 500)			\
	T(min_latencies, 20, 0, 1000)			\
	T(mutator_slowdown_pct, 100, 0, 1000)		\
	T(pause_stretch_pct, 2, 0, 100)			\
	T(probe_every, 16, 0, 1000)			\
	T(probe_pct, 25, 1, 50)				\
	T(rate_limit_us, 0, 0, 100000)			\
	T(slowdown_pct, 50, 0, 1000)			\
	T(window_us, 4000, 1000, 100000)

/*
 * T(name, phase, default, lowest, highest): percent of the highest frequency
 * that table mode gives a concurrent phase. Model mode uses it until it knows
 * better.
 */
#define GCHINT_TUNABLE_CAPS(T)				\
	T(cap_collect_pct, COLLECT, 60, 10, 100)	\
	T(cap_compact_pct, COMPACT, 60, 10, 100)	\
	T(cap_copy_pct, COPY, 60, 10, 100)		\
	T(cap_mark_pct, MARK, 50, 10, 100)		\
	T(cap_refs_pct, REFS, 60, 10, 100)		\
	T(cap_remark_pct, REMARK, 60, 10, 100)		\
	T(cap_roots_pct, ROOTS, 60, 10, 100)		\
	T(cap_safepoint_pct, SAFEPOINT, 100, 10, 100)	\
	T(cap_sweep_pct, SWEEP, 50, 10, 100)		\
	T(cap_trim_pct, TRIM, 40, 10, 100)		\
	T(cap_wait_pct, WAIT, 100, 10, 100)

/**
 * struct gchint_tunables - the values
 * @mode: enum gchint_mode; its sysfs file takes the names off, table, model
 * @awake_pct: power that burns while a CPU is merely awake, in percent of the
 *	power at the highest OPP; added to each OPP's own
 * @background_slowdown_pct: as @slowdown_pct, for trim and lazy sweep
 * @bias: the price of time: what a thread that waits is worth, in percent of half
 *	of the power of a busy CPU at the highest OPP; GCHINT_BIAS_SPEED: any power
 * @boost_pct: boost to this part of the highest frequency allowed
 * @boost_unprivileged: sessions without CAP_SYS_NICE may raise as well
 * @headroom_pct: frequency asked for above what load fills, as schedutil's 25
 * @hold_us: load switches at most this often, as schedutil by its rate limit
 * @hysteresis_pct: load lowers the frequency only if so much more would allow it
 * @margin_pct: a paced phase shall end this much of its time early
 * @min_latencies: a cap must be expected to last this many switch latencies,
 *	and a boost outlives its phase by as many while its thread goes on
 * @mutator_slowdown_pct: bound on a mutator's own slowdown while a collection
 *	cannot end before it stalls: see gchint_pace_yield()
 * @pause_stretch_pct: tolerated stretch of a pause known to be memory-bound
 * @probe_every: one concurrent phase in so many tries a neighbouring OPP to
 *	keep learning, and more while nothing is known; 0 never
 * @probe_pct: how far from the choice a probe may be
 * @rate_limit_us: least time between decisions without a phase edge;
 *	0 chooses, see gchint_decide_delay_ns()
 * @slowdown_pct: bound on a concurrent phase's own slowdown
 * @window_us: busy and idle time are put in order once in so long
 * @cap_pct: by phase, see GCHINT_TUNABLE_CAPS
 *
 * Each value is one word: a reader may see an old or a new one, never a torn
 * one, and every combination of values within bounds is safe.
 */
struct gchint_tunables {
	u32 mode;
	u32 awake_pct;
	u32 background_slowdown_pct;
	u32 bias;
	u32 boost_pct;
	u32 boost_unprivileged;
	u32 headroom_pct;
	u32 hold_us;
	u32 hysteresis_pct;
	u32 margin_pct;
	u32 min_latencies;
	u32 mutator_slowdown_pct;
	u32 pause_stretch_pct;
	u32 probe_every;
	u32 probe_pct;
	u32 rate_limit_us;
	u32 slowdown_pct;
	u32 window_us;
	u32 cap_pct[GCHINT_PHASE_NR];
};

#define GCHINT_TUNABLE_DEFAULT(_name, _def, _lo, _hi) ._name = (_def),
#define GCHINT_TUNABLE_CAP_DEFAULT(_name, _phase, _def, _lo, _hi) \
	[GCHINT_PHASE_##_phase] = (_def),

/**
 * gchint_tunables_init() - set the defaults
 * @t: tunables to fill
 */
static inline void gchint_tunables_init(struct gchint_tunables *t)
{
	*t = (struct gchint_tunables){
		.mode = GCHINT_MODE_MODEL,
		GCHINT_TUNABLES(GCHINT_TUNABLE_DEFAULT)
		.cap_pct = {
			[GCHINT_PHASE_NONE] = 100,
			GCHINT_TUNABLE_CAPS(GCHINT_TUNABLE_CAP_DEFAULT)
		},
	};
}

#endif /* _GCHINT_TUNABLES_H */
