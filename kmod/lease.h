/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease: a slot belongs to a thread, until one of its ends is seen. */
#ifndef _GCHINT_LEASE_H
#define _GCHINT_LEASE_H

#include <linux/gchint.h>
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "phase.h"
#include "plan.h"
#include "session.h"

#define GCHINT_LEASE_BITS 10
#define GCHINT_NO_LEAD U8_MAX

/**
 * struct gchint_thread - a thread with a lease
 * @hash: in gchint_lease_hash, by @task
 * @task: not counted: compared only, and out of the hash before it is freed
 * @session: outlives the lease by an RCU grace period
 * @lock: serialises @track and @plan. Taken under the policy's lock if both
 *	are, irqs off.
 * @tid: its number in the initial pid namespace, for those who watch
 * @cpu: where it runs, -1 nowhere; a hint for who wants to poke that CPU
 * @slot: index in the session
 * @role: enum gchint_role; changes under the lease lock, read at any time
 * @lead: slot that it follows, GCHINT_NO_LEAD if that lease is over; likewise
 * @dead: the lease is over. Set under the lease lock. A CPU that makes this
 *	thread its current one looks at it afterwards, see
 *	gchint_watch_forget().
 * @track: what was last seen in the slot
 * @plan: the frequency for it
 * @rcu: CPUs may still look at it
 */
struct gchint_thread {
	struct hlist_node hash;
	struct task_struct *task;
	struct gchint_session *session;
	raw_spinlock_t lock;
	pid_t tid;
	int cpu;
	u8 slot;
	u8 role;
	u8 lead;
	bool dead;
	struct gchint_track track;
	struct gchint_plan plan;
	struct rcu_head rcu;
};

extern struct hlist_head gchint_lease_hash[1 << GCHINT_LEASE_BITS];

/**
 * gchint_lease_find - the lease of a thread
 * @task: any task
 *
 * For a thread without one this is a hash and one load, nearly always: it is
 * what every context switch pays. Under RCU, or with preemption off.
 *
 * Return: the lease or NULL.
 */
static inline struct gchint_thread *
gchint_lease_find(const struct task_struct *task)
{
	struct gchint_thread *thread;
	struct hlist_head *head;

	head = &gchint_lease_hash[hash_ptr((void *)task, GCHINT_LEASE_BITS)];
	hlist_for_each_entry_rcu(thread, head, hash)
		if (thread->task == task)
			return thread;
	return NULL;
}

/**
 * gchint_lease_slot - the slot by which a thread counts
 * @thread: the thread
 * @lead: out: it is the leader's
 *
 * Under RCU. A follower counts by its own slot while that says something.
 *
 * Return: a slot of the thread's session.
 */
static inline struct gchint_slot *
gchint_lease_slot(const struct gchint_thread *thread, bool *lead)
{
	struct gchint_slot *slots = thread->session->slots;
	struct gchint_slot *own = &slots[thread->slot];
	u8 leader = READ_ONCE(thread->lead);

	*lead = READ_ONCE(thread->role) == GCHINT_ROLE_FOLLOW &&
		leader != GCHINT_NO_LEAD &&
		!(READ_ONCE(own->state) & (0xffu << GCHINT_STATE_PHASE_SHIFT));
	return *lead ? &slots[leader] : own;
}

int gchint_lease_init(void);
void gchint_lease_exit(void);
unsigned int gchint_lease_count(void);

int gchint_lease_attach(struct gchint_session *session,
			struct gchint_attach *attach);
int gchint_lease_detach(struct gchint_session *session, unsigned int slot);
void gchint_lease_unattach(struct gchint_session *session, unsigned int slot);
int gchint_lease_set_role(struct gchint_session *session,
			  const struct gchint_set_role *role);
void gchint_lease_tell(struct gchint_session *session, unsigned int slot,
		       enum gchint_lease what);
int gchint_lease_ring(struct gchint_session *session, unsigned int slot);
void gchint_lease_close(struct gchint_session *session);
void gchint_lease_gone(struct task_struct *task, enum gchint_lease why);

#endif /* _GCHINT_LEASE_H */
