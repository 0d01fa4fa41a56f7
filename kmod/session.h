/* SPDX-License-Identifier: GPL-2.0-only */
/* A session: one open file of /dev/gchint and the process image behind it. */
#ifndef _GCHINT_SESSION_H
#define _GCHINT_SESSION_H

#include <linux/gchint.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "learn.h"

struct gchint_thread;
struct gchint_user;
struct mm_struct;
struct pid;

/**
 * struct gchint_session - an open file
 * @node: in the list of sessions
 * @id: its number, never used again
 * @mm: address space that opened it; counted, only ever compared
 * @tgid: process that opened it; counted
 * @tgid_nr: its number in the initial pid namespace, for those who watch
 * @user: whose quotas it counts against
 * @granted: GCHINT_GRANT_*
 * @generation: of the information page, as last read
 * @slots: the page of slots; a mapping holds it too
 * @leases: the thread of each slot; written under the lease lock, read under
 *	RCU
 * @nr_leases: how many of them are taken; lease lock
 * @followers: how many have GCHINT_ROLE_FOLLOW; lease lock
 * @yield: how much slower its mutators may run, see gchint_pace_yield();
 *	written by the CPU of the thread that collects, read by all. It and the
 *	next two are words of their own: whoever reads them while they change
 *	errs for a decision.
 * @yield_until: jiffies: not valid later, for who set it may not run again
 * @yield_slot: who set it
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
	struct gchint_slot *slots;
	u32 generation;
	u32 yield;
	u32 yield_until;
	raw_spinlock_t learn_lock;
	u8 yield_slot;
	u16 nr_leases;
	u16 followers;
	struct gchint_thread __rcu *leases[GCHINT_SLOTS];
	struct gchint_learn learn;
	struct rcu_head rcu;
};

int gchint_session_init(void);
void gchint_session_exit(void);
unsigned int gchint_session_count(void);
int gchint_session_each(int (*fn)(struct gchint_session *session, void *priv),
			void *priv);

#endif /* _GCHINT_SESSION_H */
