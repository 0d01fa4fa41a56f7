/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads with a lease and their sessions, as looked up in the scheduler. */
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

#include "model/learn.h"
#include "model/phase.h"
#include "model/plan.h"
#include "model/rest.h"

struct gchint_user;
struct mm_struct;

#define GCHINT_NO_LEAD U16_MAX
/* How many CPUs are reached at once when their mutators need no slowing more. */
#define GCHINT_SLOWED_CPUS 16
#define GCHINT_SLOT_BLOCKS (GCHINT_SLOTS_MAX / GCHINT_SLOTS)

/* gchint_thread.seen: phase and flags have four bits each. */
#define GCHINT_SEEN_SHIFT 4
/* Any phase that became stale: a number that no phase has. */
#define GCHINT_SEEN_STALE 0xf0
static_assert(!(GCHINT_F_ALL >> GCHINT_SEEN_SHIFT));
static_assert(GCHINT_SEEN_STALE >> GCHINT_SEEN_SHIFT >= GCHINT_PHASE_NR);

/**
 * struct gchint_slot_block - a block of GCHINT_SLOTS slots of a session
 * @slots: in a page that user space may have mapped, too
 * @leases: written under the lease lock, read under RCU
 * @serial: counts ended leases: a new lease gets no followers of the last one
 * @nr_leases: slots taken; lease lock
 */
struct gchint_slot_block {
	struct gchint_slot *slots;
	struct gchint_thread __rcu *leases[GCHINT_SLOTS];
	u32 serial[GCHINT_SLOTS];
	u8 nr_leases;
};

/**
 * struct gchint_session - an open file
 * @node: in the list of sessions, under RCU
 * @id: number of the session, from 1 on, never reused
 * @mm: address space that opened it; only compared, while the file is open
 * @tgid_nr: process that opened it, in the initial pid namespace, for reports
 * @granted: GCHINT_GRANT_*, decided at open
 * @user: its quotas apply; released at close
 * @uid: of the opener; valid after close, too
 * @bucket: of @user: gchint_hint.bucket
 * @generation: of the information page, as last read
 * @slowdown: see gchint_pace_slowdown(); written by the CPU of the thread that
 *	collects. A reader that sees it and the next two change errs only once.
 * @slowdown_until: jiffies after which @slowdown is not valid
 * @slowdown_slot: slot of the thread that set @slowdown
 * @slowed: CPUs that slowed its mutators, by their last digit: the latest
 * @collector: slot of the thread that was last seen to collect; GCHINT_NO_LEAD none
 * @rested: when a mutator was last seen to rest between its work, jiffies; 0 never
 * @mutator: gchint_learn_mutator() by core type; written under @learn_lock
 * @learn_lock: serialises @learn; innermost of all locks
 * @nr_leases: slots taken; lease lock
 * @followers: leases with GCHINT_ROLE_FOLLOW; lease lock
 * @nr_blocks: valid entries of @blocks; only grows
 * @blocks: the slots; GCHINT_IOC_GROW adds all but the first
 * @learn: what was learned of its phases
 * @rcu: readers of a lease may still use its session
 */
struct gchint_session {
	struct list_head node;
	u64 id;
	struct mm_struct *mm;
	pid_t tgid_nr;
	u32 granted;
	struct gchint_user *user;
	kuid_t uid;
	u8 bucket;
	u32 generation;
	u32 slowdown;
	u32 slowdown_until;
	u32 rested;
	u8 mutator[GCHINT_CORE_TYPES];
	raw_spinlock_t learn_lock;
	u16 slowdown_slot;
	u16 slowed[GCHINT_SLOWED_CPUS];
	u16 collector;
	u16 nr_leases;
	u16 followers;
	u16 nr_blocks;
	struct gchint_slot_block *blocks[GCHINT_SLOT_BLOCKS];
	struct gchint_learn learn;
	struct rcu_head rcu;
};

static inline unsigned int
gchint_session_slots(const struct gchint_session *session)
{
	/* Pairs with the release in session_grow(). */
	return smp_load_acquire(&session->nr_blocks) * GCHINT_SLOTS;
}

/* The pointer is written under the lease lock and read under RCU. */
static inline struct gchint_thread __rcu **
gchint_session_lease(const struct gchint_session *session, unsigned int slot)
{
	return &session->blocks[slot / GCHINT_SLOTS]->leases[slot % GCHINT_SLOTS];
}

static inline struct gchint_slot *
gchint_session_slot(const struct gchint_session *session, unsigned int slot)
{
	return &session->blocks[slot / GCHINT_SLOTS]->slots[slot % GCHINT_SLOTS];
}

static inline u32 *
gchint_session_serial(const struct gchint_session *session, unsigned int slot)
{
	return &session->blocks[slot / GCHINT_SLOTS]->serial[slot % GCHINT_SLOTS];
}

/**
 * struct gchint_thread - a thread with a lease
 * @next: in the same hash chain, under RCU
 * @task: not counted: only compared, and out of the hash before it is freed
 * @session: outlives the lease by an RCU grace period
 * @lock: irqs off; serialises @cpu and, while that is -1, @track, @plan and @rest
 * @own: its slot
 * @tid: its number in the initial pid namespace, for reports
 * @lead_serial: of the lease that it follows
 * @cpu: where it runs, or -1; may be outdated without @lock
 * @slot: index of @own in the session
 * @lead: slot that it follows, or GCHINT_NO_LEAD; see gchint_thread_lead()
 * @role: enum gchint_role; written under the lease lock
 * @dead: the lease has ended; set under the lease lock. A CPU that makes this
 *	thread its current one checks it afterwards: gchint_watch_forget()
 * @seen: phase and flags as last read, or GCHINT_SEEN_STALE
 * @track: state of its phase; while it runs, only its CPU uses it
 * @plan: while it does not run; else gchint_cpu.plan
 * @rest: as @track
 * @rcu: readers that see @dead do not touch @track and @plan
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
			struct gchint_rest rest;
		};
		struct rcu_head rcu;
	};
};

/* The hash of all threads with a lease; constant while the module is loaded. */
struct gchint_threads {
	struct gchint_thread __rcu **chain;
	unsigned int bits; /* log2 of the number of chains */
};

extern struct gchint_threads gchint_threads;

static inline struct gchint_thread __rcu **
gchint_thread_chain(const struct task_struct *task)
{
	return &gchint_threads.chain[hash_ptr((void *)task,
					      gchint_threads.bits)];
}

/*
 * Under RCU or with preemption off. Every context switch calls it: a thread
 * without a lease nearly always costs a hash and a load.
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

/*
 * Slot of the leader, or GCHINT_NO_LEAD. While the role changes, it may be none
 * or the previous leader.
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

/*
 * Where to read a thread's hints; *@lead: it is the leader's slot. A follower
 * uses its own slot while that has a phase. Under RCU.
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
void gchint_thread_report(const struct gchint_thread *thread,
			  enum gchint_lease what);

#endif /* _GCHINT_THREAD_H */
