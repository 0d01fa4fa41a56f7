// SPDX-License-Identifier: GPL-2.0-only
/*
 * A phase counts only while its thread is the one running on a CPU. The
 * scheduler's switch tracepoint says which one that is; it is listened to only
 * while a lease exists and somebody wants to know.
 *
 * gchint_cpu.thread is changed by its own CPU alone, with interrupts off: in
 * the switch probe, the release timer, and calls that other CPUs send. Lock
 * order: run queue, policy, thread, session's learn_lock.
 */
#include <linux/cpuhotplug.h>
#include <linux/sched.h>

#include "compat/hrtimer.h"
#include "event.h"
#include "lease.h"
#include "look.h"
#include "policy.h"
#include "session.h"
#include "watch.h"

/*
 * A hint outlives its thread's turn for this long while only the idle task or
 * a kernel thread runs: one of those is our own worker, which must not undo
 * what it was woken for, and most turns of the others are shorter than a
 * switch of frequency is worth. Another program's turn ends a hint at once.
 */
#define HOLD_NS NSEC_PER_MSEC

DEFINE_PER_CPU(struct gchint_cpu, gchint_cpus);

static bool watching;
static enum cpuhp_state hotplug;

/* -- Who runs -- */

/* What a CPU without a policy locks instead, so that there is one way. */
static raw_spinlock_t *lock_of(struct gchint_cpu *c,
			       struct gchint_policy *policy)
{
	return policy ? &policy->lock : &c->alone;
}

static struct gchint_policy *lock_policy(struct gchint_cpu *c)
	__acquires(policy)
{
	struct gchint_policy *policy = rcu_dereference_sched(c->policy);

	__acquire(policy);
	raw_spin_lock(lock_of(c, policy));
	__release(lock_of(c, policy));
	return policy;
}

static void unlock_policy(struct gchint_cpu *c, struct gchint_policy *policy)
	__releases(policy)
{
	__acquire(lock_of(c, policy));
	raw_spin_unlock(lock_of(c, policy));
	__release(policy);
}

static void start_release(struct gchint_cpu *c, u64 now)
{
	/* One that is on its way finds what is to do, and goes on if need be. */
	if (!hrtimer_is_queued(&c->release))
		hrtimer_start(&c->release, ns_to_ktime(now + HOLD_NS),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/*
 * The CPU of a thread that waits keeps its voltage while it idles, for nobody
 * calls the hook there. It is given back when the idle time has lasted as long
 * as is worth two switches.
 */
static void start_park(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now)
{
	const struct gchint_rules *rules = &policy->rules;
	u64 worth = (u64)gchint_rules_latency(rules) *
		    READ_ONCE(rules->tun->min_latencies);

	if (READ_ONCE(rules->tun->mode) != GCHINT_MODE_MODEL ||
	    policy->khz <= rules->min_khz)
		return;
	c->park_ns = now + max_t(u64, worth, HOLD_NS);
	c->ran_scale = policy->scale;
	start_release(c, now);
}

/* Decides if what this CPU asks for may be different now. */
static void decide(struct gchint_cpu *c, struct gchint_policy *policy,
		   u64 now, u64 hint_ns)
{
	if (!policy || !(c->demand.hinted || policy->refresh ||
			 c->hint.class != GCHINT_CLASS_NEUTRAL ||
			 c->hint.yield > GCHINT_ONE))
		return;
	gchint_policy_decide(policy, now, hint_ns);
	/* What a hint took and may not give back yet is not left to chance. */
	if (policy->state.held)
		start_release(c, now);
}

/*
 * A hint that asks for what was decided already is noted, and no more: the rest
 * of a decision is load, which is the scheduler's hook's business.
 */
static __always_inline bool decided(const struct gchint_cpu *c,
				    const struct gchint_policy *policy)
{
	return policy && !policy->refresh && !policy->state.held &&
	       c->hint.class != GCHINT_CLASS_NEUTRAL &&
	       gchint_cpu_wish(c) == c->wish;
}

static void clear_hint(struct gchint_cpu *c)
{
	c->hint.class = GCHINT_CLASS_NEUTRAL;
	c->hint.phase = GCHINT_PHASE_NONE;
	c->hint.flags = 0;
	c->hint.may_raise = false;
	c->hint.yield = 0;
	c->plan.made = false;
	c->plan.khz = GCHINT_PLAN_LOAD;
}

/* -- Where it is kept -- */

/* It gives its room up. Under its lock; it does not run. */
static void pack(struct gchint_thread *thread)
{
	struct gchint_room *room = thread->room;

	gchint_stow_in(&thread->stow, &room->track, &room->plan);
	thread->out = false;
	WRITE_ONCE(room->owner, NULL);
}

/*
 * A room of this CPU that nobody has. Who runs, here or elsewhere, keeps its own.
 * With irqs off, an owner that is read here is not freed meanwhile.
 */
static struct gchint_room *vacate(struct gchint_cpu *c)
{
	struct gchint_thread *thread;
	struct gchint_room *room;
	unsigned int i;

	for (i = 0; i < GCHINT_ROOMS; i++) {
		c->hand = (c->hand + 1) % GCHINT_ROOMS;
		room = &c->rooms[c->hand];
		thread = READ_ONCE(room->owner);
		if (!thread)
			return room;
		raw_spin_lock(&thread->lock);
		if (room->owner == thread && thread->cpu < 0)
			pack(thread);
		raw_spin_unlock(&thread->lock);
		if (!READ_ONCE(room->owner))
			return room;
	}
	return &c->spare;
}

/* What is known of a thread that begins to run here comes out. */
static void fetch(struct gchint_cpu *c, struct gchint_thread *thread)
{
	struct gchint_room *room = NULL;

	raw_spin_lock(&thread->lock);
	/* Only who runs it takes it out; who packs it may come in between. */
	while (!thread->out && !room) {
		raw_spin_unlock(&thread->lock);
		room = vacate(c);
		raw_spin_lock(&thread->lock);
	}
	if (!thread->out) {
		gchint_stow_out(&thread->stow, &room->track, &room->plan);
		thread->room = room;
		thread->out = true;
		if (room != &c->spare)
			WRITE_ONCE(room->owner, thread);
	}
	c->track = &thread->room->track;
	c->plan = thread->room->plan;
	WRITE_ONCE(thread->cpu, c->cpu);
	raw_spin_unlock(&thread->lock);
}

/* The thread stops running; its hint is still there. */
static void leave(struct gchint_cpu *c, struct gchint_policy *policy, u64 now)
{
	struct gchint_thread *thread = c->thread;

	gchint_look_settle(c, policy, now);
	raw_spin_lock(&thread->lock);
	thread->room->plan = c->plan;
	if (thread->room == &c->spare)
		pack(thread);
	WRITE_ONCE(thread->cpu, -1);
	raw_spin_unlock(&thread->lock);
	if (policy)
		gchint_policy_phase(policy, c, GCHINT_PHASE_NONE, now);
}

/* No thread counts here any more. */
static void drop(struct gchint_cpu *c, struct gchint_policy *policy, u64 now)
{
	if (!c->held)
		leave(c, policy, now);
	c->held = false;
	WRITE_ONCE(c->thread, NULL);
	clear_hint(c);
}

static void enter(struct gchint_cpu *c, struct gchint_policy *policy,
		  struct gchint_thread *thread, u64 now)
{
	WRITE_ONCE(c->thread, thread);
	/*
	 * Pairs with the barrier in gchint_watch_forget(): either that sees
	 * the thread here, or this sees that it is dead.
	 */
	smp_mb();
	if (READ_ONCE(thread->dead)) {
		WRITE_ONCE(c->thread, NULL);
		c->held = false;
		clear_hint(c);
		return;
	}

	fetch(c, thread);
	c->held = false;
	c->ran_since = now;
	c->khz_since = now;
	c->khz_ms = 0;
	c->who.session = thread->session->id;
	c->who.tgid = thread->session->tgid_nr;
	c->who.tid = thread->tid;
	c->who.slot = thread->slot;
	gchint_look(c, policy, now);
}

static void hold(struct gchint_cpu *c, struct gchint_policy *policy, u64 now)
{
	leave(c, policy, now);
	c->held = true;
	c->held_until = now + HOLD_NS;
	start_release(c, now);
}

static enum hrtimer_restart release(struct hrtimer *timer)
{
	struct gchint_cpu *c = container_of(timer, struct gchint_cpu, release);
	struct gchint_policy *policy;
	bool changed = false;
	u64 now, next = 0;

	/* Its CPU has gone offline meanwhile, and left nothing to do. */
	if (c->cpu != smp_processor_id())
		return HRTIMER_NORESTART;

	policy = lock_policy(c);
	now = gchint_now();
	if (c->held && now < c->held_until) {
		next = c->held_until;
	} else {
		/* Once: what is held back for good is not asked for ever. */
		changed = c->held || (policy && policy->state.held);
		if (c->held)
			drop(c, policy, now);
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
	unlock_policy(c, policy);
	if (!next)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

static void switched(struct gchint_cpu *c, struct gchint_thread *thread,
		     struct task_struct *next)
{
	struct gchint_policy *policy = lock_policy(c);
	u64 now = gchint_now();
	bool parked = c->parked;

	if (!thread && (next->flags & PF_KTHREAD || is_idle_task(next))) {
		if (!c->thread)
			goto unlock;
		if (policy && is_idle_task(next))
			start_park(c, policy, now);
		if (!policy || c->hint.class == GCHINT_CLASS_NEUTRAL)
			drop(c, policy, now);
		else if (!c->held)
			hold(c, policy, now);
		goto unlock;
	}
	c->park_ns = 0;
	c->parked = false;
	if (c->thread && c->thread != thread)
		drop(c, policy, now);
	if (thread)
		enter(c, policy, thread, now);
	c->next = next;
	if (policy && parked)
		gchint_policy_decide(policy, now, thread ? now : 0);
	else if (!decided(c, policy))
		decide(c, policy, now, thread ? now : 0);
	c->next = NULL;
unlock:
	unlock_policy(c, policy);
}

/**
 * gchint_watch_switch - at tracepoint sched_switch
 * @data: unused
 * @preempt: unused
 * @prev: unused
 * @next: who runs from now on
 * @prev_state: unused
 *
 * The run queue is locked. This is what every context switch of the machine
 * pays while a lease exists: a hash, a load, and a look at this CPU's own line.
 */
void gchint_watch_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct gchint_thread *thread = gchint_lease_find(next);
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);

	if (likely(!thread && !c->thread && !c->parked))
		return;
	switched(c, thread, next);
}

/* Who runs here? In hard interrupt context, or irqs off. */
static void show(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_thread *thread = gchint_lease_find(current);

	if (thread != c->thread)
		switched(c, thread, current);
}

/* Nobody counts here: the switch probe is gone. */
static void hide(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy;
	u64 now;

	if (!c->thread && !c->parked && !c->park_ns)
		return;
	policy = lock_policy(c);
	now = gchint_now();
	c->park_ns = 0;
	c->parked = false;
	if (c->thread)
		drop(c, policy, now);
	decide(c, policy, now, 0);
	unlock_policy(c, policy);
}

static bool counts(int cpu, void *info)
{
	return READ_ONCE(per_cpu(gchint_cpus.thread, cpu)) == info;
}

static void forget(void *info)
{
	if (this_cpu_read(gchint_cpus.thread) == info)
		hide(NULL);
}

/**
 * gchint_watch_forget - no CPU may go on with a thread
 * @thread: out of the hash, and @dead
 *
 * Irqs on. When it returns only readers under RCU are left.
 */
void gchint_watch_forget(struct gchint_thread *thread)
{
	unsigned long flags;

	/* Pairs with the barrier in enter(). */
	smp_mb();
	on_each_cpu_cond_mask(counts, forget, thread, true, cpu_online_mask);
	/* Who has the lock now has not seen that it is dead; let them finish. */
	raw_spin_lock_irqsave(&thread->lock, flags);
	if (thread->out)
		pack(thread);
	raw_spin_unlock_irqrestore(&thread->lock, flags);
}

/**
 * gchint_watch_notice - a thread has got a lease and may be running
 * @task: the thread
 *
 * It is in the hash: from its next switch on it is seen anyway.
 */
void gchint_watch_notice(struct task_struct *task)
{
	if (READ_ONCE(watching))
		smp_call_function_single(task_cpu(task), show, NULL, true);
}

/* -- Doorbells -- */

/* @hint_ns is when the doorbell was rung, 0 if none was. */
static __always_inline void look_here(struct gchint_cpu *c, u64 now,
				      u64 hint_ns)
{
	struct gchint_policy *policy = lock_policy(c);

	gchint_look(c, policy, now);
	if (!decided(c, policy))
		decide(c, policy, now, hint_ns);
	unlock_policy(c, policy);
}

static void poked(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);

	/* Whoever finds it 1 after this is served by what follows. */
	atomic_set_release(&c->poked, 0);
	look_here(c, gchint_now(), atomic64_xchg(&c->rung, 0));
}

static void poke(unsigned int cpu, u64 hint_ns)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

	if (hint_ns)
		atomic64_cmpxchg(&c->rung, 0, hint_ns);
	if (atomic_xchg(&c->poked, 1))
		return;
	if (smp_call_function_single_async(cpu, &c->poke))
		atomic_set(&c->poked, 0);
}

/**
 * gchint_watch_poke - make a CPU look and decide
 * @cpu: the CPU; nothing happens if it is offline
 *
 * Any context but under a policy's lock; returns before it has happened.
 */
void gchint_watch_poke(unsigned int cpu)
{
	preempt_disable();
	poke(cpu, 0);
	preempt_enable();
}

/* It sleeps: nothing to decide, but somebody may record. */
static void glance(struct gchint_thread *thread)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_track track;
	struct gchint_plan plan;

	raw_spin_lock(&thread->lock);
	if (thread->dead || thread->cpu >= 0)
		goto unlock;
	if (thread->out) {
		gchint_look_observe(c, thread, &thread->room->track,
				    gchint_now());
		goto unlock;
	}
	gchint_stow_out(&thread->stow, &track, &plan);
	gchint_look_observe(c, thread, &track, gchint_now());
	gchint_stow_in(&thread->stow, &track, &plan);
unlock:
	raw_spin_unlock(&thread->lock);
}

/* Of a thread that does not run here. Apart, so that one that does needs no stack. */
static noinline void ring_other(struct gchint_thread *thread)
{
	int cpu = READ_ONCE(thread->cpu);

	if (!READ_ONCE(watching))
		return;
	if (cpu >= 0)
		poke(cpu, gchint_now());
	else if (gchint_event_recording())
		glance(thread);
}

/**
 * gchint_watch_ring - a thread is worth a look
 * @thread: the thread
 * @changed: its role or its leader's slot may have, not only its own slot
 *
 * Irqs off. A doorbell without an edge costs a comparison.
 */
void gchint_watch_ring(struct gchint_thread *thread, bool changed)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	u64 now;

	if (c->thread != thread) {
		ring_other(thread);
	} else if (changed || gchint_look_due(c)) {
		now = gchint_now();
		look_here(c, now, now);
	}
}

/* -- Life -- */

/**
 * gchint_watch_on - the switch probe has been registered
 */
void gchint_watch_on(void)
{
	WRITE_ONCE(watching, true);
	/* Those that run already will not be switched to. */
	on_each_cpu(show, NULL, true);
}

/**
 * gchint_watch_off - the switch probe is gone, and nobody is inside
 */
void gchint_watch_off(void)
{
	WRITE_ONCE(watching, false);
	on_each_cpu(hide, NULL, true);
}

/* Runs on the CPU that goes, when it runs no user space any more. */
static int offline(unsigned int cpu)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
	unsigned long flags;

	local_irq_save(flags);
	hide(NULL);
	local_irq_restore(flags);
	hrtimer_cancel(&c->release);
	return 0;
}

int gchint_watch_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

		c->cpu = cpu;
		raw_spin_lock_init(&c->alone);
		hrtimer_setup(&c->release, release, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
		INIT_CSD(&c->poke, poked, NULL);
	}
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gchint:online",
					NULL, offline);
	if (ret < 0)
		return ret;
	hotplug = ret;
	return 0;
}

/* The switch probe is gone. */
void gchint_watch_exit(void)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(hotplug);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(gchint_cpus.release, cpu));
}
