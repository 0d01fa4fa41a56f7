/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tunables of a policy. Names of the sysfs files, defaults and bounds come from
 * the list below; docs/abi/sysfs-cpufreq-gchint describes each.
 */
#ifndef _GCHINT_TUNABLES_H
#define _GCHINT_TUNABLES_H

#include "pure.h"

/*
 * A phase that must end before mutators stall is planned to take this much less than
 * the time left, because the work left is an estimate. Percent.
 */
#define GCHINT_MARGIN_PCT 25

/* T(name, default, lowest, highest), sorted by name. */
#define GCHINT_TUNABLES(T)				\
	T(awake_pct, 25, 0, 400)			\
	T(boost_unprivileged, 0, 0, 1)			\
	T(budget, 10, 0, 50)				\
	T(cap_pct, 50, 10, 100)				\
	T(hold_us, 10000, 0, 1000000)			\
	T(min_latencies, 8, 0, 1000)

/**
 * struct gchint_tunables - the values
 * @mode: enum gchint_mode; its sysfs file takes the names off, table, model
 * @awake_pct: power of a CPU that is merely awake, in percent of the power at the
 *	highest OPP; added to each OPP's own
 * @boost_unprivileged: sessions without CAP_SYS_NICE may raise as well
 * @budget: percent by which hinted work may take longer than without hints; see
 *	struct gchint_budget
 * @cap_pct: part of the highest frequency for a concurrent phase in table mode, and
 *	in model mode until the phase is learned
 * @hold_us: minimum time between two switches by load, as schedutil's rate limit
 * @min_latencies: a cap must be expected to last this many switch latencies, and a
 *	boost outlives its phase by as many while its thread runs on
 * @slowdown_pct: bound on a concurrent phase's own slowdown; three times as much for
 *	background phases
 * @headroom_pct: frequency asked for above what load fills, as schedutil's 25
 * @pause_stretch_pct: tolerated stretch of a pause known to be memory-bound: racing
 *	through memory stalls costs energy and gains almost nothing
 * @probe_every: one concurrent phase in so many tries a neighbouring OPP, because a
 *	line cannot be fitted through one frequency; more while it is unknown; 0 never
 * @window_us: time after which busy and idle time are put in order, so that the load
 *	follows PELT's ramp as closely as idle time alone allows
 *
 * Each value is one word: a reader may see an old or a new one, never a torn one,
 * and every combination within the bounds is safe. The last five never change after
 * gchint_tunables_init(); they are fields for the tests to vary.
 */
struct gchint_tunables {
	u32 mode;
	u32 awake_pct;
	u32 boost_unprivileged;
	u32 budget;
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

static inline void gchint_tunables_init(struct gchint_tunables *t)
{
	*t = (struct gchint_tunables){
		.mode = GCHINT_MODE_MODEL,
		GCHINT_TUNABLES(GCHINT_TUNABLE_DEFAULT)
		.slowdown_pct = 50,
		.headroom_pct = 25,
		.pause_stretch_pct = 2,
		.probe_every = 16,
		.window_us = 4000,
	};
}

/* Percent of the highest frequency for a concurrent phase in table mode; 100 for waiting. */
static inline u32 gchint_tunables_cap(const struct gchint_tunables *t, u8 phase)
{
	if (phase == GCHINT_PHASE_NONE || phase == GCHINT_PHASE_SAFEPOINT ||
	    phase == GCHINT_PHASE_WAIT)
		return 100;
	return READ_ONCE(t->cap_pct);
}

#endif /* _GCHINT_TUNABLES_H */
