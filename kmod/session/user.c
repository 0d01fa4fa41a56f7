// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/gchint.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "model/phase.h"
#include "param.h"
#include "user.h"

/* Kernel memory of a session with its first slots leased. */
#define SESSION_SIZE (24 * SZ_1K)
/* On a machine with little memory. */
#define SESSIONS_MIN 32u

/*
 * Serialises the list and gchint_user.sessions. Nothing is allocated under it.
 */
static DEFINE_SPINLOCK(users_lock);
static LIST_HEAD(users);

static struct gchint_user *user_find(kuid_t uid)
{
	struct gchint_user *user;

	list_for_each_entry(user, &users, node)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/*
 * How many sessions a user may have open: a 25th of the memory, as much as
 * epoll allows. They are charged to the memory cgroup, too, but not every user
 * has one with a limit, and a server has a session in each of its processes.
 */
static unsigned int user_max_sessions(void)
{
	return max_t(unsigned long, SESSIONS_MIN,
		     totalram_pages() / 25 / DIV_ROUND_UP(SESSION_SIZE, PAGE_SIZE));
}

/*
 * Whose quota it is. A user who makes a user namespace may be given many ids in
 * it, which count as that user. Those of a namespace that root made do not: it
 * was root who distributed them.
 */
static kuid_t user_account(const struct cred *opener)
{
	const struct user_namespace *ns = opener->user_ns;

	if (ns == &init_user_ns)
		return opener->uid;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return uid_eq(ns->owner, GLOBAL_ROOT_UID) ? opener->uid : ns->owner;
}

/* Counts a session. Returns -EDQUOT past user_max_sessions(), or -ENOMEM. */
struct gchint_user *gchint_user_get(const struct cred *opener)
{
	struct gchint_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *user;
	unsigned int limit = user_max_sessions();
	kuid_t uid = user_account(opener);
	bool full = false;

	spin_lock(&users_lock);
	user = user_find(uid);
	if (!user && new) {
		user = new;
		new = NULL;
		user->uid = uid;
		atomic_set(&user->slots, 0);
		list_add(&user->node, &users);
	}
	if (user) {
		full = user->sessions >= limit;
		user->sessions += !full;
	}
	spin_unlock(&users_lock);
	kfree(new);
	if (!user)
		return ERR_PTR(-ENOMEM);
	if (!full)
		return user;
	pr_notice_ratelimited("user %u has %u sessions open, the most that one user may have\n",
			      from_kuid(&init_user_ns, uid), limit);
	return ERR_PTR(-EDQUOT);
}

/* When a session is closed, after its leases have ended. */
void gchint_user_put(struct gchint_user *user)
{
	bool last;

	spin_lock(&users_lock);
	last = !--user->sessions;
	if (last)
		list_del(&user->node);
	spin_unlock(&users_lock);
	if (last)
		kfree(user);
}

/* Which budget of switches the user has: two users may have the same. */
u8 gchint_user_bucket(const struct gchint_user *user)
{
	return hash_32(__kuid_val(user->uid), ilog2(GCHINT_BUCKETS));
}

/* How many slots a user may lease: an eighth of all, at least one block. */
unsigned int gchint_user_max_slots(void)
{
	return max(gchint_param_leases / 8, (unsigned int)GCHINT_SLOTS);
}

/* Returns -EDQUOT past gchint_user_max_slots(). */
int gchint_user_charge_slot(struct gchint_user *user)
{
	int limit = gchint_user_max_slots();

	if (atomic_inc_return(&user->slots) <= limit)
		return 0;
	atomic_dec(&user->slots);
	pr_notice_ratelimited("user %u has %d slots leased, and leases=%u allows one user %d\n",
			      from_kuid(&init_user_ns, user->uid),
			      atomic_read(&user->slots),
			      gchint_param_leases, limit);
	return -EDQUOT;
}

/* Any context. */
void gchint_user_uncharge_slot(struct gchint_user *user)
{
	atomic_dec(&user->slots);
}
