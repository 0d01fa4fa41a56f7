// SPDX-License-Identifier: GPL-2.0-only
/*
 * What leased threads say, made into clamps and affinities in process context: at
 * attach, at a change of role, at doorbells, and now and then while a phase lasts,
 * which may go stale or end without a doorbell. Nothing here runs while no policy
 * is under an actuator that asks threads. Both are inherited by the children of a
 * thread: from those they are taken away as soon as they are seen.
 *
 * steer_lock	(mutex) serialises all that is done to threads. Sleeps: the
 *		scheduler's call takes the CPU hotplug lock.
 * ends_lock	(raw, irqs off) guards steered.thread and the lists, for leases
 *		end in contexts that may not sleep.
 */
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include "act/affinity.h"
#include "act/clamp.h"
#include "act/wish.h"
#include "clock.h"
#include "compat/util.h"
#include "follow/probe.h"
#include "follow/thread.h"
#include "param.h"
#include "policy/bucket.h"
#include "steer.h"

#define STEER_BITS 6
/* How often phases are looked at, at least; a quarter of their TTL otherwise. */
#define AGAIN_MS 1000u
/* Without privilege a thread is clamped once in so long, in the long run. */
#define METER_NS (10 * (u64)NSEC_PER_MSEC)

/**
 * struct steered - a thread that is, was or may be clamped or bound
 * @node: in the hash, by @task
 * @gone: in the list of those whose lease is over, and of children
 * @task: counted
 * @thread: its lease; NULL when that is over
 * @state: of the slot, when it was last seen to move
 * @moved_ns: and when that was
 * @rates: how fast it works, on each kind of CPU
 * @phase: enum gchint_phase; one that counts, not a role, may go stale
 * @clamped: what was done to its utilisation
 * @bound: and to its CPUs
 * @asked: what was asked for last
 * @puts: how often that became less, for those who hold no privilege
 */
struct steered {
	struct hlist_node node;
	struct list_head gone;
	struct task_struct *task;
	struct gchint_thread *thread;
	u32 state;
	u64 moved_ns;
	struct gchint_rates rates;
	u8 phase;
	struct gchint_clamped clamped;
	struct gchint_bound bound;
	struct gchint_place asked;
	struct gchint_bucket puts;
};

static DEFINE_MUTEX(steer_lock);
static DEFINE_RAW_SPINLOCK(ends_lock);
static DEFINE_HASHTABLE(threads, STEER_BITS);
static LIST_HEAD(gone);
/* So that who has nothing to do here sees it at once. */
static atomic_t nr_steered;
static gchint_steer_walk each_session;

static bool idle(void)
{
	return !gchint_wish_count() && !atomic_read(&nr_steered);
}

static struct steered *find(const struct task_struct *task)
{
	struct steered *s;

	hash_for_each_possible(threads, s, node, (unsigned long)task)
		if (s->task == task)
			return s;
	return NULL;
}

/* -- What a thread says -- */

/* Of the figures what the slot holds now. */
static void read_slot(struct steered *s, struct gchint_thread *thread,
		      struct gchint_hint *hint, u32 least, u64 now)
{
	u64 ttl = READ_ONCE(gchint_param_hint_ttl_ms) * (u64)NSEC_PER_MSEC;
	struct gchint_snapshot snapshot;
	struct gchint_slot *slot;
	bool lead;

	slot = gchint_thread_slot(thread, &lead);
	gchint_snapshot_take(&snapshot, slot, now);
	if (snapshot.state != s->state || !s->moved_ns) {
		s->state = snapshot.state;
		s->moved_ns = now;
	}
	if (snapshot.details)
		gchint_place_look(&s->rates, snapshot.phase, snapshot.work_done,
				  gchint_util_capacity(task_cpu(s->task)),
				  least, now);
	s->phase = snapshot.phase;
	hint->may_raise = thread->session->granted & GCHINT_GRANT_RAISE;
	if (!s->phase || gchint_elapsed(now, s->moved_ns) > ttl) {
		gchint_phase_role(hint, READ_ONCE(thread->role));
		return;
	}
	hint->phase = snapshot.phase;
	hint->flags = snapshot.flags;
	hint->class = gchint_phase_class(snapshot.phase, snapshot.flags);
	if (snapshot.ignored & BIT(GCHINT_IGNORED_STALL_PAST))
		hint->overdue = true;
	hint->stall_ns = snapshot.stall_ns;
	if (snapshot.work_total > snapshot.work_done)
		hint->work_left = snapshot.work_total - snapshot.work_done;
}

/* Returns whether its lease goes on. */
static bool listen(struct steered *s, struct gchint_hint *hint, u64 now)
{
	u32 least = gchint_util_least();
	struct gchint_thread *thread;
	unsigned long flags;

	/* Who ends the lease waits here; the slot's session outlives it. */
	raw_spin_lock_irqsave(&ends_lock, flags);
	thread = s->thread;
	if (thread)
		read_slot(s, thread, hint, least, now);
	raw_spin_unlock_irqrestore(&ends_lock, flags);
	return thread;
}

/* -- What is done to it -- */

static bool less(const struct gchint_place *place,
		 const struct gchint_place *before)
{
	return place->max < before->max ||
	       (place->where && place->where != before->where);
}

static void steer(struct steered *s)
{
	struct gchint_hint hint = { };
	struct gchint_place place;
	u64 now = gchint_now();
	unsigned int cpu;

	lockdep_assert_held(&steer_lock);
	if (!listen(s, &hint, now))
		return;
	/* Whom a policy sent elsewhere, that policy has the say over. */
	cpu = s->bound.held ? s->bound.cpu : task_cpu(s->task);
	gchint_wish_find(&place, cpu, &hint, &s->rates, now);
	/* To be let go is free; what is left undone is done later, if it lasts. */
	if (less(&place, &s->asked) && !hint.may_raise) {
		if (gchint_bucket_spent(&s->puts, METER_NS, now))
			return;
		gchint_bucket_take(&s->puts, METER_NS, now);
	}
	s->asked = place;
	gchint_clamp_put(s->task, &s->clamped, &place);
	gchint_affinity_put(s->task, &s->bound, place.where, cpu);
}

static void let_go(struct steered *s)
{
	lockdep_assert_held(&steer_lock);
	if (!(s->task->flags & PF_EXITING)) {
		gchint_clamp_back(s->task, &s->clamped);
		gchint_affinity_back(s->task, &s->bound);
	}
	put_task_struct(s->task);
	atomic_dec(&nr_steered);
	kfree(s);
}

static void let_all_go(void)
{
	struct steered *s;
	unsigned long flags;

	for (;;) {
		raw_spin_lock_irqsave(&ends_lock, flags);
		s = list_first_entry_or_null(&gone, struct steered, gone);
		if (s)
			list_del(&s->gone);
		raw_spin_unlock_irqrestore(&ends_lock, flags);
		if (!s)
			return;
		let_go(s);
	}
}

static void retire(struct steered *s)
{
	lockdep_assert_held(&ends_lock);
	s->thread = NULL;
	hash_del(&s->node);
	list_add_tail(&s->gone, &gone);
}

/* The steered thread of a slot, made if there is none yet. */
static struct steered *meet(struct gchint_session *session, unsigned int slot)
{
	struct steered *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *s = NULL;
	struct gchint_thread *thread;
	unsigned long flags;

	lockdep_assert_held(&steer_lock);
	raw_spin_lock_irqsave(&ends_lock, flags);
	/* That is a reader's section of RCU, too: the thread's task is there. */
	thread = rcu_dereference_sched(*gchint_session_lease(session, slot));
	/*
	 * Whoever ends the lease sets dead before it looks for us: either it
	 * will find this, or this sees that it is over.
	 */
	if (!thread || READ_ONCE(thread->dead))
		goto unlock;
	s = find(thread->task);
	if (s || !new)
		goto unlock;
	s = new;
	new = NULL;
	s->task = get_task_struct(thread->task);
	s->thread = thread;
	s->asked.max = GCHINT_ONE;
	hash_add(threads, &s->node, (unsigned long)s->task);
	atomic_inc(&nr_steered);
unlock:
	raw_spin_unlock_irqrestore(&ends_lock, flags);
	kfree(new);
	return s;
}

static void steer_slot(struct gchint_session *session, unsigned int slot)
{
	struct steered *s = meet(session, slot);

	/* If its lease ends now it is retired, but not freed: that is for us. */
	if (s)
		steer(s);
	let_all_go();
}

static int steer_session(struct gchint_session *session, void *priv)
{
	unsigned int slot;

	for (slot = 0; slot < gchint_session_slots(session); slot++)
		if (rcu_access_pointer(*gchint_session_lease(session, slot)))
			steer_slot(session, slot);
	return 0;
}

/* -- Now and then -- */

static void again(struct work_struct *work);
static DECLARE_DELAYED_WORK(again_work, again);

/* Stays as it is if it is queued already. */
static void queue_again(void)
{
	unsigned int ms = READ_ONCE(gchint_param_hint_ttl_ms) / 4;

	queue_delayed_work(system_unbound_wq, &again_work,
			   msecs_to_jiffies(min(ms, AGAIN_MS)) + 1);
}

static void all_anew(void)
{
	struct hlist_node *next;
	bool phases = false;
	unsigned long flags;
	struct steered *s;
	int i;

	lockdep_assert_held(&steer_lock);
	/* New ones come with our lock held only, and nobody else frees one. */
	hash_for_each_safe(threads, i, next, s, node) {
		steer(s);
		phases |= s->phase != GCHINT_PHASE_NONE;
	}
	if (!gchint_wish_count()) {
		raw_spin_lock_irqsave(&ends_lock, flags);
		hash_for_each_safe(threads, i, next, s, node)
			retire(s);
		raw_spin_unlock_irqrestore(&ends_lock, flags);
	}
	let_all_go();
	if (phases)
		queue_again();
}

static void again(struct work_struct *work)
{
	mutex_lock(&steer_lock);
	all_anew();
	mutex_unlock(&steer_lock);
}

static void change(struct work_struct *work)
{
	mutex_lock(&steer_lock);
	if (gchint_wish_count())
		each_session(steer_session, NULL);
	all_anew();
	mutex_unlock(&steer_lock);
}

static DECLARE_WORK(change_work, change);

/**
 * gchint_steer_changed - actuators or tunables are others now
 *
 * Any context that may queue work.
 */
void gchint_steer_changed(void)
{
	if (!idle())
		queue_work(system_unbound_wq, &change_work);
}

/**
 * gchint_steer_flush - wait until what ended or changed is put back
 *
 * May sleep; without locks.
 */
void gchint_steer_flush(void)
{
	if (!atomic_read(&nr_steered) && !work_pending(&change_work))
		return;
	flush_work(&change_work);
	mutex_lock(&steer_lock);
	let_all_go();
	mutex_unlock(&steer_lock);
}

/* -- What a lease's life brings -- */

/**
 * gchint_steer_ring - a thread has got a lease or another role, or says something else
 * @session: its session
 * @slot: its slot
 *
 * May sleep.
 */
void gchint_steer_ring(struct gchint_session *session, unsigned int slot)
{
	if (!gchint_wish_count())
		return;
	mutex_lock(&steer_lock);
	steer_slot(session, slot);
	mutex_unlock(&steer_lock);
	queue_again();
}

/**
 * gchint_steer_followers - a leader says something else
 * @session: its session
 * @slot: its slot
 *
 * May sleep.
 */
void gchint_steer_followers(struct gchint_session *session, unsigned int slot)
{
	struct gchint_thread *thread;
	unsigned int i;
	bool follows;

	if (!gchint_wish_count())
		return;
	mutex_lock(&steer_lock);
	for (i = 0; i < gchint_session_slots(session); i++) {
		rcu_read_lock();
		thread = rcu_dereference(*gchint_session_lease(session, i));
		follows = thread && gchint_thread_lead(thread) == slot;
		rcu_read_unlock();
		if (follows)
			steer_slot(session, i);
	}
	mutex_unlock(&steer_lock);
}

/**
 * gchint_steer_end - a lease is over
 * @thread: dead
 *
 * Any context; it is put back a little later, or by gchint_steer_flush().
 */
void gchint_steer_end(struct gchint_thread *thread)
{
	unsigned long flags;
	struct steered *s;

	if (!atomic_read(&nr_steered))
		return;
	raw_spin_lock_irqsave(&ends_lock, flags);
	s = find(thread->task);
	if (s)
		retire(s);
	raw_spin_unlock_irqrestore(&ends_lock, flags);
	if (s)
		queue_work(system_unbound_wq, &change_work);
}

static bool changed(const struct steered *s)
{
	return s->clamped.held[0] || s->clamped.held[1] || s->bound.held;
}

/* A child has its parent's clamps and CPUs, but not its lease. */
static void at_fork(void *data, struct task_struct *parent,
		    struct task_struct *child)
{
	struct steered *s, *new;
	unsigned long flags;

	if (!atomic_read(&nr_steered))
		return;
	raw_spin_lock_irqsave(&ends_lock, flags);
	s = find(parent);
	new = s && changed(s) ?
		kmemdup(s, sizeof(*s), GFP_ATOMIC | __GFP_NOWARN) : NULL;
	if (new) {
		new->task = get_task_struct(child);
		new->thread = NULL;
		list_add_tail(&new->gone, &gone);
		atomic_inc(&nr_steered);
	}
	raw_spin_unlock_irqrestore(&ends_lock, flags);
	if (new)
		queue_work(system_unbound_wq, &change_work);
}

static bool wanted(void)
{
	return gchint_wish_count() && gchint_thread_count();
}

static struct gchint_probe fork_probe = {
	.name = "sched_process_fork",
	.func = at_fork,
	.wanted = wanted,
};

/**
 * gchint_steer_init - before the first lease
 * @each: calls a function for each session, with what is passed through
 *
 * Return: 0 or a negative errno.
 */
int gchint_steer_init(gchint_steer_walk each)
{
	each_session = each;
	check_trace_callback_type_sched_process_fork(at_fork);
	return gchint_probe_add(&fork_probe);
}

/* No lease is left, and no policy. */
void gchint_steer_exit(void)
{
	cancel_delayed_work_sync(&again_work);
	cancel_work_sync(&change_work);
	mutex_lock(&steer_lock);
	let_all_go();
	mutex_unlock(&steer_lock);
}
