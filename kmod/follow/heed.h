/* SPDX-License-Identifier: GPL-2.0-only */
/* What is done about a hint that was seen: at once, or when the timer comes. */
#ifndef _GCHINT_HEED_H
#define _GCHINT_HEED_H

#include <linux/hrtimer.h>
#include <linux/types.h>

#include "act/policy.h"
#include "look.h"
#include "seat.h"

/*
 * A hint outlives its thread's turn for this long while only the idle task or
 * a kernel thread runs: one of those is our own worker, which must not undo
 * what it was woken for, and most turns of the others are shorter than a
 * switch of frequency is worth. Another program's turn ends a hint at once.
 */
#define GCHINT_HOLD_NS NSEC_PER_MSEC

/*
 * Where the scheduler calls no hook of ours, a phase is looked at so often: it
 * may go stale, fall late, or be made another one without a doorbell.
 */
#define GCHINT_LOOK_NS (10 * (u64)NSEC_PER_MSEC)

/* Must a phase be looked at again and again? */
static inline bool gchint_heed_lasts(const struct gchint_cpu *c,
				     const struct gchint_policy *policy)
{
	return policy && !gchint_policy_loaded(policy) && c->thread &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL;
}

/*
 * A limit is in force for a phase that is over. No hook of ours is called, and who
 * comes next may not hint: the timer comes until it has been given back.
 */
static inline bool gchint_heed_owes(const struct gchint_policy *policy)
{
	return policy && !gchint_policy_loaded(policy) &&
	       policy->state.held && policy->state.hinted;
}

/* The timer of this CPU comes. */
static inline void gchint_heed_later(struct gchint_cpu *c, u64 now)
{
	struct hrtimer *timer = &gchint_seat_of(c)->release;

	/* One that is on its way finds what is to do, and goes on if need be. */
	if (!hrtimer_is_queued(timer))
		hrtimer_start(timer, ns_to_ktime(now + GCHINT_HOLD_NS),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Decides if what this CPU asks for may be different now. */
static inline void gchint_heed_decide(struct gchint_cpu *c,
				      struct gchint_policy *policy, u64 now,
				      u64 hint_ns)
{
	if (!policy || !(c->demand.hinted || policy->refresh || c->alert ||
			 gchint_heed_owes(policy) ||
			 c->hint.class != GCHINT_CLASS_NEUTRAL ||
			 c->hint.yield > GCHINT_ONE))
		return;
	gchint_policy_decide(policy, now, hint_ns);
	/* What a hint took and may not give back yet is not left to chance. */
	if (policy->state.held || gchint_heed_lasts(c, policy))
		gchint_heed_later(c, now);
}

/*
 * A hint that asks for what was decided already is noted, and no more: the rest
 * of a decision is load, which is the scheduler's hook's business. Where no hook
 * is called, nobody else would decide what other CPUs and time change, nor look
 * again at a phase that lasts.
 */
static __always_inline bool
gchint_heed_done(const struct gchint_cpu *c, const struct gchint_policy *policy)
{
	return policy && gchint_policy_loaded(policy) && !policy->refresh &&
	       !policy->state.held &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL &&
	       gchint_cpu_wish(c) == c->wish;
}

/**
 * gchint_heed - see what the thread that runs here says now, and do what follows
 * @c: this CPU
 * @policy: its policy, locked, or NULL
 * @now: CLOCK_MONOTONIC ns
 * @hint_ns: when the doorbell was rung, 0 if none was
 *
 * Irqs off.
 */
static __always_inline void gchint_heed(struct gchint_cpu *c,
					struct gchint_policy *policy, u64 now,
					u64 hint_ns)
{
	c->rung = hint_ns;
	gchint_look(c, policy, now);
	c->rung = false;
	if (!gchint_heed_done(c, policy))
		gchint_heed_decide(c, policy, now, hint_ns);
}

#endif /* _GCHINT_HEED_H */
