/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From load and hints to the frequency of a policy: a demand for each CPU, the
 * highest of them for the policy, within its limits, at an OPP, and only if the
 * switch pays.
 */
#ifndef _GCHINT_DECIDE_H
#define _GCHINT_DECIDE_H

#include "bucket.h"
#include "plan.h"

/**
 * struct gchint_demand - what one CPU asks for
 * @khz: frequency, not yet limited nor resolved to an OPP
 * @cpu: that CPU
 * @load: its load, 0..GCHINT_ONE
 * @reason: enum gchint_reason
 * @class: enum gchint_class; neutral if no hint counted
 * @phase: enum gchint_phase of the hint
 * @hinted: the hint decided, not load: see gchint_load_account()
 * @metered: likewise, and its session holds no privilege
 * @steady: likewise, and load cannot change it
 * @avoided: the phase is expected to be too short for a frequency of its own
 * @between: the thread on that CPU hints, but is in no phase now
 * @idle: that CPU is idle; set by the caller after gchint_decide_cpu()
 */
struct gchint_demand {
	u32 khz;
	u32 cpu;
	u32 load;
	u8 reason;
	u8 class;
	u8 phase;
	bool hinted;
	bool metered;
	bool steady;
	bool avoided;
	bool between;
	bool idle;
};

/**
 * gchint_demand_capped() - did a hint ask for less than load might?
 * @d: demand of a CPU
 *
 * Return: what gchint_load_account() wants to know of the time since
 */
static inline bool gchint_demand_capped(const struct gchint_demand *d)
{
	return d->hinted && !gchint_class_boosts(d->class);
}

/**
 * gchint_decide_all() - does hinted time count, too?
 * @r: rules of a policy
 * @h: hint of the leased thread that runs on a CPU of it, or NULL
 *
 * Return: which of its two loads gchint_decide_cpu() goes by
 */
static inline bool gchint_decide_all(const struct gchint_rules *r, const struct gchint_hint *h)
{
	return h && h->class != GCHINT_CLASS_NEUTRAL && READ_ONCE(r->tun->mode) != GCHINT_MODE_OFF;
}

/**
 * gchint_decide_cpu() - what a CPU asks for
 * @d: result
 * @r: rules of its policy
 * @cpu: its number, only passed through
 * @load: gchint_load_all() if gchint_decide_all(), else gchint_load_base(); or the
 *	I/O boost if higher
 * @h: hint of the leased thread that runs on it, of any class, or NULL
 * @p: a valid plan for @h, or NULL
 *
 * Without a hint or in mode off: load. For a neutral class: load, but in mode
 * model, with the right to raise, no less than its floor of &gchint_rules.mutator, and while
 * the session's collection is late no more than gchint_plan_slowed(). A class that
 * boosts asks for its plan, and never for less than load unless its plan says
 * that less costs no more than the tolerated stretch; without the right to
 * raise it asks for load. A class that caps asks for its plan, and without the
 * right to raise for no more than load.
 */
void gchint_decide_cpu(struct gchint_demand *d, const struct gchint_rules *r, u32 cpu, u32 load,
		       const struct gchint_hint *h, const struct gchint_plan *p);

/**
 * gchint_decide_join() - the higher of two demands
 * @best: demand so far; start with all zero
 * @d: demand of another CPU of the policy
 *
 * So a cap never slows a neighbour that does not ask for it.
 */
static inline void gchint_decide_join(struct gchint_demand *best, const struct gchint_demand *d)
{
	bool avoided = best->avoided || d->avoided;
	bool between = best->between || d->between;
	bool idle = d->idle && (best->idle || !best->khz);
	bool steady = d->steady && (best->steady || !best->khz);

	if (d->khz > best->khz || !best->khz)
		*best = *d;
	best->avoided = avoided;
	best->between = between;
	best->idle = idle;
	best->steady = steady;
}

/**
 * struct gchint_decision - the outcome for a policy
 * @khz: frequency to request; within the limits, an OPP if there is a table
 * @raw_khz: frequency asked for before limits and OPPs
 * @cpu: CPU that decided
 * @load: its load, 0..GCHINT_ONE
 * @reason: enum gchint_reason
 * @class: enum gchint_class of the CPU that decided
 * @phase: enum gchint_phase of the CPU that decided
 * @change: request it: @khz, or beside another governor &gchint_state.bounds, differs
 *	from what was last requested; or nobody knows what became of that, for the rules
 *	are others
 * @avoided: a switch was avoided: count it
 * @steady: nothing but an edge is expected to change it: load asks for all that is allowed
 *	and has it, or has no say
 */
struct gchint_decision {
	u32 khz;
	u32 raw_khz;
	u32 cpu;
	u32 load;
	u8 reason;
	u8 class;
	u8 phase;
	bool change;
	bool avoided;
	bool steady;
};

/**
 * struct gchint_state - what a policy's decisions depend on of the past
 * @khz: frequency last requested; 0 before the first
 * @raw_khz: frequency asked for last, before limits and OPPs
 * @opp_khz: what became of it by the rules of @epoch
 * @bounds: what was last requested beside another governor
 * @reason: its reason
 * @class: class of the demand that asked for it
 * @hinted: a hint decided it
 * @metered: likewise, of a session without privilege
 * @idle: it was decided while nobody ran
 * @held: a switch is being held back, and was counted
 * @skipped: a phase too short for a switch was counted
 * @switched_ns: when @khz last changed
 * @freed_ns: when the hint that decided ended, and load was first held back; 0 not
 * @epoch: of the rules it was decided by
 * @switches: those that a hint without privilege led to, there and back
 *
 * The caller serialises all calls for one policy. All zero is a valid initial
 * state.
 */
struct gchint_state {
	u32 khz;
	u32 raw_khz;
	u32 opp_khz;
	struct gchint_bounds bounds;
	u8 reason;
	u8 class;
	bool hinted;
	bool metered;
	bool idle;
	bool held;
	bool skipped;
	u64 switched_ns;
	u64 freed_ns;
	u32 epoch;
	struct gchint_bucket switches;
};

/**
 * gchint_decide_policy() - the frequency of a policy
 * @out: result
 * @r: rules of the policy
 * @s: the policy's past; updated as if a wanted change were requested. If it
 *	is not, because the driver is busy or refuses, call gchint_decide_refused()
 * @best: highest demand of its CPUs
 * @now_ns: current time
 */
void gchint_decide_policy(struct gchint_decision *out, const struct gchint_rules *r,
			  struct gchint_state *s, const struct gchint_demand *best, u64 now_ns);

/**
 * gchint_decide_refused() - the frequency requested is not in force
 * @s: the policy's past
 * @khz: the frequency that is
 *
 * The request is made again by the next decision that wants it.
 */
static inline void gchint_decide_refused(struct gchint_state *s, u32 khz)
{
	s->khz = khz;
	s->switched_ns = 0;
}

/**
 * gchint_decide_owes() - is a limit in force for a phase that is over?
 * @r: rules of the policy
 * @s: the policy's past
 *
 * It is kept for a while, and then it has to be given back although nobody may come
 * to decide.
 */
static inline bool gchint_decide_owes(const struct gchint_rules *r, const struct gchint_state *s)
{
	return r->beside && s->held && s->hinted;
}

/**
 * gchint_decide_delay_ns() - least time between decisions without a phase edge
 * @r: rules of the policy
 *
 * Three quarters of the window or
 * twenty times the switch latency, whichever is longer, but at most 10 ms. It
 * bounds what the hook costs; &gchint_tunables.hold_us, how often load switches.
 */
u64 gchint_decide_delay_ns(const struct gchint_rules *r);

/**
 * gchint_decide_wait_ns() - the same after a decision
 * @r: rules of the policy
 * @d: the decision
 * @delay_ns: gchint_decide_delay_ns() of them
 *
 * At the highest frequency there is nothing to be late for: load can only lower
 * it, and may wait for that as long as between two switches, up to 10 ms. So may what
 * goes by a plan alone, for an edge is seen at once.
 */
static inline u64 gchint_decide_wait_ns(const struct gchint_rules *r,
					const struct gchint_decision *d, u64 delay_ns)
{
	u64 hold_ns = READ_ONCE(r->tun->hold_us) * (u64)NSEC_PER_USEC;

	if (!d->steady)
		return delay_ns;
	return max_t(u64, delay_ns, min_t(u64, hold_ns, 10 * NSEC_PER_MSEC));
}

#endif /* _GCHINT_DECIDE_H */
