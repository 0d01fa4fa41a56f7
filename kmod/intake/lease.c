// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease_lock (raw, irqs off) serialises every change of the hash, of the slot
 * tables of all sessions, and of roles. All of these are rare; whoever runs
 * threads looks them up under RCU alone.
 *
 * A lease has four ends: detach, exit of the thread, exec, close. Whoever gets
 * to set gchint_thread.dead is the one that ends it; then no CPU may keep it
 * as its current one (gchint_watch_forget()), then readers may go on for a
 * grace period, then it is freed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "follow/probe.h"
#include "follow/thread.h"
#include "follow/watch.h"
#include "lease.h"
#include "param.h"
#include "user.h"

static DEFINE_RAW_SPINLOCK(lease_lock);
static struct kmem_cache *threads;

static void free_thread(struct rcu_head *rcu)
{
	kmem_cache_free(threads, container_of(rcu, struct gchint_thread, rcu));
}

static struct gchint_thread *taken(struct gchint_session *session,
				   unsigned int slot)
{
	return rcu_dereference_protected(*gchint_session_lease(session, slot),
					 lockdep_is_held(&lease_lock));
}

static bool role_ok(const struct gchint_session *session, u32 role, u32 lead)
{
	if (role == GCHINT_ROLE_FOLLOW)
		return lead < gchint_session_slots(session);
	return role < GCHINT_ROLE_NR && !lead;
}

static void apply_role(struct gchint_thread *thread, u32 role, u32 lead)
{
	bool follows = role == GCHINT_ROLE_FOLLOW;

	lockdep_assert_held(&lease_lock);
	thread->session->followers +=
		follows - (thread->role == GCHINT_ROLE_FOLLOW);
	WRITE_ONCE(thread->role, role);
	WRITE_ONCE(thread->lead, GCHINT_NO_LEAD);
	if (!follows)
		return;
	WRITE_ONCE(thread->lead_serial,
		   *gchint_session_serial(thread->session, lead));
	WRITE_ONCE(thread->lead, lead);
}

/* Returns whether the caller is the one to end the lease. */
static bool unlink(struct gchint_thread *thread)
{
	struct gchint_session *session = thread->session;
	u32 *serial;

	lockdep_assert_held(&lease_lock);
	if (thread->dead)
		return false;
	gchint_thread_remove(thread);
	WRITE_ONCE(thread->dead, true);
	if (thread->role == GCHINT_ROLE_FOLLOW)
		session->followers--;
	RCU_INIT_POINTER(*gchint_session_lease(session, thread->slot), NULL);
	session->bank[thread->slot / GCHINT_SLOTS]->nr_leases--;
	session->nr_leases--;
	/* Who leases the slot next must not get the followers of this one. */
	serial = gchint_session_serial(session, thread->slot);
	WRITE_ONCE(*serial, *serial + 1);
	gchint_user_give_slot(session->user);
	return true;
}

static void release(struct gchint_thread *thread, enum gchint_lease why, bool told)
{
	gchint_watch_forget(thread);
	if (told)
		gchint_thread_tell(thread, why);
	call_rcu(&thread->rcu, free_thread);
	gchint_probe_relax();
}

/*
 * Whoever holds many users' names must not keep out those who have the right to
 * raise: the last quarter is theirs.
 */
static bool machine_full(const struct gchint_session *session)
{
	unsigned int max = gchint_param_leases;

	if (!(session->granted & GCHINT_GRANT_RAISE))
		max -= max / 4;
	return gchint_thread_count() >= max;
}

/* The lowest that is free. Irqs are off: not a look at each. */
static int free_slot(const struct gchint_session *session)
{
	unsigned int nr = gchint_session_slots(session) / GCHINT_SLOTS, n, i;

	lockdep_assert_held(&lease_lock);
	for (n = 0; n < nr; n++) {
		if (session->bank[n]->nr_leases == GCHINT_SLOTS)
			continue;
		for (i = 0; i < GCHINT_SLOTS; i++)
			if (!rcu_access_pointer(session->bank[n]->leases[i]))
				return n * GCHINT_SLOTS + i;
	}
	return -ENOSPC;
}

static int link(struct gchint_session *session, struct gchint_thread *thread,
		struct gchint_attach *attach)
{
	int slot;

	lockdep_assert_held(&lease_lock);
	if (gchint_thread_find(thread->task))
		return -EBUSY;
	if (machine_full(session))
		return -EUSERS;
	slot = free_slot(session);
	if (slot < 0)
		return slot;
	if (attach->role == GCHINT_ROLE_FOLLOW && !taken(session, attach->lead))
		return -ENOENT;

	thread->slot = slot;
	thread->own = gchint_session_slot(session, slot);
	memset(thread->own, 0, sizeof(*thread->own));
	apply_role(thread, attach->role, attach->lead);
	gchint_thread_add(thread);
	rcu_assign_pointer(*gchint_session_lease(session, slot), thread);
	session->bank[slot / GCHINT_SLOTS]->nr_leases++;
	session->nr_leases++;
	/*
	 * Pairs with the barrier in gchint_lease_gone(): either this sees that
	 * the thread is exiting, or its exit sees the lease.
	 */
	smp_mb();
	if (READ_ONCE(thread->task->flags) & PF_EXITING) {
		unlink(thread);
		return -EOWNERDEAD;
	}
	attach->slot = slot;
	attach->granted = session->granted;
	return 0;
}

/* A thread of the caller's process, with a reference. */
static struct task_struct *find_task(s32 tid)
{
	struct task_struct *task;

	if (!tid)
		return get_task_struct(current);
	if (tid < 0)
		return NULL;
	rcu_read_lock();
	task = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (task && same_thread_group(task, current))
		get_task_struct(task);
	else
		task = NULL;
	rcu_read_unlock();
	return task;
}

/**
 * gchint_lease_attach - lease a slot to a thread of the calling process
 * @session: the session
 * @attach: what user space asked for; @slot and @granted are filled in
 *
 * The caller tells of it with gchint_thread_tell() once user space knows.
 *
 * Return: 0 or an errno of struct gchint_attach.
 */
int gchint_lease_attach(struct gchint_session *session,
			struct gchint_attach *attach)
{
	struct gchint_thread *thread;
	struct task_struct *task;
	unsigned long flags;
	int ret;

	if (attach->flags || !role_ok(session, attach->role, attach->lead))
		return -EINVAL;

	/* Before there is a lease its thread's end must be listened to. */
	ret = gchint_probe_need();
	if (ret)
		return ret;
	task = find_task(attach->tid);
	if (!task)
		return -ESRCH;
	ret = gchint_user_take_slot(session->user);
	if (ret)
		goto put_task;
	thread = kmem_cache_zalloc(threads, GFP_KERNEL);
	if (!thread) {
		ret = -ENOMEM;
		goto give_slot;
	}
	raw_spin_lock_init(&thread->lock);
	thread->task = task;
	thread->session = session;
	thread->tid = task_pid_nr(task);
	thread->cpu = -1;
	thread->lead = GCHINT_NO_LEAD;

	raw_spin_lock_irqsave(&lease_lock, flags);
	ret = link(session, thread, attach);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (ret == -EOWNERDEAD) {
		/* It was linked for a moment and has given its slot back. */
		release(thread, GCHINT_LEASE_EXIT, false);
		ret = -ESRCH;
		goto put_task;
	}
	if (ret) {
		if (ret == -EUSERS)
			pr_notice_ratelimited("the machine holds %u leases, leases=%u allows no more\n",
					      gchint_thread_count(),
					      gchint_param_leases);
		kmem_cache_free(threads, thread);
		goto give_slot;
	}
	/* From here on its exit may free it at any time. */

	ret = gchint_probe_need();
	if (ret)
		gchint_lease_unattach(session, attach->slot);
	else
		gchint_watch_notice(task);
	put_task_struct(task);
	return ret;

give_slot:
	gchint_user_give_slot(session->user);
put_task:
	put_task_struct(task);
	return ret;
}

static int end_slot(struct gchint_session *session, unsigned int slot,
		    bool told)
{
	struct gchint_thread *thread;
	unsigned long flags;
	bool ours;

	if (slot >= gchint_session_slots(session))
		return -EINVAL;

	raw_spin_lock_irqsave(&lease_lock, flags);
	thread = taken(session, slot);
	ours = thread && unlink(thread);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (!ours)
		return -ENOENT;
	release(thread, GCHINT_LEASE_DETACH, told);
	return 0;
}

/**
 * gchint_lease_tell - tell those who watch what became of a slot's lease
 * @session: the session
 * @slot: its number
 * @what: enum gchint_lease
 */
void gchint_lease_tell(struct gchint_session *session, unsigned int slot,
		       enum gchint_lease what)
{
	struct gchint_thread *thread;

	rcu_read_lock();
	thread = rcu_dereference(*gchint_session_lease(session, slot));
	if (thread)
		gchint_thread_tell(thread, what);
	rcu_read_unlock();
}

/**
 * gchint_lease_detach - free a slot
 * @session: the session
 * @slot: its number
 *
 * Return: 0; -EINVAL, no such number; -ENOENT, it is free.
 */
int gchint_lease_detach(struct gchint_session *session, unsigned int slot)
{
	return end_slot(session, slot, true);
}

/**
 * gchint_lease_unattach - take an attach back that user space never learned of
 * @session: the session
 * @slot: its number
 */
void gchint_lease_unattach(struct gchint_session *session, unsigned int slot)
{
	end_slot(session, slot, false);
}

/**
 * gchint_lease_set_role - change the role of a slot's thread
 * @session: the session
 * @role: what user space asked for
 *
 * Return: 0; -EINVAL, no such slot, role or flag; -ENOENT, a slot is free.
 */
int gchint_lease_set_role(struct gchint_session *session,
			  const struct gchint_set_role *role)
{
	struct gchint_thread *thread;
	unsigned long flags;
	int ret = 0;

	if (role->flags || role->slot >= gchint_session_slots(session) ||
	    !role_ok(session, role->role, role->lead))
		return -EINVAL;
	if (role->role == GCHINT_ROLE_FOLLOW && role->lead == role->slot)
		return -EINVAL;

	/* What is told and rung below must not be freed meanwhile. */
	rcu_read_lock();
	raw_spin_lock_irqsave(&lease_lock, flags);
	thread = taken(session, role->slot);
	if (!thread || (role->role == GCHINT_ROLE_FOLLOW &&
			!taken(session, role->lead)))
		ret = -ENOENT;
	else
		apply_role(thread, role->role, role->lead);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (!ret) {
		gchint_thread_tell(thread, GCHINT_LEASE_ROLE);
		local_irq_save(flags);
		gchint_watch_ring(thread, true);
		local_irq_restore(flags);
	}
	rcu_read_unlock();
	return ret;
}

/* Irqs are off for one of them at a time: there may be many. */
static void ring_followers(struct gchint_session *session, unsigned int slot)
{
	struct gchint_thread *thread;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < gchint_session_slots(session); i++) {
		thread = rcu_dereference(*gchint_session_lease(session, i));
		if (!thread || gchint_thread_lead(thread) != slot)
			continue;
		local_irq_disable();
		gchint_watch_ring(thread, true);
		local_irq_enable();
	}
	rcu_read_unlock();
}

/**
 * gchint_lease_ring - user space says: look at this slot now
 * @session: the session
 * @slot: its number, below gchint_session_slots()
 *
 * Irqs on.
 *
 * Return: 0; -ENOENT, it is free.
 */
int gchint_lease_ring(struct gchint_session *session, unsigned int slot)
{
	struct gchint_thread *thread;

	/* That is a reader's section of RCU, too. */
	local_irq_disable();
	thread = rcu_dereference_sched(*gchint_session_lease(session, slot));
	if (!thread) {
		local_irq_enable();
		return -ENOENT;
	}
	gchint_watch_ring(thread, false);
	local_irq_enable();
	if (READ_ONCE(session->followers))
		ring_followers(session, slot);
	return 0;
}

/**
 * gchint_lease_close - end all leases of a session that is being closed
 * @session: the session
 */
void gchint_lease_close(struct gchint_session *session)
{
	struct gchint_thread *thread;
	unsigned long flags;
	unsigned int slot;
	bool ours;

	for (slot = 0; slot < gchint_session_slots(session); slot++) {
		raw_spin_lock_irqsave(&lease_lock, flags);
		thread = taken(session, slot);
		ours = thread && unlink(thread);
		raw_spin_unlock_irqrestore(&lease_lock, flags);
		if (ours)
			release(thread, GCHINT_LEASE_CLOSE, true);
	}
}

/**
 * gchint_lease_gone - a thread exits or becomes another program
 * @task: the thread, the current one
 * @why: GCHINT_LEASE_EXIT or GCHINT_LEASE_EXEC
 *
 * Called from tracepoints, for every thread of the system: preemption may be
 * off, interrupts are on.
 */
void gchint_lease_gone(struct task_struct *task, enum gchint_lease why)
{
	struct gchint_thread *thread;
	unsigned long flags;
	bool ours;

	/* Pairs with the barrier in link(): PF_EXITING is set by now. */
	smp_mb();
	rcu_read_lock();
	thread = gchint_thread_find(task);
	if (!thread)
		goto unlock;
	raw_spin_lock_irqsave(&lease_lock, flags);
	ours = unlink(thread);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (ours)
		release(thread, why, true);
unlock:
	rcu_read_unlock();
}

int gchint_lease_init(void)
{
	int ret = gchint_thread_init(gchint_param_leases);

	if (ret)
		return ret;
	threads = KMEM_CACHE(gchint_thread, SLAB_ACCOUNT);
	if (!threads) {
		gchint_thread_exit();
		return -ENOMEM;
	}
	return 0;
}

void gchint_lease_exit(void)
{
	/* free_thread() is ours and must have run. */
	rcu_barrier();
	kmem_cache_destroy(threads);
	gchint_thread_exit();
}
