// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hint counts only while its thread is the one that runs on a CPU, which the
 * scheduler's switch tracepoint reports.
 *
 * gchint_cpu.thread is changed by its own CPU alone, irqs off and the policy's
 * lock held: in the switch probe, in the timer, and in calls that other CPUs
 * send. Other CPUs may sample that thread's slot under the same lock.
 *
 * Unless a comment says otherwise, a function that takes a gchint_cpu runs on
 * that CPU with irqs off, and its policy is NULL or locked.
 *
 * Lock order: run queue, policy, thread, session's learn_lock.
 */
#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
/* Needed by trace/events/sched.h of Linux 6.12. */
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <trace/events/sched.h>

#include "clock.h"
#include "compat/hrtimer.h"
#include "cpufreq/actuator.h"
#include "cpufreq/policy.h"
#include "event/event.h"
#include "model/neighbour.h"
#include "param.h"
#include "probe.h"
#include "thread.h"
#include "watch.h"

/*
 * How long a hint outlives its thread's time slice while only the idle task or
 * kernel threads run. One of those is the module's own worker, which must not
 * undo what it was woken for; most others are over before a switch would pay.
 */
#define LINGER_NS NSEC_PER_MSEC

/*
 * Polling interval of an active phase where the scheduler calls no hook of the
 * module: it may become stale, late or another phase without a doorbell.
 */
#define POLL_NS (10 * (u64)NSEC_PER_MSEC)

/* How long mutators run slower after a late collection last asked for it. */
#define SLOWDOWN_NS (20 * (u64)NSEC_PER_MSEC)

/*
 * What only this file needs of a CPU; the rest is in struct gchint_cpu. The policy's
 * lock serialises @snapshot and @sample, as it does gchint_cpu.hint.
 */
struct watch_cpu {
	/* Off the stack of watch_sample(). */
	struct gchint_snapshot snapshot;
	struct gchint_sample sample;
	u64 linger_until_ns;
	struct hrtimer timer;
	/* Lets another CPU make this one sample its slot. */
	call_single_data_t poke;
	atomic_t poke_pending;
	/* When the doorbell behind the poke was rung, 0 for none. */
	atomic64_t doorbell_ns;
};

static DEFINE_PER_CPU(struct watch_cpu, watch_cpus);
static enum cpuhp_state watch_hotplug_state;
static enum cpuhp_state watch_dead_state;
static bool watch_active;

static struct watch_cpu *watch_cpu_of(const struct gchint_cpu *c)
{
	return per_cpu_ptr(&watch_cpus, c->cpu);
}

static raw_spinlock_t *watch_cpu_lock_of(struct gchint_cpu *c,
					 struct gchint_policy *policy)
{
	return policy ? &policy->lock : &c->no_policy_lock;
}

/* Locks what the CPU's hint and decisions depend on; returns its policy. */
static inline struct gchint_policy *watch_cpu_lock(struct gchint_cpu *c)
	__acquires(policy)
{
	struct gchint_policy *policy;

	__acquire(policy);
	for (;;) {
		policy = rcu_dereference_sched(c->policy);
		raw_spin_lock(watch_cpu_lock_of(c, policy));
		/* It may have been started or stopped in between. */
		if (likely(rcu_access_pointer(c->policy) == policy))
			break;
		raw_spin_unlock(watch_cpu_lock_of(c, policy));
	}
	__release(watch_cpu_lock_of(c, policy));
	return policy;
}

static inline void watch_cpu_unlock(struct gchint_cpu *c,
				    struct gchint_policy *policy)
	__releases(policy)
{
	__acquire(watch_cpu_lock_of(c, policy));
	raw_spin_unlock(watch_cpu_lock_of(c, policy));
	__release(policy);
}

/* -- Time slices, for the neighbours that a cap on limits would slow -- */

static u8 slice_type(const struct gchint_thread *thread,
		     const struct task_struct *task)
{
	if (thread)
		return GCHINT_SLICE_LEASED;
	if (is_idle_task(task))
		return GCHINT_SLICE_IDLE;
	return task->flags & PF_KTHREAD ? GCHINT_SLICE_KERNEL :
					  GCHINT_SLICE_PROGRAM;
}

/*
 * Called before the previous thread's hint is dropped. cpufreq and the governor
 * choose the thread that applies a request, so any kernel thread may be it.
 */
static inline void slice_begin(struct gchint_cpu *c,
			       struct gchint_policy *policy, u8 type, u64 now)
{
	if (!policy || !c->track_neighbours)
		return;
	if (type == GCHINT_SLICE_KERNEL && policy->asking)
		type = GCHINT_SLICE_ACTUATOR;
	gchint_neighbour_begin_slice(&c->neighbour, type,
				     c->hint.class != GCHINT_CLASS_NEUTRAL,
			      gchint_rules_latency(&policy->rules), now);
}

/* -- What the slot of a thread says -- */

static inline void watch_account_run(struct gchint_cpu *c,
				     struct gchint_policy *policy, u64 now)
{
	u64 ran = now > c->ran_since ? now - c->ran_since : 0;
	u32 khz = 0;
	u8 core_type = 0;

	if (policy) {
		gchint_policy_read_khz(policy, now);
		khz = policy->khz;
		if (c->khz_ms)
			khz = gchint_policy_mean_khz(policy, c, ran, now);
		c->khz_since = now;
		core_type = policy->core_type;
		if (ran)
			gchint_policy_book(policy, c, ran, khz, now);
	}
	gchint_phase_account_time(c->track, ran, khz, core_type);
	c->ran_since = now;
}

static __always_inline void session_learn(struct gchint_session *session,
					  const struct gchint_sample *sample)
{
	u32 khz = sample->work ? gchint_policy_core_type_khz(sample->core_type) : 0;
	u8 *mutator = &session->mutator[sample->core_type];

	lockdep_assert_held(&session->learn_lock);
	if (!gchint_learn_add(&session->learn, sample, khz))
		gchint_event_count_ignored(BIT(GCHINT_IGNORED_SAMPLE));
	else if (sample->phase == GCHINT_PHASE_NONE)
		WRITE_ONCE(*mutator, gchint_learn_mutator(&session->learn, sample->core_type,
							  *mutator));
}

/* noinline: keeps the record off the caller's stack; tracing is rarely on. */
static noinline void phase_report(const struct gchint_thread *thread,
				  const struct gchint_snapshot *snapshot,
				  unsigned int cpu, u64 now)
{
	struct gchint_event_data record = {
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

	gchint_event_emit(&record);
}

/*
 * Brings @track up to date; returns whether there was anything new. The
 * snapshot is not on the stack, which some kernels clear for each call.
 */
static __always_inline bool slot_poll(struct gchint_cpu *c,
				      struct gchint_thread *thread,
				      struct gchint_track *track, u64 now)
{
	u64 ttl = READ_ONCE(gchint_param_hint_ttl_ms) * (u64)NSEC_PER_MSEC;
	struct watch_cpu *w = watch_cpu_of(c);
	struct gchint_snapshot *snapshot = &w->snapshot;
	struct gchint_slot *slot;
	bool lead;
	u32 saw;
	u8 seen;

	/* Another CPU may have read the slot since this one read the clock. */
	now = max(now, track->moved_ns);
	slot = gchint_thread_slot(thread, &lead);
	if (lead == track->lead && !gchint_phase_due(track, slot, now, ttl))
		return false;
	lockdep_assert_held(watch_cpu_lock_of(c, rcu_dereference_sched(c->policy)));
	gchint_snapshot_take(snapshot, slot, now);
	snapshot->lead = lead;
	saw = gchint_phase_update(track, snapshot, &w->sample, now, ttl);
	seen = track->phase << GCHINT_SEEN_SHIFT | track->flags;
	WRITE_ONCE(thread->seen, track->stale ? GCHINT_SEEN_STALE : seen);
	if (snapshot->ignored)
		gchint_event_count_ignored(snapshot->ignored);
	if (snapshot->lead)
		return true;
	if (saw & (GCHINT_SAW_EDGE | GCHINT_SAW_FLAGS) &&
	    gchint_event_wanted(phase))
		phase_report(thread, snapshot, c->cpu, now);
	if (saw & GCHINT_SAW_STALE)
		gchint_thread_report(thread, GCHINT_LEASE_STALE);
	if (saw & GCHINT_SAW_FRESH)
		gchint_thread_report(thread, GCHINT_LEASE_FRESH);
	return true;
}

/*
 * The thread that collects sets it, mutators read it at their next sample. It
 * expires, because the thread that set it may never run again.
 */
static u32 session_slowdown(const struct gchint_session *session)
{
	u32 slowdown = READ_ONCE(session->slowdown);

	if (slowdown <= GCHINT_ONE ||
	    time_after32((u32)jiffies, READ_ONCE(session->slowdown_until)))
		return GCHINT_ONE;
	return slowdown;
}

/* CPUs with the same place in the table replace each other. */
static void session_record_slowed(struct gchint_session *session,
				  unsigned int cpu)
{
	WRITE_ONCE(session->slowed[cpu % ARRAY_SIZE(session->slowed)], cpu);
}

/*
 * The late collection ended. CPUs of other policies would slow mutators until
 * their next decision, which may be as far away as the phase was long. CPUs of
 * this policy take part in the decision that follows.
 *
 * Irqs are off, and a program may cause this often: only some CPUs that slowed
 * mutators last are looked at, however many the machine has.
 */
static void session_end_slowdown(struct gchint_session *session,
				 const struct gchint_cpu *here)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(session->slowed); i++) {
		unsigned int cpu = READ_ONCE(session->slowed[i]);
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
		struct gchint_thread *thread = READ_ONCE(c->thread);

		/*
		 * Irqs are off, so the thread of an online CPU is not freed
		 * meanwhile. A poke of this very CPU would run at once, under
		 * the lock.
		 */
		if (cpu != smp_processor_id() && cpu_online(cpu) && thread &&
		    thread->session == session &&
		    READ_ONCE(c->hint.slowdown) > GCHINT_ONE &&
		    rcu_access_pointer(c->policy) !=
			    rcu_access_pointer(here->policy))
			gchint_policy_poke(cpu);
	}
}

static void session_slow_down(struct gchint_session *session,
			      const struct gchint_cpu *c, u16 slot,
			      u32 slowdown)
{
	u32 was = READ_ONCE(session->slowdown);

	if (slowdown <= GCHINT_ONE && was <= GCHINT_ONE)
		return;
	WRITE_ONCE(session->slowdown_slot, slot);
	WRITE_ONCE(session->slowdown_until,
		   (u32)(jiffies + nsecs_to_jiffies(SLOWDOWN_NS)));
	WRITE_ONCE(session->slowdown, slowdown);
	if (slowdown <= GCHINT_ONE)
		session_end_slowdown(session, c);
}

static u8 hint_keeping(const struct gchint_cpu *c, u64 now)
{
	return c->hint.class == GCHINT_CLASS_NEUTRAL ?
		       gchint_rest_keeping(&c->thread->rest, now) :
		       GCHINT_KEEPING_UNKNOWN;
}

/* Does a mutator of the session rest between its work, or did it a second ago? */
static bool session_rests(const struct gchint_session *session)
{
	u32 rested = READ_ONCE(session->rested);

	return rested && time_before32((u32)jiffies, rested + HZ);
}

/* Updates the hint and plan in @c; other CPUs of a locked policy may do so. */
static void watch_sample(struct gchint_cpu *c, struct gchint_policy *policy,
			 u64 now)
{
	const struct gchint_sample *sample = &watch_cpu_of(c)->sample;
	struct gchint_thread *thread = c->thread;
	struct gchint_session *session;
	bool learns, plans;

	if (!thread || c->lingering)
		return;

	watch_account_run(c, policy, now);
	learns = slot_poll(c, thread, c->track, now) && sample->valid;
	session = thread->session;
	gchint_hint_fill_brief(&c->hint, c->track, READ_ONCE(thread->role),
			       session->granted & GCHINT_GRANT_RAISE);
	c->hint.bucket = session->bucket;
	c->hint.slowdown = session_slowdown(session);
	if (c->hint.slowdown > GCHINT_ONE)
		session_record_slowed(session, c->cpu);
	c->hint.keeping = hint_keeping(c, now);
	if (c->hint.keeping != GCHINT_KEEPING_UNKNOWN)
		WRITE_ONCE(session->rested, (u32)jiffies);
	c->hint.rests = session_rests(session);
	if (c->hint.class != GCHINT_CLASS_NEUTRAL)
		WRITE_ONCE(session->collector, thread->slot);
	if (policy)
		c->hint.mutator = READ_ONCE(session->mutator[policy->core_type]);
	plans = policy && c->hint.class != GCHINT_CLASS_NEUTRAL &&
		!gchint_plan_valid(&c->plan, &c->hint, &policy->rules, now);
	if (learns || plans) {
		/* A new mode changes the rules, too, and voids this plan. */
		if (plans &&
		    READ_ONCE(policy->rules.tun->mode) == GCHINT_MODE_MODEL)
			gchint_hint_fill_detail(&c->hint, c->track);
		raw_spin_lock(&session->learn_lock);
		if (learns)
			session_learn(session, sample);
		if (plans)
			gchint_plan_make(&c->plan, &c->hint, &policy->rules,
					 &session->learn, policy->core_type, now);
		raw_spin_unlock(&session->learn_lock);
	}
	if (plans) {
		session_slow_down(session, c, thread->slot, c->plan.slowdown);
	} else if (c->hint.class == GCHINT_CLASS_NEUTRAL &&
		   c->hint.slowdown > GCHINT_ONE &&
		   READ_ONCE(session->slowdown_slot) == thread->slot) {
		c->hint.slowdown = GCHINT_ONE;
		session_slow_down(session, c, thread->slot, GCHINT_ONE);
	}
	if (policy)
		gchint_policy_enter_phase(policy, c, c->hint.phase, now);
}

/* As watch_sample(), but only if a decision would use an outdated plan. */
static void watch_renew(struct gchint_cpu *c, struct gchint_policy *policy,
			u64 now)
{
	if (c->hint.class == GCHINT_CLASS_NEUTRAL ?
		    c->hint.slowdown == session_slowdown(c->thread->session) &&
			    c->hint.keeping == hint_keeping(c, now) :
		    gchint_plan_valid(&c->plan, &c->hint, &policy->rules, now))
		return;
	watch_sample(c, policy, now);
}

/* A cheap test for the scheduler's hook that may err to both sides. */
static bool watch_slot_changed(const struct gchint_cpu *c)
{
	bool lead;

	return !c->lingering &&
	       !gchint_snapshot_same(gchint_thread_slot(c->thread, &lead),
				     c->track->state);
}

/* -- Decisions, and how long a hint lingers -- */

static bool watch_needs_polling(const struct gchint_cpu *c,
				const struct gchint_policy *policy)
{
	return policy && !gchint_policy_is_governed(policy) && c->thread &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL;
}

/* Without the scheduler's hook only the timer can make the decision later. */
static bool policy_owes_decision(const struct gchint_policy *policy)
{
	return policy && gchint_decide_must_lift(&policy->rules, &policy->state);
}

static void watch_timer_start(struct gchint_cpu *c, u64 now)
{
	struct hrtimer *timer = &watch_cpu_of(c)->timer;
	ktime_t at = ns_to_ktime(now + LINGER_NS);

	/*
	 * A timer that has begun to run restarts itself if needed. One that waits
	 * for something later, as to poll or to park, would let a hint linger.
	 */
	if (!hrtimer_is_queued(timer) ||
	    ktime_after(hrtimer_get_expires(timer), at))
		hrtimer_start(timer, at, HRTIMER_MODE_ABS_PINNED_HARD);
}

/*
 * The hint asks for what was decided already: only load may change that, which
 * the scheduler's hook follows. Where that is not called, other CPUs and time
 * would go unnoticed.
 */
static bool watch_is_decided(const struct gchint_cpu *c,
			     const struct gchint_policy *policy)
{
	return gchint_policy_is_governed(policy) && !policy->refresh &&
	       !policy->state.delayed &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL &&
	       gchint_cpu_request_key(c) == c->request_key;
}

/* @hint_ns: when the hint came that causes the decision, 0 for none */
static void watch_decide(struct gchint_cpu *c, struct gchint_policy *policy,
			 u64 now, u64 hint_ns)
{
	if (!policy || watch_is_decided(c, policy))
		return;
	if (!(c->demand.hinted || policy->refresh || c->alert ||
	      policy_owes_decision(policy) ||
	      c->hint.class != GCHINT_CLASS_NEUTRAL ||
	      c->hint.slowdown > GCHINT_ONE))
		return;
	gchint_policy_decide(policy, now, hint_ns);
	/* The timer retries a delayed switch: the hook may not be called. */
	if (policy->state.delayed || watch_needs_polling(c, policy))
		watch_timer_start(c, now);
}

/*
 * A CPU that idles while its thread waits keeps its voltage, because the hook
 * is not called there. The timer lowers it after min_latencies switch latencies.
 */
static void watch_park(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now)
{
	const struct gchint_rules *rules = &policy->rules;
	u64 worth = (u64)gchint_rules_latency(rules) *
		    READ_ONCE(rules->tun->min_latencies);

	if (!gchint_policy_is_governed(policy) ||
	    READ_ONCE(rules->tun->mode) != GCHINT_MODE_MODEL ||
	    policy->khz <= rules->min_khz)
		return;
	c->park_ns = now + max_t(u64, worth, LINGER_NS);
	c->ran_scale = policy->scale;
	watch_timer_start(c, now);
}

/* Does a slot say that other threads are stopped, or about to be? */
static bool slot_stops_others(const struct gchint_slot *slot)
{
	u32 state = READ_ONCE(slot->state);
	u32 phase = state >> GCHINT_STATE_PHASE_SHIFT & 0xff;

	return phase == GCHINT_PHASE_SAFEPOINT ||
	       (phase && !(state & GCHINT_F_CONCURRENT << GCHINT_STATE_FLAGS_SHIFT));
}

/*
 * Does the thread wait for a collection, or may it? What the slots say counts,
 * not what was last read of them.
 */
static bool thread_awaits_collection(const struct gchint_thread *thread)
{
	const struct gchint_session *session = thread->session;
	u16 collector = READ_ONCE(session->collector);

	return READ_ONCE(thread->own->state) & 0xff << GCHINT_STATE_PHASE_SHIFT ||
	       (collector != GCHINT_NO_LEAD &&
		slot_stops_others(gchint_session_slot(session, collector)));
}

/* @slept: it leaves to sleep. */
static void thread_leave(struct gchint_cpu *c, struct gchint_policy *policy,
			 bool slept, u64 now)
{
	struct gchint_thread *thread = c->thread;

	watch_account_run(c, policy, now);
	c->unprivileged = !(thread->session->granted & GCHINT_GRANT_RAISE);
	c->bucket = thread->session->bucket;
	raw_spin_lock(&thread->lock);
	thread->plan = c->plan;
	gchint_rest_leave(&thread->rest,
			  slept && !thread_awaits_collection(thread), now);
	WRITE_ONCE(thread->cpu, -1);
	raw_spin_unlock(&thread->lock);
	if (policy)
		gchint_policy_enter_phase(policy, c, GCHINT_PHASE_NONE, now);
}

static void watch_clear_hint(struct gchint_cpu *c)
{
	c->lingering = false;
	WRITE_ONCE(c->thread, NULL);
	c->hint.class = GCHINT_CLASS_NEUTRAL;
	c->hint.phase = GCHINT_PHASE_NONE;
	c->hint.flags = 0;
	c->hint.may_raise = false;
	c->hint.slowdown = 0;
	c->plan.made = false;
	c->plan.khz = GCHINT_PLAN_LOAD;
}

static void hint_end(struct gchint_cpu *c, struct gchint_policy *policy,
		     bool slept, u64 now)
{
	if (!c->lingering)
		thread_leave(c, policy, slept, now);
	watch_clear_hint(c);
}

static void hint_linger(struct gchint_cpu *c, struct gchint_policy *policy,
			bool slept, u64 now)
{
	const struct gchint_rules *rules = &policy->rules;
	u64 ns = LINGER_NS;

	thread_leave(c, policy, slept, now);
	c->lingering = true;
	/* Under another governor two threads carry out a request. */
	if (!gchint_policy_is_governed(policy))
		ns = gchint_neighbour_threshold_ns(gchint_rules_latency(rules));
	watch_cpu_of(c)->linger_until_ns = now + ns;
	watch_timer_start(c, now);
}

static enum hrtimer_restart watch_timer_fire(struct hrtimer *timer)
{
	struct watch_cpu *w = container_of(timer, struct watch_cpu, timer);
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy;
	bool changed = false;
	u64 now, next = 0;

	/* The timer's CPU went offline: watch_cpu_offline() did the rest. */
	if (w != this_cpu_ptr(&watch_cpus))
		return HRTIMER_NORESTART;

	policy = watch_cpu_lock(c);
	now = gchint_now();
	if (c->lingering && now < w->linger_until_ns) {
		next = w->linger_until_ns;
	} else if (c->lingering) {
		hint_end(c, policy, false, now);
		changed = true;
	} else {
		if (watch_needs_polling(c, policy)) {
			watch_sample(c, policy, now);
			gchint_policy_decide(policy, now, 0);
			if (watch_needs_polling(c, policy))
				next = now + POLL_NS;
		}
		/* Once: a switch that stays delayed is not retried. */
		changed = policy && policy->state.delayed;
	}
	if (!is_idle_task(current))
		c->park_ns = 0;
	if (c->park_ns && now >= c->park_ns) {
		c->park_ns = 0;
		c->parked = true;
		changed = true;
	} else if (c->park_ns) {
		next = next ? min(next, c->park_ns) : c->park_ns;
	}
	if (policy && changed)
		gchint_policy_decide(policy, now, 0);
	if (!next && policy_owes_decision(policy))
		next = now + LINGER_NS;
	watch_cpu_unlock(c, policy);
	if (!next)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* -- Context switches -- */

static void thread_enter(struct gchint_cpu *c, struct gchint_policy *policy,
			 struct gchint_thread *thread, u64 now)
{
	WRITE_ONCE(c->thread, thread);
	/*
	 * Pairs with the barrier in gchint_watch_forget(): either that sees
	 * the thread here, or this sees that it is dead.
	 */
	smp_mb();
	if (READ_ONCE(thread->dead)) {
		watch_clear_hint(c);
		return;
	}

	/* Waits for a CPU that is still in thread_record_asleep(). */
	raw_spin_lock(&thread->lock);
	WRITE_ONCE(thread->cpu, c->cpu);
	if (thread->rest.slept)
		gchint_rest_enter(&thread->rest,
				  thread_awaits_collection(thread), now);
	raw_spin_unlock(&thread->lock);
	c->track = &thread->track;
	c->plan = thread->plan;
	c->lingering = false;
	c->ran_since = now;
	c->khz_since = now;
	c->khz_ms = 0;
	c->origin.session = thread->session->id;
	c->origin.tgid = thread->session->tgid_nr;
	c->origin.tid = thread->tid;
	c->origin.slot = thread->slot;
	watch_sample(c, policy, now);
}

/* @slept: the previous thread leaves the CPU to sleep. */
static void watch_switch(struct gchint_cpu *c, struct gchint_thread *thread,
			 struct task_struct *next, bool slept)
{
	struct gchint_policy *policy = watch_cpu_lock(c);
	u64 now = gchint_now();
	bool parked = c->parked;

	slice_begin(c, policy, slice_type(thread, next), now);
	if (!thread && (next->flags & PF_KTHREAD || is_idle_task(next))) {
		if (!c->thread)
			goto unlock;
		if (policy && is_idle_task(next))
			watch_park(c, policy, now);
		if (!policy || c->hint.class == GCHINT_CLASS_NEUTRAL)
			hint_end(c, policy, slept, now);
		else if (!c->lingering)
			hint_linger(c, policy, slept, now);
		goto unlock;
	}
	c->park_ns = 0;
	c->parked = false;
	if (c->thread && c->thread != thread)
		hint_end(c, policy, slept, now);
	c->unprivileged = false;
	if (thread)
		thread_enter(c, policy, thread, now);
	c->next = next;
	if (policy && parked)
		gchint_policy_decide(policy, now, thread ? now : 0);
	else
		watch_decide(c, policy, now, thread ? now : 0);
	c->next = NULL;
unlock:
	watch_cpu_unlock(c, policy);
}

/*
 * With the run queue locked. Every context switch of the machine pays for this
 * while a lease exists: a hash, a load, and one cache line of this CPU.
 */
static void watch_sched_switch(void *data, bool preempt, struct task_struct *prev,
			       struct task_struct *next, unsigned int prev_state)
{
	struct gchint_thread *thread = gchint_thread_find(next);
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);

	if (likely(!thread && !c->thread && !c->parked && !c->alert &&
		   !c->track_neighbours))
		return;
	/* From one program to another the CPU still has a neighbour. */
	if (!thread && !c->thread && !c->alert &&
	    c->neighbour.slice == GCHINT_SLICE_PROGRAM &&
	    slice_type(NULL, next) == GCHINT_SLICE_PROGRAM)
		return;
	watch_switch(c, thread, next, !preempt && prev_state);
}

/* For a thread whose switch to this CPU the probe did not see. */
static void slice_begin_current(struct gchint_cpu *c)
{
	struct gchint_policy *policy = watch_cpu_lock(c);
	u8 type = slice_type(gchint_thread_find(current), current);

	slice_begin(c, policy, type, gchint_now());
	watch_cpu_unlock(c, policy);
}

static void watch_cpu_start(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_thread *thread = gchint_thread_find(current);

	if (thread != c->thread)
		watch_switch(c, thread, current, false);
	else
		slice_begin_current(c);
}

static void watch_cpu_stop(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy;
	u64 now;

	if (!c->thread && !c->parked && !c->park_ns && !c->track_neighbours)
		return;
	policy = watch_cpu_lock(c);
	now = gchint_now();
	slice_begin(c, policy, slice_type(NULL, current), now);
	c->park_ns = 0;
	c->parked = false;
	if (c->thread)
		hint_end(c, policy, false, now);
	watch_decide(c, policy, now, 0);
	watch_cpu_unlock(c, policy);
}

static bool watch_cpu_has(int cpu, void *thread)
{
	return READ_ONCE(per_cpu(gchint_cpus.thread, cpu)) == thread;
}

static void watch_cpu_forget(void *thread)
{
	if (this_cpu_read(gchint_cpus.thread) == thread)
		watch_cpu_stop(NULL);
}

/**
 * gchint_watch_forget - make every CPU drop a thread
 * @thread: out of the hash, and dead
 *
 * Irqs on. When it returns, only readers under RCU are left.
 */
void gchint_watch_forget(struct gchint_thread *thread)
{
	unsigned long flags;

	/* Pairs with the barrier in thread_enter(). */
	smp_mb();
	on_each_cpu_cond_mask(watch_cpu_has, watch_cpu_forget, thread, true,
			      cpu_online_mask);
	/* Waits for a holder of the lock that has not seen the thread dead. */
	raw_spin_lock_irqsave(&thread->lock, flags);
	raw_spin_unlock_irqrestore(&thread->lock, flags);
}

/* @task has a new lease: the switch probe sees only its later switches. */
void gchint_watch_add(struct task_struct *task)
{
	if (READ_ONCE(watch_active))
		smp_call_function_single(task_cpu(task), watch_cpu_start, NULL,
					 true);
}

/* -- Doorbells -- */

static __always_inline void watch_resample(struct gchint_cpu *c, u64 hint_ns)
{
	struct gchint_policy *policy = watch_cpu_lock(c);
	/* Under the lock: for a policy time does not go backwards. */
	u64 now = gchint_now();

	watch_sample(c, policy, now);
	watch_decide(c, policy, now, hint_ns);
	watch_cpu_unlock(c, policy);
}

static void poke_receive(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct watch_cpu *w = this_cpu_ptr(&watch_cpus);

	/*
	 * Fully ordered before the slot is read below: a sender that has found 1
	 * wrote the slot before. One that finds 0 sends another poke.
	 */
	atomic_xchg(&w->poke_pending, 0);
	if (c->track_neighbours)
		slice_begin_current(c);
	watch_resample(c, atomic64_xchg(&w->doorbell_ns, 0));
}

static void poke_send(unsigned int cpu, u64 hint_ns)
{
	struct watch_cpu *w = per_cpu_ptr(&watch_cpus, cpu);

	if (hint_ns)
		atomic64_cmpxchg(&w->doorbell_ns, 0, hint_ns);
	if (atomic_xchg(&w->poke_pending, 1))
		return;
	if (smp_call_function_single_async(cpu, &w->poke)) {
		/* Or the next poke would count the time of this doorbell. */
		atomic64_set(&w->doorbell_ns, 0);
		atomic_set(&w->poke_pending, 0);
	}
}

static void poke_send_preemptible(unsigned int cpu)
{
	preempt_disable();
	poke_send(cpu, 0);
	preempt_enable();
}

/*
 * Nothing is to be decided, but phases may be recorded. The lock is for this
 * CPU's scratch memory, which other CPUs of the policy use, too.
 */
static void thread_record_asleep(struct gchint_thread *thread)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy = watch_cpu_lock(c);
	const struct gchint_sample *sample = &watch_cpu_of(c)->sample;
	struct gchint_session *session = thread->session;

	raw_spin_lock(&thread->lock);
	if (!thread->dead && thread->cpu < 0 &&
	    slot_poll(c, thread, &thread->track, gchint_now()) &&
	    sample->valid) {
		raw_spin_lock(&session->learn_lock);
		session_learn(session, sample);
		raw_spin_unlock(&session->learn_lock);
	}
	raw_spin_unlock(&thread->lock);
	watch_cpu_unlock(c, policy);
}

/* noinline: a doorbell of the running thread needs no stack for this. */
static noinline void thread_ring_elsewhere(struct gchint_thread *thread)
{
	int cpu = READ_ONCE(thread->cpu);

	if (!READ_ONCE(watch_active))
		return;
	if (cpu >= 0)
		poke_send(cpu, gchint_now());
	else if (gchint_event_recording())
		thread_record_asleep(thread);
}

/**
 * gchint_watch_doorbell - act on what the slot of a thread may say now
 * @thread: the thread, running or not
 * @changed: its role or its leader's slot may have changed, too
 *
 * Irqs off. A doorbell without an edge costs one comparison.
 */
void gchint_watch_doorbell(struct gchint_thread *thread, bool changed)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);

	if (c->thread != thread)
		thread_ring_elsewhere(thread);
	else if (changed || watch_slot_changed(c))
		watch_resample(c, gchint_now());
}

/* -- Start and end -- */

static bool watch_is_wanted(void)
{
	return gchint_thread_count() &&
	       (gchint_actuator_count() || gchint_event_recording());
}

static void watch_begin(void)
{
	WRITE_ONCE(watch_active, true);
	/* The probe has not seen the switch to a thread that runs already. */
	on_each_cpu(watch_cpu_start, NULL, true);
}

static void watch_end(void)
{
	WRITE_ONCE(watch_active, false);
	on_each_cpu(watch_cpu_stop, NULL, true);
}

/* Runs on the CPU that goes offline, which runs no user space any more. */
static int watch_cpu_offline(unsigned int cpu)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
	unsigned long flags;

	local_irq_save(flags);
	watch_cpu_stop(NULL);
	local_irq_restore(flags);
	hrtimer_cancel(&watch_cpu_of(c)->timer);
	return 0;
}

/*
 * The scheduler pushes threads off only after watch_cpu_offline(). One that ran
 * until then lingers, and the timer that would end that does nothing on another
 * CPU. Its lease may have ended meanwhile, so it is not used.
 */
static int watch_cpu_dead(unsigned int cpu)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
	struct gchint_policy *policy;
	unsigned long flags;

	hrtimer_cancel(&watch_cpu_of(c)->timer);
	local_irq_save(flags);
	policy = watch_cpu_lock(c);
	c->park_ns = 0;
	c->parked = false;
	if (c->lingering)
		watch_clear_hint(c);
	watch_cpu_unlock(c, policy);
	local_irq_restore(flags);
	return 0;
}

static struct gchint_probe watch_probe = {
	.name = "sched_switch",
	.func = watch_sched_switch,
	.wanted = watch_is_wanted,
	.begun = watch_begin,
	.ended = watch_end,
};

static const struct gchint_task_ops watch_task_ops = {
	.due = watch_slot_changed,
	.sample = watch_sample,
	.renew = watch_renew,
	.poke = poke_send_preemptible,
};

int gchint_watch_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		struct watch_cpu *w = per_cpu_ptr(&watch_cpus, cpu);

		per_cpu(gchint_cpus.cpu, cpu) = cpu;
		raw_spin_lock_init(&per_cpu(gchint_cpus.no_policy_lock, cpu));
		hrtimer_setup(&w->timer, watch_timer_fire, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
		INIT_CSD(&w->poke, poke_receive, NULL);
	}
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gchint:online",
					NULL, watch_cpu_offline);
	if (ret < 0)
		return ret;
	watch_hotplug_state = ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "gchint:dead",
					NULL, watch_cpu_dead);
	if (ret < 0)
		goto remove_hotplug;
	watch_dead_state = ret;
	check_trace_callback_type_sched_switch(watch_sched_switch);
	ret = gchint_probe_add(&watch_probe);
	if (ret)
		goto remove_dead;
	gchint_policy_set_task_ops(&watch_task_ops);
	return 0;

remove_dead:
	cpuhp_remove_state_nocalls(watch_dead_state);
remove_hotplug:
	cpuhp_remove_state_nocalls(watch_hotplug_state);
	return ret;
}

/* The switch probe is unregistered by now, and nothing sends a poke. */
void gchint_watch_exit(void)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(watch_hotplug_state);
	cpuhp_remove_state_nocalls(watch_dead_state);
	for_each_possible_cpu(cpu) {
		hrtimer_cancel(&per_cpu(watch_cpus.timer, cpu));
		/*
		 * A virtual CPU may not have run since it was poked. One that
		 * goes offline handles it first.
		 */
		while (atomic_read(&per_cpu(watch_cpus.poke_pending, cpu)))
			usleep_range(1000, 2000);
	}
	/* A poke that has begun runs with irqs off. */
	synchronize_rcu();
}
