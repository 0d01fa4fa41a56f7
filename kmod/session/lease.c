// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease_lock (raw, irqs off) serialises every change of the hash, of all slot
 * tables and of roles. Code that follows threads only looks them up under RCU.
 *
 * A lease ends at detach, exit of the thread, exec, or close. The caller that
 * sets gchint_thread.dead is the one that ends it. Then every CPU drops the
 * thread (gchint_watch_forget()), and it is freed after an RCU grace period.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "lease.h"
#include "param.h"
#include "task/probe.h"
#include "task/thread.h"
#include "task/watch.h"
#include "user.h"

static DEFINE_RAW_SPINLOCK(lease_lock);
static struct kmem_cache *thread_cache;

static void thread_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(thread_cache,
			container_of(rcu, struct gchint_thread, rcu));
}

/*
 * User space chooses the number of a slot. No access may use it before it is
 * checked, not even a speculative one. Returns whether there is such a slot.
 */
static bool slot_check(const struct gchint_session *session, unsigned long *slot)
{
	unsigned long nr = gchint_session_slots(session);

	if (*slot >= nr)
		return false;
	*slot = array_index_nospec(*slot, nr);
	return true;
}

static struct gchint_thread *slot_thread(struct gchint_session *session,
					 unsigned int slot)
{
	return rcu_dereference_protected(*gchint_session_lease(session, slot),
					 lockdep_is_held(&lease_lock));
}

static bool role_check(const struct gchint_session *session, u32 role, u32 *lead)
{
	unsigned long slot = *lead;

	if (role != GCHINT_ROLE_FOLLOW)
		return role < GCHINT_ROLE_NR && !*lead;
	if (!slot_check(session, &slot))
		return false;
	*lead = slot;
	return true;
}

static void thread_set_role(struct gchint_thread *thread, u32 role, u32 lead)
{
	bool follows = role == GCHINT_ROLE_FOLLOW;

	lockdep_assert_held(&lease_lock);
	/* A doorbell reads it without the lock. */
	WRITE_ONCE(thread->session->followers,
		   thread->session->followers + follows -
			   (thread->role == GCHINT_ROLE_FOLLOW));
	WRITE_ONCE(thread->role, role);
	WRITE_ONCE(thread->lead, GCHINT_NO_LEAD);
	if (!follows)
		return;
	WRITE_ONCE(thread->lead_serial,
		   *gchint_session_serial(thread->session, lead));
	WRITE_ONCE(thread->lead, lead);
}

/* Returns whether the caller is the one that ends the lease. */
static bool thread_unlink(struct gchint_thread *thread)
{
	struct gchint_session *session = thread->session;
	u32 *serial;

	lockdep_assert_held(&lease_lock);
	if (thread->dead)
		return false;
	gchint_thread_remove(thread);
	WRITE_ONCE(thread->dead, true);
	if (thread->role == GCHINT_ROLE_FOLLOW)
		WRITE_ONCE(session->followers, session->followers - 1);
	RCU_INIT_POINTER(*gchint_session_lease(session, thread->slot), NULL);
	session->blocks[thread->slot / GCHINT_SLOTS]->nr_leases--;
	session->nr_leases--;
	/* The next lease of the slot must not get the followers of this one. */
	serial = gchint_session_serial(session, thread->slot);
	WRITE_ONCE(*serial, *serial + 1);
	gchint_user_uncharge_slot(session->user);
	return true;
}

static void thread_release(struct gchint_thread *thread,
			   enum gchint_lease end, bool report)
{
	gchint_watch_forget(thread);
	if (report)
		gchint_thread_report(thread, end);
	call_rcu(&thread->rcu, thread_free_rcu);
	gchint_probe_queue_unregister();
}

/*
 * The last quarter is reserved for sessions that may raise frequencies, so that
 * other users together cannot lock them out.
 */
static bool leases_exhausted(const struct gchint_session *session)
{
	unsigned int max = gchint_param_leases;

	if (!(session->granted & GCHINT_GRANT_RAISE))
		max -= max / 4;
	return gchint_thread_count() >= max;
}

/* The lowest free slot. Skips full blocks, because interrupts are off. */
static int slot_find_free(const struct gchint_session *session)
{
	unsigned int nr = gchint_session_slots(session) / GCHINT_SLOTS, n, i;

	lockdep_assert_held(&lease_lock);
	for (n = 0; n < nr; n++) {
		if (session->blocks[n]->nr_leases == GCHINT_SLOTS)
			continue;
		for (i = 0; i < GCHINT_SLOTS; i++)
			if (!rcu_access_pointer(session->blocks[n]->leases[i]))
				return n * GCHINT_SLOTS + i;
	}
	return -ENOSPC;
}

static int thread_link(struct gchint_thread *thread,
		       struct gchint_session *session,
		       struct gchint_attach *attach)
{
	int slot;

	lockdep_assert_held(&lease_lock);
	if (gchint_thread_find(thread->task))
		return -EBUSY;
	if (leases_exhausted(session))
		return -EUSERS;
	slot = slot_find_free(session);
	if (slot < 0)
		return slot;
	if (attach->role == GCHINT_ROLE_FOLLOW &&
	    !slot_thread(session, attach->lead))
		return -ENOENT;

	thread->slot = slot;
	thread->own = gchint_session_slot(session, slot);
	memset(thread->own, 0, sizeof(*thread->own));
	thread_set_role(thread, attach->role, attach->lead);
	gchint_thread_add(thread);
	rcu_assign_pointer(*gchint_session_lease(session, slot), thread);
	session->blocks[slot / GCHINT_SLOTS]->nr_leases++;
	session->nr_leases++;
	/*
	 * Pairs with the barrier in gchint_lease_end_task(): either this sees that
	 * the thread exits, or its exit sees the lease.
	 */
	smp_mb();
	if (READ_ONCE(thread->task->flags) & PF_EXITING) {
		thread_unlink(thread);
		return -EOWNERDEAD;
	}
	attach->slot = slot;
	attach->granted = session->granted;
	return 0;
}

/* Only finds threads of the calling process; takes a reference. */
static struct task_struct *task_get(s32 tid)
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

/*
 * Leases a slot to a thread of the calling process, and fills in the slot and
 * what is granted. The caller reports it with gchint_lease_report() once user
 * space has the slot. Returns 0 or an errno of struct gchint_attach.
 */
int gchint_lease_attach(struct gchint_session *session,
			struct gchint_attach *attach)
{
	struct gchint_thread *thread;
	struct task_struct *task;
	unsigned long flags;
	int ret;

	if (attach->flags || !role_check(session, attach->role, &attach->lead))
		return -EINVAL;

	/* The exit probe must be registered before there is a lease. */
	ret = gchint_probe_register_wanted();
	if (ret)
		return ret;
	task = task_get(attach->tid);
	if (!task)
		return -ESRCH;
	ret = gchint_user_charge_slot(session->user);
	if (ret)
		goto put_task;
	thread = kmem_cache_zalloc(thread_cache, GFP_KERNEL);
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
	ret = thread_link(thread, session, attach);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (ret == -EOWNERDEAD) {
		/* It was linked for a moment, and its slot is free again. */
		thread_release(thread, GCHINT_LEASE_EXIT, false);
		ret = -ESRCH;
		goto put_task;
	}
	if (ret) {
		if (ret == -EUSERS)
			pr_notice_ratelimited("%u leases in use, and leases=%u allows no more\n",
					      gchint_thread_count(),
					      gchint_param_leases);
		kmem_cache_free(thread_cache, thread);
		goto give_slot;
	}
	/* From here on the exit of its task may free it at any time. */

	ret = gchint_probe_register_wanted();
	if (ret)
		gchint_lease_end(session, attach->slot, GCHINT_LEASE_DETACH, false);
	else
		gchint_watch_add(task);
	goto put_task;

give_slot:
	gchint_user_uncharge_slot(session->user);
put_task:
	put_task_struct(task);
	return ret;
}

/*
 * Without @report, user space did not get to know of the lease. Returns 0; -EINVAL,
 * no such slot; -ENOENT, it is free.
 */
int gchint_lease_end(struct gchint_session *session, unsigned long slot,
		     enum gchint_lease end, bool report)
{
	struct gchint_thread *thread;
	unsigned long flags;
	bool ends;

	if (!slot_check(session, &slot))
		return -EINVAL;

	raw_spin_lock_irqsave(&lease_lock, flags);
	thread = slot_thread(session, slot);
	ends = thread && thread_unlink(thread);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (!ends)
		return -ENOENT;
	thread_release(thread, end, report);
	return 0;
}

/* Emits the event, unless the lease has ended meanwhile. Any context. */
void gchint_lease_report(struct gchint_session *session, unsigned int slot,
			 enum gchint_lease what)
{
	struct gchint_thread *thread;

	rcu_read_lock();
	thread = rcu_dereference(*gchint_session_lease(session, slot));
	if (thread)
		gchint_thread_report(thread, what);
	rcu_read_unlock();
}

/* Returns 0; -EINVAL, no such slot, role or flag; -ENOENT, a slot is free. */
int gchint_lease_set_role(struct gchint_session *session,
			  const struct gchint_set_role *role)
{
	unsigned long slot = role->slot;
	u32 lead = role->lead;
	struct gchint_thread *thread;
	unsigned long flags;
	int ret = 0;

	if (role->flags || !slot_check(session, &slot) ||
	    !role_check(session, role->role, &lead) ||
	    (role->role == GCHINT_ROLE_FOLLOW && lead == slot))
		return -EINVAL;

	/* The thread is used below without lease_lock: it must not be freed. */
	rcu_read_lock();
	raw_spin_lock_irqsave(&lease_lock, flags);
	thread = slot_thread(session, slot);
	if (!thread || (role->role == GCHINT_ROLE_FOLLOW &&
			!slot_thread(session, lead)))
		ret = -ENOENT;
	else
		thread_set_role(thread, role->role, lead);
	raw_spin_unlock_irqrestore(&lease_lock, flags);
	if (!ret) {
		gchint_thread_report(thread, GCHINT_LEASE_ROLE);
		local_irq_save(flags);
		gchint_watch_doorbell(thread, true);
		local_irq_restore(flags);
	}
	rcu_read_unlock();
	return ret;
}

/* Interrupts are off for one follower at a time: there may be many. */
static void slot_ring_followers(struct gchint_session *session,
				unsigned int slot)
{
	struct gchint_thread *thread;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < gchint_session_slots(session); i++) {
		thread = rcu_dereference(*gchint_session_lease(session, i));
		if (!thread || gchint_thread_lead(thread) != slot)
			continue;
		local_irq_disable();
		gchint_watch_doorbell(thread, true);
		local_irq_enable();
	}
	rcu_read_unlock();
}

/* Irqs on. Returns 0; -EINVAL, no such slot; -ENOENT, it is free. */
int gchint_lease_ring(struct gchint_session *session, unsigned long slot)
{
	struct gchint_thread *thread;

	if (!slot_check(session, &slot))
		return -EINVAL;
	/* This is an RCU read-side critical section, too. */
	local_irq_disable();
	thread = rcu_dereference_sched(*gchint_session_lease(session, slot));
	if (!thread) {
		local_irq_enable();
		return -ENOENT;
	}
	gchint_watch_doorbell(thread, false);
	local_irq_enable();
	if (READ_ONCE(session->followers))
		slot_ring_followers(session, slot);
	return 0;
}

/* The session gets no new lease. Irqs on. */
void gchint_lease_close(struct gchint_session *session)
{
	unsigned int slot;

	for (slot = 0; slot < gchint_session_slots(session); slot++)
		gchint_lease_end(session, slot, GCHINT_LEASE_CLOSE, true);
}

/*
 * The current thread exits or executes another program. Called from tracepoints
 * for every thread of the system: interrupts are on, preemption may be off.
 */
void gchint_lease_end_task(struct task_struct *task, enum gchint_lease end)
{
	struct gchint_thread *thread;
	unsigned long flags;
	bool ends;

	/* Pairs with the barrier in thread_link(): PF_EXITING is set by now. */
	smp_mb();
	rcu_read_lock();
	thread = gchint_thread_find(task);
	if (thread) {
		raw_spin_lock_irqsave(&lease_lock, flags);
		ends = thread_unlink(thread);
		raw_spin_unlock_irqrestore(&lease_lock, flags);
		if (ends)
			thread_release(thread, end, true);
	}
	rcu_read_unlock();
}

int gchint_lease_init(void)
{
	int ret = gchint_thread_init(gchint_param_leases);

	if (ret)
		return ret;
	thread_cache = KMEM_CACHE(gchint_thread, SLAB_ACCOUNT);
	if (!thread_cache) {
		gchint_thread_exit();
		return -ENOMEM;
	}
	return 0;
}

void gchint_lease_exit(void)
{
	/* Waits for thread_free_rcu(), which is part of the module. */
	rcu_barrier();
	kmem_cache_destroy(thread_cache);
	gchint_thread_exit();
}
