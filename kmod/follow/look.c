// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the slot of the thread that runs on a CPU says, and what that means: a
 * hint and a plan, in gchint_cpu.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "act/policy.h"
#include "look.h"
#include "param.h"
#include "seat.h"
#include "tell/event.h"
#include "thread.h"

/* Mutators run slower for a late collection for so long after it last said so. */
#define SLOWDOWN_NS (20 * (u64)NSEC_PER_MSEC)

/* Under learn_lock. */
static __always_inline void learn(struct gchint_session *session,
				  const struct gchint_sample *sample)
{
	u32 khz = sample->work ? gchint_policy_kind_khz(sample->kind) : 0;

	u8 *mutator = &session->mutator[sample->kind];

	if (!gchint_learn_add(&session->learn, sample, khz))
		gchint_event_ignored(BIT(GCHINT_IGNORED_SAMPLE));
	else if (sample->phase == GCHINT_PHASE_NONE)
		WRITE_ONCE(*mutator, gchint_learn_mutator(&session->learn, sample->kind,
							  *mutator));
}

static void remember(struct gchint_thread *thread,
		     const struct gchint_track *track)
{
	u8 seen = track->phase << GCHINT_SEEN_SHIFT | track->flags;

	WRITE_ONCE(thread->seen, track->stale ? GCHINT_SEEN_STALE : seen);
}

/* Apart, because a record is large, and nearly always nobody watches. */
static noinline void tell(const struct gchint_thread *thread,
			  const struct gchint_snapshot *snapshot,
			  unsigned int cpu, u64 now)
{
	struct gchint_record record = {
		.type = GCHINT_EVENT_PHASE,
		.time = now,
		.cpu = cpu,
		.session = thread->session->id,
		.tgid = thread->session->tgid_nr,
		.tid = thread->tid,
		.slot = thread->slot,
		.phase = {
			.phase = snapshot->phase,
			.flags = snapshot->flags,
			.cause = snapshot->cause,
			.seq = snapshot->state >> GCHINT_STATE_SEQ_SHIFT,
			.work_done = snapshot->work_done,
			.work_total = snapshot->work_total,
			.stall_ns = snapshot->stall_ns,
			.method = snapshot->method,
		},
	};

	gchint_event_tell(&record);
}

/*
 * There is something new in the slot. It is read into the CPU's own memory, for
 * the stack would have to be cleared first.
 */
static __always_inline void take(struct gchint_cpu *c,
				 struct gchint_thread *thread,
				 struct gchint_track *track,
				 const struct gchint_slot *slot, bool lead,
				 u64 now, u64 ttl)
{
	struct gchint_snapshot *snapshot = &c->snapshot;
	u32 saw;

	lockdep_assert_held(gchint_seat_lock_of(c, rcu_dereference_sched(c->policy)));
	gchint_snapshot_take(snapshot, slot, now);
	snapshot->lead = lead;
	saw = gchint_phase_update(track, snapshot, &c->sample, now, ttl);
	remember(thread, track);
	if (snapshot->ignored)
		gchint_event_ignored(snapshot->ignored);
	if (snapshot->lead)
		return;
	if (saw & (GCHINT_SAW_EDGE | GCHINT_SAW_FLAGS) &&
	    gchint_event_wants_phase())
		tell(thread, snapshot, c->cpu, now);
	if (saw & GCHINT_SAW_STALE)
		gchint_thread_tell(thread, GCHINT_LEASE_STALE);
	if (saw & GCHINT_SAW_FRESH)
		gchint_thread_tell(thread, GCHINT_LEASE_FRESH);
}

/* Is there anything new in the slot? Then it is in the track now. */
static __always_inline bool observe(struct gchint_cpu *c,
				    struct gchint_thread *thread,
				    struct gchint_track *track, u64 now)
{
	u64 ttl = READ_ONCE(gchint_param_hint_ttl_ms) * (u64)NSEC_PER_MSEC;
	struct gchint_slot *slot;
	bool lead;

	/* Another CPU may have looked since this one read the clock. */
	now = max(now, track->moved_ns);
	slot = gchint_thread_slot(thread, &lead);
	if (lead == track->lead && !gchint_phase_due(track, slot, now, ttl))
		return false;
	take(c, thread, track, slot, lead, now, ttl);
	return true;
}

/**
 * gchint_look_observe - read a slot if there is anything new in it
 * @c: this CPU, locked by gchint_seat_lock()
 * @thread: whose; it does not run
 * @track: what is known of it. The holder of the thread's lock is alone with
 *	it.
 * @now: CLOCK_MONOTONIC ns
 *
 * Irqs off.
 */
void gchint_look_observe(struct gchint_cpu *c, struct gchint_thread *thread,
			 struct gchint_track *track, u64 now)
{
	struct gchint_session *session = thread->session;

	if (!observe(c, thread, track, now) || !c->sample.valid)
		return;
	raw_spin_lock(&session->learn_lock);
	learn(session, &c->sample);
	raw_spin_unlock(&session->learn_lock);
}

/*
 * Whoever collects says how much slower mutators may run; they read it when they
 * look next. It ends with the phase, or when who set it is not heard of.
 */
static u32 session_slowdown(const struct gchint_session *session)
{
	u32 slowdown = READ_ONCE(session->slowdown);

	if (slowdown <= GCHINT_ONE ||
	    time_after32((u32)jiffies, READ_ONCE(session->slowdown_until)))
		return GCHINT_ONE;
	return slowdown;
}

/*
 * Nobody is late any more. Who was slowed on a CPU of another policy would go on until its
 * next decision, which may be as long as the phase was; those of this one are looked at
 * now.
 */
static void end_slowdown(const struct gchint_cpu *here,
			 struct gchint_session *session)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
		struct gchint_thread *thread = READ_ONCE(c->thread);

		/*
		 * Irqs are off: a thread that was there is not freed meanwhile, and
		 * a poke of this very CPU would be served at once, under the lock.
		 */
		if (cpu != smp_processor_id() && thread &&
		    thread->session == session &&
		    READ_ONCE(c->hint.slowdown) > GCHINT_ONE &&
		    rcu_access_pointer(c->policy) !=
			    rcu_access_pointer(here->policy))
			gchint_policy_poke(cpu);
	}
}

static void slow_session(const struct gchint_cpu *c,
			 struct gchint_session *session, u16 slot, u32 slowdown)
{
	u32 was = READ_ONCE(session->slowdown);

	if (slowdown <= GCHINT_ONE && was <= GCHINT_ONE)
		return;
	WRITE_ONCE(session->slowdown_slot, slot);
	WRITE_ONCE(session->slowdown_until,
		   (u32)(jiffies + nsecs_to_jiffies(SLOWDOWN_NS)));
	WRITE_ONCE(session->slowdown, slowdown);
	if (slowdown <= GCHINT_ONE)
		end_slowdown(c, session);
}

/**
 * gchint_look - see what the thread that runs on a CPU says now
 * @c: the CPU
 * @policy: its policy under gchint, locked, or NULL: then only on that CPU
 * @now: CLOCK_MONOTONIC ns
 *
 * Irqs off. Leaves the result in @c.
 */
void gchint_look(struct gchint_cpu *c, struct gchint_policy *policy, u64 now)
{
	struct gchint_thread *thread = c->thread;
	struct gchint_session *session;
	bool learns, plans;

	if (!thread || c->held)
		return;

	gchint_look_settle(c, policy, now);
	learns = observe(c, thread, c->track, now) && c->sample.valid;
	session = thread->session;
	gchint_phase_brief(&c->hint, c->track, READ_ONCE(thread->role),
			   session->granted & GCHINT_GRANT_RAISE);
	c->hint.slowdown = session_slowdown(session);
	if (policy)
		c->hint.mutator = READ_ONCE(session->mutator[policy->kind]);
	plans = policy && c->hint.class != GCHINT_CLASS_NEUTRAL &&
		!gchint_plan_valid(&c->plan, &c->hint, &policy->rules, now);
	if (learns || plans) {
		/* If it changes right now, so do the rules, and this plan is void. */
		if (plans &&
		    READ_ONCE(policy->rules.tun->mode) == GCHINT_MODE_MODEL)
			gchint_phase_detail(&c->hint, c->track);
		raw_spin_lock(&session->learn_lock);
		if (learns)
			learn(session, &c->sample);
		if (plans)
			gchint_plan_make(&c->plan, &c->hint, &policy->rules,
					 &session->learn, policy->kind, now);
		raw_spin_unlock(&session->learn_lock);
	}
	if (plans) {
		slow_session(c, session, thread->slot, c->plan.slowdown);
	} else if (c->hint.class == GCHINT_CLASS_NEUTRAL &&
		   c->hint.slowdown > GCHINT_ONE &&
		   READ_ONCE(session->slowdown_slot) == thread->slot) {
		c->hint.slowdown = GCHINT_ONE;
		slow_session(c, session, thread->slot, GCHINT_ONE);
	}
	if (policy)
		gchint_policy_phase(policy, c, c->hint.phase, now);
}

/**
 * gchint_look_renew - look if a decision would go by what does not hold any more
 * @c: a CPU, with a thread that counts on it
 * @policy: its policy, locked
 * @now: CLOCK_MONOTONIC ns
 *
 * Irqs off.
 */
void gchint_look_renew(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now)
{
	if (c->hint.class == GCHINT_CLASS_NEUTRAL ?
		    c->hint.slowdown == session_slowdown(c->thread->session) :
		    gchint_plan_valid(&c->plan, &c->hint, &policy->rules, now))
		return;
	gchint_look(c, policy, now);
}
