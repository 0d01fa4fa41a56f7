/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From load and hints to the frequency of a policy: a demand for each CPU, the
 * highest of them for the policy, clamped to its limits, resolved to an OPP, and
 * only if the switch pays.
 */
#ifndef _GCHINT_DECIDE_H
#define _GCHINT_DECIDE_H

#include "plan.h"

/* What one CPU asks for. */
struct gchint_demand {
	u32 khz; /* not yet limited nor resolved to an OPP */
	u32 cpu;
	u32 load; /* 0..GCHINT_ONE */
	u8 reason; /* enum gchint_reason */
	u8 class; /* enum gchint_class; neutral if no hint counted */
	u8 phase; /* enum gchint_phase of the hint */
	bool hinted; /* a hint decided, not load */
	bool metered; /* a hint decided, and its session is unprivileged */
	u8 bucket; /* whose switch it would be, if @metered: gchint_hint.bucket */
	bool steady; /* a hint decided, and load cannot change the outcome */
	bool avoided; /* the phase is expected to be too short for its own frequency */
	bool between_phases; /* the running thread hints, but is in no phase now */
	bool idle; /* the CPU is idle; set by the caller after gchint_decide_cpu() */
};

/* Did a hint ask for less than load might? The @hinted of gchint_load_account(). */
static inline bool gchint_demand_capped(const struct gchint_demand *d)
{
	return d->hinted && !gchint_class_boosts(d->class);
}

/* Which load gchint_decide_cpu() needs: gchint_load_all() if true, else gchint_load_base(). */
static inline bool gchint_decide_uses_all(const struct gchint_rules *r, const struct gchint_hint *h)
{
	return h && h->class != GCHINT_CLASS_NEUTRAL && READ_ONCE(r->tun->mode) != GCHINT_MODE_OFF;
}

/**
 * gchint_decide_cpu() - what a CPU asks for
 * @d: result; all fields are set
 * @r: rules of the CPU's policy
 * @cpu: its number, copied to @d
 * @load: as gchint_decide_uses_all() selects it, or the I/O boost if that is higher
 * @h: hint of the leased thread that runs on it, of any class, or NULL
 * @p: a valid plan for @h, or NULL
 *
 * - No hint, or mode off: load.
 * - Neutral class: load. In mode model it is bounded by &gchint_rules.mutator (the
 *   floor only with the right to raise), and by gchint_plan_mutator_khz() while the
 *   session's collection is late; not from above while the thread is behind its work.
 * - A class that boosts: its plan, but no less than load unless the plan says that
 *   less costs no more than the tolerated stretch. Load without the right to raise.
 * - A class that caps: its plan; no more than load without the right to raise.
 */
void gchint_decide_cpu(struct gchint_demand *d, const struct gchint_rules *r, u32 cpu, u32 load,
		       const struct gchint_hint *h, const struct gchint_plan *p);

/**
 * gchint_decide_usage() - what a time slice of a hinting thread costs the budget
 * @u: result; &gchint_usage.ran_ns is not set
 * @r: rules of the CPU's policy
 * @h: the hint that counted meanwhile
 * @p: the plan for it
 * @khz: the frequency in force
 * @load: gchint_load_all(), or GCHINT_ONE if load is not known
 * @hinted: a hint decided on that frequency
 *
 * What load alone would ask for is no delay. A pause of a session that may raise is
 * compared with the highest frequency, which its hint asks for.
 */
void gchint_decide_usage(struct gchint_usage *u, const struct gchint_rules *r,
			 const struct gchint_hint *h, const struct gchint_plan *p, u32 khz,
			 u32 load, bool hinted);

/* What a switch for a hint, or back, costs the budget: nothing runs meanwhile. */
void gchint_decide_switch_usage(struct gchint_usage *u, const struct gchint_rules *r);

/*
 * Keep the higher of two demands in @best, which starts with all zero. So a cap
 * never slows another CPU of the policy that does not ask for it.
 */
static inline void gchint_decide_join(struct gchint_demand *best, const struct gchint_demand *d)
{
	bool avoided = best->avoided || d->avoided;
	bool between = best->between_phases || d->between_phases;
	bool idle = d->idle && (best->idle || !best->khz);
	bool steady = d->steady && (best->steady || !best->khz);

	if (d->khz > best->khz || !best->khz)
		*best = *d;
	best->avoided = avoided;
	best->between_phases = between;
	best->idle = idle;
	best->steady = steady;
}

/* The outcome for a policy, and of the CPU that decided. */
struct gchint_decision {
	u32 khz; /* to request; within the limits, an OPP if there is a table */
	u32 raw_khz; /* asked for before limits and OPPs */
	u32 cpu;
	u32 load;
	u8 reason;
	u8 class;
	u8 phase;
	/*
	 * Request it: @khz, or alongside another governor gchint_state.bounds, differs
	 * from the last request, or the rules changed since that request.
	 */
	bool change;
	bool avoided; /* a switch was avoided: count it */
	/* Only an edge can change it: load has all that is allowed, or does not count. */
	bool steady;
};

/* Burst allowed after a rest: more than a collection cycle has edges. */
#define GCHINT_BUCKET_BURST 16

/*
 * A token bucket that limits what the sessions of a user may cause: one action per
 * @every_ns in the long run, GCHINT_BUCKET_BURST at once. The caller serialises.
 * All zero is a full bucket.
 */
struct gchint_bucket {
	u64 paid_ns;
};

/* Is the bucket empty? Ask before an action that can be refused. @every_ns 0: no limit. */
static inline bool gchint_bucket_is_empty(const struct gchint_bucket *b, u64 every_ns, u64 now_ns)
{
	return b->paid_ns > now_ns + (GCHINT_BUCKET_BURST - 1) * every_ns;
}

/* Account for an action, also for one that could not be refused. */
static inline void gchint_bucket_take(struct gchint_bucket *b, u64 every_ns, u64 now_ns)
{
	b->paid_ns = max_t(u64, b->paid_ns, now_ns) + every_ns;
}

/*
 * What a policy's decisions depend on of its past. The caller serialises all calls
 * for one policy. All zero is a valid initial state.
 */
struct gchint_state {
	u32 khz; /* last requested, 0 before the first request */
	u32 raw_khz; /* asked for last, before limits and OPPs */
	u32 opp_khz; /* @raw_khz, resolved by the rules of @epoch */
	struct gchint_bounds bounds; /* last request alongside another governor */
	bool hinted;
	bool metered;
	bool idle; /* decided while every CPU was idle */
	bool delayed; /* a switch is delayed, and was counted as avoided */
	bool skipped; /* a phase too short for a switch was counted */
	u64 switched_ns; /* when @khz last changed */
	u64 hint_ended_ns; /* when load first wanted less than the ended hint; 0 not yet */
	u32 epoch; /* of the rules of the last request */
	u8 bucket; /* of @switches, if @metered */
	/* To and from what unprivileged hints ask for. */
	struct gchint_bucket switches[GCHINT_BUCKETS];
};

/*
 * The frequency of a policy, from the highest demand of its CPUs. @s is updated as if
 * a wanted change were requested; if it is not, because the driver is busy or
 * refuses, call gchint_decide_refused().
 */
void gchint_decide_policy(struct gchint_decision *out, const struct gchint_rules *r,
			  struct gchint_state *s, const struct gchint_demand *best, u64 now_ns);

/* @khz is in force, not the last request: the next decision that wants it asks again. */
static inline void gchint_decide_refused(struct gchint_state *s, u32 khz)
{
	s->khz = khz;
	s->switched_ns = 0;
}

/*
 * Are limits in force for a phase that is over? They linger for a while, and the
 * caller must then lift them even if no event leads to a decision.
 */
static inline bool gchint_decide_must_lift(const struct gchint_rules *r,
					   const struct gchint_state *s)
{
	return r->limits_only && s->delayed && s->hinted;
}

/*
 * May load raise the frequency now? For a thread that wakes on an idle CPU: a cheap
 * test before gchint_decide_cpu(), as strict as what gchint_decide_policy() does.
 */
static inline bool gchint_decide_may_raise(const struct gchint_rules *r,
					   const struct gchint_state *s, u64 now_ns)
{
	if (s->khz >= r->max_khz)
		return false;
	return s->idle || s->hinted ||
	       now_ns >= s->switched_ns + READ_ONCE(r->tun->hold_us) * (u64)NSEC_PER_USEC;
}

/*
 * Minimum time between decisions without a phase edge: three quarters of the window
 * or twenty times the switch latency, whichever is longer, at most 10 ms. It bounds
 * the cost of the scheduler's hook; &gchint_tunables.hold_us how often load switches.
 */
u64 gchint_decide_delay_ns(const struct gchint_rules *r);

/*
 * Minimum time until the next decision without an edge, where @delay_ns is
 * gchint_decide_delay_ns(). After a steady decision load can only lower the
 * frequency, or does not count: that may wait for hold_us, up to 10 ms.
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
