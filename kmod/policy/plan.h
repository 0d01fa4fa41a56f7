/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frequency that suits a hinted phase, load aside. Found once for a phase
 * and kept until something it depends on changes, so that the scheduler's hook
 * usually only compares a few words.
 */
#ifndef _GCHINT_PLAN_H
#define _GCHINT_PLAN_H

#include "learn.h"
#include "opp.h"
#include "tunables.h"

/**
 * struct gchint_bounds - between which frequencies hints want something
 * @cap_khz: the highest frequency, 0 no limit
 * @floor_khz: the lowest frequency, 0 no limit
 */
struct gchint_bounds {
	u32 cap_khz;
	u32 floor_khz;
};

/**
 * struct gchint_rules - what binds all decisions of one policy
 * @opps: OPPs
 * @tun: tunables in force
 * @min_khz: policy->min
 * @max_khz: policy->max
 * @mutator: by how memory-bound it is: what a thread in no phase is given; see
 *	gchint_plan_mutators()
 * @kind_khz: &gchint_kind.khz of its CPUs; 0: it is &gchint_opps.ref_khz
 * @latency_ns: time that a switch takes, cpuinfo.transition_latency, which is
 *	U32_MAX (CPUFREQ_ETERNAL) where the driver does not know
 * @meter_us: hints without privilege switch once in so long, or in
 *	&gchint_tunables.hold_us if that is longer: what the driver asks for,
 *	cpufreq_policy_transition_delay_us()
 * @beside: another governor is at work, and decisions are limits: without a hint
 *	there is none
 * @epoch: changes whenever anything here changes, tunables included, and is
 *	never that of another policy, so that a plan made under other rules is
 *	not used
 */
struct gchint_rules {
	const struct gchint_opps *opps;
	const struct gchint_tunables *tun;
	u32 min_khz;
	u32 max_khz;
	struct gchint_bounds mutator[GCHINT_MUTATORS];
	u32 kind_khz;
	u32 latency_ns;
	u32 meter_us;
	bool beside;
	u32 epoch;
};

/* As cpufreq's own CPUFREQ_DEFAULT_TRANSITION_LATENCY_NS. */
#define GCHINT_LATENCY_UNKNOWN_NS 1000000U

/**
 * gchint_rules_latency() - time that a switch takes
 * @r: rules of a policy
 *
 * Return: ns, an assumption where it is unknown
 */
static inline u32 gchint_rules_latency(const struct gchint_rules *r)
{
	return r->latency_ns == U32_MAX ? GCHINT_LATENCY_UNKNOWN_NS : r->latency_ns;
}

/**
 * gchint_rules_meter_ns() - how often hints without privilege may change something
 * @r: rules of a policy
 *
 * Return: once in so long: as often as load may, or as the driver would like
 */
static inline u64 gchint_rules_meter_ns(const struct gchint_rules *r)
{
	return max_t(u32, r->meter_us, READ_ONCE(r->tun->hold_us)) * (u64)NSEC_PER_USEC;
}

#define GCHINT_PLAN_LOAD 0U /* &gchint_plan.khz: load decides */

/**
 * struct gchint_plan - the frequency that suits a phase
 * @khz: GCHINT_PLAN_LOAD, or the frequency for this phase: a cap or a boost
 *	by @class
 * @reason: enum gchint_reason, if @khz decides
 * @class: enum gchint_class of the hint it was made for
 * @avoided: load decides because the phase is expected to be too short
 * @made: there is a plan
 * @lower: a boost that is known to gain nothing above @khz: it may be less
 *	than load asks for
 * @probe: @khz is a neighbour of the best choice, to learn
 * @step: the probe, in OPPs from the best choice; kept for the phase
 * @steady: it holds for as long as plans do: no stall instant comes nearer, and the
 *	phase is not expected to be over at once
 * @mem: memory fraction used, fixed point
 * @slowdown: how much slower the session's mutators shall be meanwhile: a stretch,
 *	GCHINT_ONE not at all
 * @until_ns: not valid later
 * @epoch: of the rules
 * @instance: of the phase
 * @revision: of what was known of it
 *
 * Owned by the lease. All zero is a valid initial state: no plan.
 */
struct gchint_plan {
	u32 khz;
	u8 reason;
	u8 class;
	bool avoided;
	bool made;
	bool lower;
	bool probe;
	bool steady;
	u32 mem;
	u32 slowdown;
	u64 until_ns;
	u32 epoch;
	u32 instance;
	u32 revision;
	s32 step;
};

/**
 * gchint_plan_valid() - does a plan still hold?
 * @p: the lease's plan
 * @h: the hint
 * @r: rules of the policy on which the thread runs
 * @now_ns: current time
 */
static inline bool gchint_plan_valid(const struct gchint_plan *p, const struct gchint_hint *h,
				     const struct gchint_rules *r, u64 now_ns)
{
	return p->made && p->epoch == r->epoch && p->instance == h->instance &&
	       p->revision == h->revision && p->class == h->class && now_ns < p->until_ns;
}

/**
 * gchint_plan_mutators() - between what a thread in no phase is given
 * @r: rules of a policy; sets their @mutator, whenever the others change
 *
 * For threads of sessions in mode model. The floor is for those that may raise: where a
 * lower OPP costs more energy per unit of work than it saves, because the CPU is awake
 * for longer, running there is of no use to anybody. A mutator that has waited for a
 * collection looks idle to load, and would start there; 0 if power is unknown. Above the
 * cap a mutator's time is not worth the power, by &gchint_tunables.bias.
 */
void gchint_plan_mutators(struct gchint_rules *r);

/**
 * gchint_plan_slowed() - the frequency for a mutator whose collection is late
 * @r: rules of the policy on which it runs
 * @slowdown: gchint_pace_slowdown() of its session
 * @mutator: gchint_learn_mutator() of it
 *
 * The slowest that @slowdown and &gchint_tunables.bias allow, but
 * not below its floor, for there nothing is saved any more.
 *
 * Return: kHz; 0: as load asks for
 */
u32 gchint_plan_slowed(const struct gchint_rules *r, u32 slowdown, u8 mutator);

/**
 * gchint_plan_make() - find the frequency for a phase
 * @p: the lease's plan
 * @h: the hint, of a class that is not neutral
 * @r: rules of the policy on which the thread runs
 * @l: what is learned of the session, or NULL; probing is noted in it
 * @kind: kind of CPU, below GCHINT_KINDS
 * @now_ns: current time
 *
 * Costs a few passes over the OPP table.
 */
void gchint_plan_make(struct gchint_plan *p, const struct gchint_hint *h,
		      const struct gchint_rules *r, struct gchint_learn *l, u8 kind, u64 now_ns);

#endif /* _GCHINT_PLAN_H */
