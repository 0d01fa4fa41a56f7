// SPDX-License-Identifier: GPL-2.0-only
/*
 * A phase counts only while its thread is the one running on a CPU. The
 * scheduler's switch tracepoint says which one that is; it is listened to only
 * while a lease exists and somebody wants to know.
 *
 * gchint_cpu.thread is changed by its own CPU alone, with interrupts off and the
 * policy's lock held: in the switch probe, the release timer, and calls that other
 * CPUs send. Whoever has that lock may look for another CPU, too. Lock order: run
 * queue, policy, thread, session's learn_lock.
 */
#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
/* For trace/events/sched.h, which 6.12 does not let stand alone. */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <trace/events/sched.h>

#include "act/actuator.h"
#include "act/policy.h"
#include "clock.h"
#include "hold.h"
#include "look.h"
#include "probe.h"
#include "seat.h"
#include "tell/event.h"
#include "thread.h"
#include "turn.h"
#include "watch.h"

DEFINE_PER_CPU(struct gchint_seat, gchint_seats);

static bool watching;
static enum cpuhp_state hotplug;

/* -- Who runs -- */

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
		gchint_hold_none(c);
		return;
	}

	/* Whoever read its slot while it slept is done with it from here on. */
	raw_spin_lock(&thread->lock);
	WRITE_ONCE(thread->cpu, c->cpu);
	raw_spin_unlock(&thread->lock);
	c->track = &thread->track;
	c->plan = thread->plan;
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

static void switched(struct gchint_cpu *c, struct gchint_thread *thread,
		     struct task_struct *next)
{
	struct gchint_policy *policy = gchint_seat_lock(c);
	u64 now = gchint_now();
	bool parked = c->parked;

	gchint_turn_note(c, policy, gchint_turn_of(thread, next), now);
	if (!thread && (next->flags & PF_KTHREAD || is_idle_task(next))) {
		if (!c->thread)
			goto unlock;
		if (policy && is_idle_task(next))
			gchint_hold_park(c, policy, now);
		if (!policy || c->hint.class == GCHINT_CLASS_NEUTRAL)
			gchint_hold_end(c, policy, now);
		else if (!c->held)
			gchint_hold_start(c, policy, now);
		goto unlock;
	}
	c->park_ns = 0;
	c->parked = false;
	if (c->thread && c->thread != thread)
		gchint_hold_end(c, policy, now);
	c->unpaid = false;
	if (thread)
		enter(c, policy, thread, now);
	c->next = next;
	if (policy && parked)
		gchint_policy_decide(policy, now, thread ? now : 0);
	else
		gchint_hold_decide(c, policy, now, thread ? now : 0);
	c->next = NULL;
unlock:
	gchint_seat_unlock(c, policy);
}

/*
 * At tracepoint sched_switch, the run queue locked. This is what every context
 * switch of the machine pays while a lease exists: a hash, a load, and a look
 * at this CPU's own line.
 */
static void at_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct gchint_thread *thread = gchint_thread_find(next);
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);

	if (likely(!thread && !c->thread && !c->parked && !c->alert &&
		   !c->minded))
		return;
	/* One program after the other is still a neighbour. */
	if (!thread && !c->thread && !c->alert &&
	    c->neighbour.turn == GCHINT_TURN_PROGRAM &&
	    gchint_turn_of(NULL, next) == GCHINT_TURN_PROGRAM)
		return;
	switched(c, thread, next);
}

/* Nobody saw who runs here come. */
static void note_here(struct gchint_cpu *c)
{
	struct gchint_policy *policy = gchint_seat_lock(c);
	u8 turn = gchint_turn_of(gchint_thread_find(current), current);

	gchint_turn_note(c, policy, turn, gchint_now());
	gchint_seat_unlock(c, policy);
}

/* Who runs here? In hard interrupt context, or irqs off. */
static void show(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_thread *thread = gchint_thread_find(current);

	if (thread != c->thread)
		switched(c, thread, current);
	else
		note_here(c);
}

/* Nobody counts here: the switch probe is gone. */
static void hide(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy;
	u64 now;

	if (!c->thread && !c->parked && !c->park_ns && !c->minded)
		return;
	policy = gchint_seat_lock(c);
	now = gchint_now();
	gchint_turn_note(c, policy, gchint_turn_of(NULL, current), now);
	c->park_ns = 0;
	c->parked = false;
	if (c->thread)
		gchint_hold_end(c, policy, now);
	gchint_hold_decide(c, policy, now, 0);
	gchint_seat_unlock(c, policy);
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

static __always_inline void look_here(struct gchint_cpu *c, u64 now,
				      u64 hint_ns)
{
	struct gchint_policy *policy = gchint_seat_lock(c);

	gchint_hold_heed(c, policy, now, hint_ns);
	gchint_seat_unlock(c, policy);
}

static void poked(void *info)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_seat *seat = this_cpu_ptr(&gchint_seats);

	/* Whoever finds it 1 after this is served by what follows. */
	atomic_set_release(&seat->poked, 0);
	if (c->minded)
		note_here(c);
	look_here(c, gchint_now(), atomic64_xchg(&seat->rung, 0));
}

static void poke(unsigned int cpu, u64 hint_ns)
{
	struct gchint_seat *seat = per_cpu_ptr(&gchint_seats, cpu);

	if (hint_ns)
		atomic64_cmpxchg(&seat->rung, 0, hint_ns);
	if (atomic_xchg(&seat->poked, 1))
		return;
	if (smp_call_function_single_async(cpu, &seat->poke))
		atomic_set(&seat->poked, 0);
}

static void poke_quietly(unsigned int cpu)
{
	preempt_disable();
	poke(cpu, 0);
	preempt_enable();
}

/*
 * A thread that sleeps: nothing to decide, but its phases may be recorded. The
 * policy's lock is for this CPU's scratch memory: another CPU of the policy that
 * decides looks at the thread that runs here, by way of the same memory.
 */
static void thread_record(struct gchint_thread *thread)
{
	struct gchint_cpu *c = this_cpu_ptr(&gchint_cpus);
	struct gchint_policy *policy = gchint_seat_lock(c);

	raw_spin_lock(&thread->lock);
	if (!thread->dead && thread->cpu < 0)
		gchint_look_observe(c, thread, &thread->track, gchint_now());
	raw_spin_unlock(&thread->lock);
	gchint_seat_unlock(c, policy);
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
		thread_record(thread);
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

static bool wanted(void)
{
	return gchint_thread_count() &&
	       (gchint_actuator_count() || gchint_event_recording());
}

/* The switch probe has been registered. */
static void begun(void)
{
	WRITE_ONCE(watching, true);
	/* Those that run already will not be switched to. */
	on_each_cpu(show, NULL, true);
}

/* The switch probe is gone, and nobody is inside. */
static void ended(void)
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
	hrtimer_cancel(&gchint_seat_of(c)->release);
	return 0;
}

static struct gchint_probe at_switch_probe = {
	.name = "sched_switch",
	.func = at_switch,
	.wanted = wanted,
	.begun = begun,
	.ended = ended,
};

static const struct gchint_follower follower = {
	.due = gchint_look_due,
	.look = gchint_look,
	.renew = gchint_look_renew,
	.poke = poke_quietly,
};

int gchint_watch_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		struct gchint_seat *seat = per_cpu_ptr(&gchint_seats, cpu);

		per_cpu(gchint_cpus.cpu, cpu) = cpu;
		raw_spin_lock_init(&seat->alone);
		gchint_hold_init(seat);
		INIT_CSD(&seat->poke, poked, NULL);
	}
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gchint:online",
					NULL, offline);
	if (ret < 0)
		return ret;
	hotplug = ret;
	check_trace_callback_type_sched_switch(at_switch);
	ret = gchint_probe_add(&at_switch_probe);
	if (ret)
		goto remove_state;
	gchint_policy_follow(&follower);
	return 0;

remove_state:
	cpuhp_remove_state_nocalls(hotplug);
	return ret;
}

/* The switch probe is gone. */
void gchint_watch_exit(void)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(hotplug);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(gchint_seats.release, cpu));
}
