// SPDX-License-Identifier: GPL-2.0-only
/*
 * For how long a hint counts, and what is done about it: at once, or when this
 * CPU's timer comes. All of it on the CPU, irqs off.
 */
#include <linux/hrtimer.h>
#include <linux/sched.h>

#include "clock.h"
#include "compat/hrtimer.h"
#include "hold.h"
#include "look.h"
#include "seat.h"

/*
 * A hint outlives its thread's turn for this long while only the idle task or
 * a kernel thread runs: one of those is our own worker, which must not undo
 * what it was woken for, and most turns of the others are shorter than a
 * switch of frequency is worth. Another program's turn ends a hint at once.
 */
#define HOLD_NS NSEC_PER_MSEC

/*
 * Where the scheduler calls no hook of ours, a phase is looked at so often: it
 * may go stale, fall late, or be made another one without a doorbell.
 */
#define LOOK_NS (10 * (u64)NSEC_PER_MSEC)

/* -- Decisions -- */

/* Must a phase be looked at again and again? */
static bool lasts(const struct gchint_cpu *c, const struct gchint_policy *policy)
{
	return policy && !gchint_policy_loaded(policy) && c->thread &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL;
}

/* No hook of ours is called, and who comes next may not hint: the timer asks. */
static bool owes(const struct gchint_policy *policy)
{
	return policy && gchint_decide_owes(&policy->rules, &policy->state);
}

/**
 * gchint_hold_later - the timer of this CPU comes
 * @c: this CPU
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_hold_later(struct gchint_cpu *c, u64 now)
{
	struct hrtimer *timer = &gchint_seat_of(c)->release;

	/* One that is on its way finds what is to do, and goes on if need be. */
	if (!hrtimer_is_queued(timer))
		hrtimer_start(timer, ns_to_ktime(now + HOLD_NS),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/*
 * A hint that asks for what was decided already is noted, and no more: the rest
 * of a decision is load, which is the scheduler's hook's business. Where no hook
 * is called, nobody else would decide what other CPUs and time change, nor look
 * again at a phase that lasts.
 */
static bool done(const struct gchint_cpu *c, const struct gchint_policy *policy)
{
	return gchint_policy_loaded(policy) && !policy->refresh &&
	       !policy->state.held &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL &&
	       gchint_cpu_wish(c) == c->wish;
}

/**
 * gchint_hold_decide - decide if what this CPU asks for may be different now
 * @c: this CPU
 * @policy: its policy, locked, or NULL
 * @now: CLOCK_MONOTONIC ns
 * @hint_ns: when the hint came that is the reason, 0 none
 */
void gchint_hold_decide(struct gchint_cpu *c, struct gchint_policy *policy,
			u64 now, u64 hint_ns)
{
	if (!policy || done(c, policy))
		return;
	if (!(c->demand.hinted || policy->refresh || c->alert || owes(policy) ||
	      c->hint.class != GCHINT_CLASS_NEUTRAL ||
	      c->hint.slowdown > GCHINT_ONE))
		return;
	gchint_policy_decide(policy, now, hint_ns);
	/* What a hint took and may not give back yet is not left to chance. */
	if (policy->state.held || lasts(c, policy))
		gchint_hold_later(c, now);
}

/**
 * gchint_hold_heed - see what the thread that runs here says, and do what follows
 * @c: this CPU
 * @policy: its policy, locked, or NULL
 * @now: CLOCK_MONOTONIC ns
 * @hint_ns: when the doorbell was rung, 0 if none was
 */
void gchint_hold_heed(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now, u64 hint_ns)
{
	gchint_look(c, policy, now);
	gchint_hold_decide(c, policy, now, hint_ns);
}

/* -- Ends -- */

/**
 * gchint_hold_park - a CPU idles whose thread waits
 * @c: this CPU, with its thread
 * @policy: its policy, locked
 * @now: CLOCK_MONOTONIC ns
 *
 * It keeps its voltage, for nobody calls the hook there. That is given back when
 * the idle time has lasted as long as is worth two switches.
 */
void gchint_hold_park(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now)
{
	const struct gchint_rules *rules = &policy->rules;
	u64 worth = (u64)gchint_rules_latency(rules) *
		    READ_ONCE(rules->tun->min_latencies);

	if (!gchint_policy_loaded(policy) ||
	    READ_ONCE(rules->tun->mode) != GCHINT_MODE_MODEL ||
	    policy->khz <= rules->min_khz)
		return;
	c->park_ns = now + max_t(u64, worth, HOLD_NS);
	c->ran_scale = policy->scale;
	gchint_hold_later(c, now);
}

/* The thread stops running; its hint is still there. */
static void leave(struct gchint_cpu *c, struct gchint_policy *policy, u64 now)
{
	struct gchint_thread *thread = c->thread;

	gchint_look_settle(c, policy, now);
	c->unpaid = !(thread->session->granted & GCHINT_GRANT_RAISE);
	raw_spin_lock(&thread->lock);
	thread->plan = c->plan;
	WRITE_ONCE(thread->cpu, -1);
	raw_spin_unlock(&thread->lock);
	if (policy)
		gchint_policy_phase(policy, c, GCHINT_PHASE_NONE, now);
}

/**
 * gchint_hold_none - no thread counts here, and nothing is left of one
 * @c: this CPU
 */
void gchint_hold_none(struct gchint_cpu *c)
{
	c->held = false;
	WRITE_ONCE(c->thread, NULL);
	c->hint.class = GCHINT_CLASS_NEUTRAL;
	c->hint.phase = GCHINT_PHASE_NONE;
	c->hint.flags = 0;
	c->hint.may_raise = false;
	c->hint.slowdown = 0;
	c->plan.made = false;
	c->plan.khz = GCHINT_PLAN_LOAD;
}

/**
 * gchint_hold_end - the thread that counts here does not any more
 * @c: this CPU, with its thread
 * @policy: its policy, locked, or NULL
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_hold_end(struct gchint_cpu *c, struct gchint_policy *policy,
		     u64 now)
{
	if (!c->held)
		leave(c, policy, now);
	gchint_hold_none(c);
}

/* Beside another governor it is two threads that carry a request out. */
static u64 hold_ns(const struct gchint_policy *policy)
{
	if (gchint_policy_loaded(policy))
		return HOLD_NS;
	return gchint_neighbour_spare_ns(gchint_rules_latency(&policy->rules));
}

/**
 * gchint_hold_start - a thread leaves, and its hint counts for a while
 * @c: this CPU, with its thread
 * @policy: its policy, locked
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_hold_start(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now)
{
	leave(c, policy, now);
	c->held = true;
	gchint_seat_of(c)->held_until = now + hold_ns(policy);
	gchint_hold_later(c, now);
}

static enum hrtimer_restart release(struct hrtimer *timer)
{
	struct gchint_seat *seat = container_of(timer, struct gchint_seat, release);
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy;
	bool changed = false;
	u64 now, next = 0;

	/* Its CPU has gone offline meanwhile, and left nothing to do. */
	if (seat != this_cpu_ptr(&gchint_seats))
		return HRTIMER_NORESTART;

	policy = gchint_seat_lock(c);
	now = gchint_now();
	if (c->held && now < seat->held_until) {
		next = seat->held_until;
	} else {
		if (!c->held && lasts(c, policy)) {
			gchint_look(c, policy, now);
			gchint_policy_decide(policy, now, 0);
			if (lasts(c, policy))
				next = now + LOOK_NS;
		}
		/* Once: what is held back for good is not asked for ever. */
		changed = c->held || (policy && policy->state.held);
		if (c->held)
			gchint_hold_end(c, policy, now);
	}
	if (!is_idle_task(current))
		c->park_ns = 0;
	if (c->park_ns && now >= c->park_ns) {
		c->park_ns = 0;
		c->parked = true;
		changed = true;
	} else if (c->park_ns) {
		/* The hold's end does not wait for that. */
		next = next ? min(next, c->park_ns) : c->park_ns;
	}
	if (policy && changed)
		gchint_policy_decide(policy, now, 0);
	if (!next && owes(policy))
		next = now + HOLD_NS;
	gchint_seat_unlock(c, policy);
	if (!next)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/**
 * gchint_hold_init - prepare a CPU's timer
 * @seat: of the CPU
 */
void gchint_hold_init(struct gchint_seat *seat)
{
	hrtimer_setup(&seat->release, release, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
}
