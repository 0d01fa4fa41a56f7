/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads with a lease, and the session each belongs to, as those see them who
 * follow them. Who makes and ends them is intake/lease.c.
 */
#ifndef _GCHINT_THREAD_H
#define _GCHINT_THREAD_H

#include <linux/gchint.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "policy/learn.h"
#include "policy/phase.h"
#include "policy/plan.h"

struct gchint_user;
struct mm_struct;
struct pid;

#define GCHINT_NO_LEAD U16_MAX
#define GCHINT_BANKS (GCHINT_SLOTS_MAX / GCHINT_SLOTS)

/* gchint_thread.seen: phase and flags have four bits each. */
#define GCHINT_SEEN_SHIFT 4
/* A phase that went stale, whichever: a number that no phase has. */
#define GCHINT_SEEN_STALE 0xf0
static_assert(!(GCHINT_F_ALL >> GCHINT_SEEN_SHIFT));
static_assert(GCHINT_SEEN_STALE >> GCHINT_SEEN_SHIFT >= GCHINT_PHASE_NR);

/**
 * struct gchint_bank - GCHINT_SLOTS slots of a session
 * @slots: in a page that a mapping holds, too
 * @leases: the thread of each; written under the lease lock, read under RCU
 * @serial: how many leases of each have ended: who follows the one that is
 *	there now does not follow the next
 * @nr_leases: how many are taken; lease lock
 */
struct gchint_bank {
	struct gchint_slot *slots;
	struct gchint_thread __rcu *leases[GCHINT_SLOTS];
	u32 serial[GCHINT_SLOTS];
	u8 nr_leases;
};

/**
 * struct gchint_session - an open file
 * @node: in the list of sessions, under RCU
 * @id: its number, never used again
 * @mm: address space that opened it; counted, only ever compared
 * @tgid: process that opened it; counted
 * @tgid_nr: its number in the initial pid namespace, for those who watch
 * @user: whose quotas it counts against; given back at close
 * @uid: of that user
 * @granted: GCHINT_GRANT_*
 * @generation: of the information page, as last read
 * @nr_banks: how many there are; grows only, after what it counts is there
 * @bank: the slots; those past the first are made by GCHINT_IOC_GROW
 * @nr_leases: how many slots are taken; lease lock
 * @followers: how many have GCHINT_ROLE_FOLLOW; lease lock
 * @slowdown: how much slower its mutators may run, see gchint_pace_slowdown();
 *	written by the CPU of the thread that collects, read by all. It and the
 *	next two are words of their own: whoever reads them while they change
 *	errs for a decision.
 * @slowdown_until: jiffies: not valid later, for who set it may not run again
 * @slowdown_slot: who set it
 * @mutator: gchint_learn_mutator() by kind of CPU; written under @learn_lock, read at
 *	any time
 * @learn_lock: serialises @learn; innermost of all
 * @learn: what was learned of this session's phases
 * @rcu: readers of a lease may still look at its session
 */
struct gchint_session {
	struct list_head node;
	u64 id;
	struct mm_struct *mm;
	struct pid *tgid;
	pid_t tgid_nr;
	u32 granted;
	struct gchint_user *user;
	kuid_t uid;
	u32 generation;
	u32 slowdown;
	u32 slowdown_until;
	u8 mutator[GCHINT_KINDS];
	raw_spinlock_t learn_lock;
	u16 slowdown_slot;
	u16 nr_leases;
	u16 followers;
	u16 nr_banks;
	struct gchint_bank *bank[GCHINT_BANKS];
	struct gchint_learn learn;
	struct rcu_head rcu;
};

/* How many slots it has; each below is there for good. */
static inline unsigned int
gchint_session_slots(const struct gchint_session *session)
{
	/* Pairs with the release in grow(). */
	return smp_load_acquire(&session->nr_banks) * GCHINT_SLOTS;
}

/**
 * gchint_session_lease - where the lease of a slot is
 * @session: the session
 * @slot: below gchint_session_slots()
 *
 * Return: what is written under the lease lock and read under RCU.
 */
static inline struct gchint_thread __rcu **
gchint_session_lease(const struct gchint_session *session, unsigned int slot)
{
	return &session->bank[slot / GCHINT_SLOTS]->leases[slot % GCHINT_SLOTS];
}

static inline struct gchint_slot *
gchint_session_slot(const struct gchint_session *session, unsigned int slot)
{
	return &session->bank[slot / GCHINT_SLOTS]->slots[slot % GCHINT_SLOTS];
}

static inline u32 *
gchint_session_serial(const struct gchint_session *session, unsigned int slot)
{
	return &session->bank[slot / GCHINT_SLOTS]->serial[slot % GCHINT_SLOTS];
}

/**
 * struct gchint_thread - a thread with a lease
 * @next: in the same chain of gchint_threads, under RCU
 * @task: not counted: compared only, and out of the hash before it is freed
 * @session: outlives the lease by an RCU grace period
 * @lock: serialises @cpu, and while that is nowhere, @track and @plan. Innermost
 *	but for learn_lock, irqs off.
 * @tid: its number in the initial pid namespace, for those who watch
 * @cpu: where it runs, -1 nowhere; a hint for who wants to poke that CPU
 * @slot: index in the session
 * @role: enum gchint_role; changes under the lease lock, read at any time
 * @own: that slot
 * @lead: slot that it follows, or GCHINT_NO_LEAD; see gchint_thread_lead()
 * @lead_serial: of the lease there
 * @dead: the lease is over. Set under the lease lock. A CPU that makes this
 *	thread its current one looks at it afterwards, see
 *	gchint_watch_forget().
 * @seen: phase << 4 | flags as last seen, or GCHINT_SEEN_STALE
 * @track: what is known of its phase; while it runs, that CPU's alone
 * @plan: for it, while it does not run; else gchint_cpu.plan
 * @rcu: in the end, readers may still find it; they see that it is dead and
 *	let @track and @plan be
 */
struct gchint_thread {
	struct gchint_thread __rcu *next;
	struct task_struct *task;
	struct gchint_session *session;
	raw_spinlock_t lock;
	struct gchint_slot *own;
	pid_t tid;
	u32 lead_serial;
	s16 cpu;
	u16 slot;
	u16 lead;
	u8 role;
	bool dead;
	u8 seen;
	union {
		struct {
			struct gchint_track track;
			struct gchint_plan plan;
		};
		struct rcu_head rcu;
	};
};

/**
 * struct gchint_threads - the hash of all threads with a lease
 * @chain: as many as there may be leases, or more
 * @bits: log2 of that
 *
 * Constant while the module is there.
 */
struct gchint_threads {
	struct gchint_thread __rcu **chain;
	unsigned int bits;
};

extern struct gchint_threads gchint_threads;

static inline struct gchint_thread __rcu **
gchint_thread_chain(const struct task_struct *task)
{
	return &gchint_threads.chain[hash_ptr((void *)task,
					      gchint_threads.bits)];
}

/**
 * gchint_thread_find - the lease of a thread
 * @task: any task
 *
 * For a thread without one this is a hash and a load, nearly always: it is what
 * every context switch pays. Under RCU, or with preemption off.
 *
 * Return: the lease or NULL.
 */
static inline struct gchint_thread *
gchint_thread_find(const struct task_struct *task)
{
	struct gchint_thread *thread;

	thread = rcu_dereference_check(*gchint_thread_chain(task),
				       rcu_read_lock_any_held());
	while (unlikely(thread) && thread->task != task)
		thread = rcu_dereference_check(thread->next,
					       rcu_read_lock_any_held());
	return thread;
}

/**
 * gchint_thread_lead - whom a thread follows
 * @thread: the thread
 *
 * Its role may change meanwhile: then it follows nobody, or for a moment the one
 * before.
 *
 * Return: slot of its leader; GCHINT_NO_LEAD if it has none, or that lease is over
 */
static inline u16 gchint_thread_lead(const struct gchint_thread *thread)
{
	u16 lead = READ_ONCE(thread->lead);

	if (lead == GCHINT_NO_LEAD ||
	    READ_ONCE(*gchint_session_serial(thread->session, lead)) !=
	    READ_ONCE(thread->lead_serial))
		return GCHINT_NO_LEAD;
	return lead;
}

/**
 * gchint_thread_slot - the slot by which a thread counts
 * @thread: the thread
 * @lead: out: it is the leader's
 *
 * Under RCU. A follower counts by its own slot while that says something.
 *
 * Return: a slot of the thread's session.
 */
static inline struct gchint_slot *
gchint_thread_slot(const struct gchint_thread *thread, bool *lead)
{
	struct gchint_slot *own = thread->own;
	u16 leader;

	*lead = false;
	if (likely(READ_ONCE(thread->role) != GCHINT_ROLE_FOLLOW))
		return own;
	leader = gchint_thread_lead(thread);
	if (leader == GCHINT_NO_LEAD ||
	    READ_ONCE(own->state) & (0xffu << GCHINT_STATE_PHASE_SHIFT))
		return own;
	*lead = true;
	return gchint_session_slot(thread->session, leader);
}

/* The phase as last seen, and its flags. */
static inline u8 gchint_thread_phase(const struct gchint_thread *thread)
{
	u8 seen = READ_ONCE(thread->seen);

	return seen == GCHINT_SEEN_STALE ? GCHINT_PHASE_NONE :
					  seen >> GCHINT_SEEN_SHIFT;
}

static inline u8 gchint_thread_flags(const struct gchint_thread *thread)
{
	return READ_ONCE(thread->seen) & GCHINT_F_ALL;
}

static inline bool gchint_thread_stale(const struct gchint_thread *thread)
{
	return READ_ONCE(thread->seen) == GCHINT_SEEN_STALE;
}

int gchint_thread_init(unsigned int max);
void gchint_thread_exit(void);
void gchint_thread_add(struct gchint_thread *thread);
void gchint_thread_remove(struct gchint_thread *thread);
unsigned int gchint_thread_count(void);
void gchint_thread_tell(const struct gchint_thread *thread,
			enum gchint_lease what);

#endif /* _GCHINT_THREAD_H */
