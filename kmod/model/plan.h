/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frequency that suits a hinted phase, regardless of load. Found once per phase
 * and kept until something it depends on changes, so that the scheduler's hook
 * usually only compares a few words.
 */
#ifndef _GCHINT_PLAN_H
#define _GCHINT_PLAN_H

#include "budget.h"
#include "learn.h"
#include "opp.h"
#include "tunables.h"

/*
 * Mutators lose this part of the time for which they are slowed: that they would wait
 * for the collection anyway is a prediction. Chosen on the lab's Krait and Exynos.
 */
#define GCHINT_SLOWED_LOSS_PART 4

/* The range of frequencies that hints want; 0 no limit. */
struct gchint_bounds {
	u32 cap_khz;
	u32 floor_khz;
};

/**
 * struct gchint_mutator_bounds - of a hinting thread in no phase; each 0 for none
 * @cap_khz: not above it
 * @spare_khz: the same while it rests often
 * @slow_khz: not slower for a late collection
 * @floor_khz: not below it
 */
struct gchint_mutator_bounds {
	u32 cap_khz;
	u32 spare_khz;
	u32 slow_khz;
	u32 floor_khz;
};

/**
 * struct gchint_rules - what all decisions of one policy are bound to
 * @opps: OPP table of the policy, after gchint_opps_finish()
 * @tun: tunables in force; sysfs may change any of them at any time
 * @min_khz: policy->min; with @limits_only that of the hardware
 * @max_khz: policy->max; with @limits_only that of the hardware
 * @mutator: bounds of a thread in no phase, by how memory-bound it is; see
 *	gchint_rules_set_mutators()
 * @core_type_khz: &gchint_core_type.khz of its CPUs; 0: same as &gchint_opps.ref_khz
 * @latency_ns: cpuinfo.transition_latency; U32_MAX (CPUFREQ_ETERNAL) if the driver
 *	does not know it
 * @meter_us: minimum time between switches for unprivileged hints, unless
 *	&gchint_tunables.hold_us is longer: cpufreq_policy_transition_delay_us()
 * @delay_cost: &gchint_budget.delay_cost: what the time of a waiting thread is worth.
 *	It changes without @epoch: a plan made before is only a little too fast or slow
 * @limits_only: another governor is at work, and decisions are limits: without a hint
 *	there is none
 * @epoch: changes with any field here, tunables included, and never equals that of
 *	another policy, so that a plan made under other rules is not used
 */
struct gchint_rules {
	const struct gchint_opps *opps;
	const struct gchint_tunables *tun;
	u32 min_khz;
	u32 max_khz;
	struct gchint_mutator_bounds mutator[GCHINT_MUTATORS];
	u32 core_type_khz;
	u32 latency_ns;
	u32 meter_us;
	u32 delay_cost;
	bool limits_only;
	u32 epoch;
};

/* As cpufreq's own CPUFREQ_DEFAULT_TRANSITION_LATENCY_NS. */
#define GCHINT_LATENCY_UNKNOWN_NS 1000000U

/* Time that a switch takes, ns; an assumption if the driver does not know it. */
static inline u32 gchint_rules_latency(const struct gchint_rules *r)
{
	return r->latency_ns == U32_MAX ? GCHINT_LATENCY_UNKNOWN_NS : r->latency_ns;
}

/* Minimum time between switches for unprivileged hints: as for load, or as the driver asks. */
static inline u64 gchint_rules_meter_ns(const struct gchint_rules *r)
{
	return max_t(u32, r->meter_us, READ_ONCE(r->tun->hold_us)) * (u64)NSEC_PER_USEC;
}

#define GCHINT_PLAN_LOAD 0U /* &gchint_plan.khz: load decides */

/*
 * The frequency that suits a phase. Owned by the lease. All zero is a valid initial
 * state: no plan.
 */
struct gchint_plan {
	u32 khz; /* GCHINT_PLAN_LOAD, or a cap or a boost by @class */
	u8 reason; /* enum gchint_reason, if @khz decides */
	u8 class; /* of the hint it was made for */
	bool avoided; /* load decides because the phase is expected to be too short */
	bool made; /* there is a plan */
	bool lower; /* a boost that gains nothing above @khz, even if load asks for more */
	bool probe; /* @khz is a neighbour of the best choice, to learn */
	u8 weight; /* &gchint_usage.weight */
	bool steady; /* neither a stall instant nor an expected end shortens @until_ns */
	u32 mem; /* memory fraction used, fixed point */
	u32 slowdown; /* stretch of the session's mutators meanwhile; GCHINT_ONE none */
	u64 until_ns; /* not valid later */
	u32 epoch; /* of the rules */
	u32 instance; /* of the phase */
	u32 revision; /* of what was known of it */
	s32 step; /* the probe, in OPPs from the best choice; kept for the phase */
};

static inline bool gchint_plan_valid(const struct gchint_plan *p, const struct gchint_hint *h,
				     const struct gchint_rules *r, u64 now_ns)
{
	return p->made && p->epoch == r->epoch && p->instance == h->instance &&
	       p->revision == h->revision && p->class == h->class &&
	       now_ns < p->until_ns;
}

/**
 * gchint_rules_set_mutators() - set &gchint_rules.mutator
 * @r: rules of a policy; call it whenever any other field changes
 *
 * For threads in no phase, in mode model. The floor is the OPP of least energy per
 * unit of work: below it, being awake for longer costs more than is saved, and a
 * mutator that waited for a collection would start there, because its load is low.
 * It applies only to threads that may raise. Above the cap the mutator's delay
 * cost, by &gchint_rules.delay_cost, is less than the power. A program that rests between
 * its work is awake no longer for being slower: there the power of being awake is no
 * part of that cost, and the cap is lower.
 */
void gchint_rules_set_mutators(struct gchint_rules *r);

/*
 * The frequency for a mutator whose collection is late, in kHz: the slowest that
 * @slowdown (gchint_pace_slowdown() of its session) and the delay cost allow,
 * but not below &gchint_mutator_bounds.slow_khz, where too little is saved. 0: as load
 * asks for.
 */
u32 gchint_plan_mutator_khz(const struct gchint_rules *r, u32 slowdown, u8 mutator);

/*
 * Find the frequency for a phase, in a few passes over the OPP table. @h is not
 * neutral. @l is what is learned of the session, or NULL; probing is noted in it.
 */
void gchint_plan_make(struct gchint_plan *p, const struct gchint_hint *h,
		      const struct gchint_rules *r, struct gchint_learn *l, u8 core_type,
		      u64 now_ns);

#endif /* _GCHINT_PLAN_H */
