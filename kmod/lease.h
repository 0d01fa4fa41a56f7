/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease: a slot belongs to a thread, until one of its ends is seen. */
#ifndef _GCHINT_LEASE_H
#define _GCHINT_LEASE_H

#include <linux/gchint.h>
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "session.h"
#include "stow.h"

struct gchint_room;

#define GCHINT_LEASE_BITS 10
#define GCHINT_NO_LEAD U8_MAX

/* Of gchint_thread.seen: a phase that went stale. */
#define GCHINT_SEEN_STALE 0xf0

/**
 * struct gchint_thread - a thread with a lease
 * @next: in the same chain of gchint_lease_hash, under RCU
 * @task: not counted: compared only, and out of the hash before it is freed
 * @session: outlives the lease by an RCU grace period
 * @lock: serialises @cpu, @room, @out and @stow. Innermost but for learn_lock,
 *	irqs off.
 * @tid: its number in the initial pid namespace, for those who watch
 * @cpu: where it runs, -1 nowhere; a hint for who wants to poke that CPU
 * @slot: index in the session
 * @role: enum gchint_role; changes under the lease lock, read at any time
 * @lead: slot that it follows, GCHINT_NO_LEAD if that lease is over; likewise
 * @dead: the lease is over. Set under the lease lock. A CPU that makes this
 *	thread its current one looks at it afterwards, see
 *	gchint_watch_forget().
 * @out: what is known of it is in @room, not in @stow
 * @seen: phase << 4 | flags as last seen, or GCHINT_SEEN_STALE
 * @room: where what is known of it is, while it runs and for a while after
 * @stow: the same, packed
 * @rcu: in the end, readers may still find it; they see that it is dead and
 *	let @room and @stow be
 */
struct gchint_thread {
	struct gchint_thread __rcu *next;
	struct task_struct *task;
	struct gchint_session *session;
	raw_spinlock_t lock;
	pid_t tid;
	s16 cpu;
	u8 slot;
	u8 role;
	u8 lead;
	bool dead;
	bool out;
	u8 seen;
	union {
		struct gchint_room *room;
		struct gchint_stow stow;
		struct rcu_head rcu;
	};
};

extern struct gchint_thread __rcu *gchint_lease_hash[1 << GCHINT_LEASE_BITS];

static inline struct gchint_thread __rcu **
gchint_lease_chain(const struct task_struct *task)
{
	return &gchint_lease_hash[hash_ptr((void *)task, GCHINT_LEASE_BITS)];
}

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

	thread = rcu_dereference_check(*gchint_lease_chain(task),
				       rcu_read_lock_any_held());
	while (unlikely(thread) && thread->task != task)
		thread = rcu_dereference_check(thread->next,
					       rcu_read_lock_any_held());
	return thread;
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
	u8 leader;

	*lead = false;
	if (likely(READ_ONCE(thread->role) != GCHINT_ROLE_FOLLOW))
		return own;
	leader = READ_ONCE(thread->lead);
	if (leader == GCHINT_NO_LEAD ||
	    READ_ONCE(own->state) & (0xffu << GCHINT_STATE_PHASE_SHIFT))
		return own;
	*lead = true;
	return &slots[leader];
}

/* The phase as last seen, and its flags. */
static inline u8 gchint_lease_phase(const struct gchint_thread *thread)
{
	u8 seen = READ_ONCE(thread->seen);

	return seen == GCHINT_SEEN_STALE ? GCHINT_PHASE_NONE : seen >> 4;
}

static inline u8 gchint_lease_flags(const struct gchint_thread *thread)
{
	return READ_ONCE(thread->seen) & 0xf;
}

static inline bool gchint_lease_stale(const struct gchint_thread *thread)
{
	return READ_ONCE(thread->seen) == GCHINT_SEEN_STALE;
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
