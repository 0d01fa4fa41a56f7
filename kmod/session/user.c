// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/gchint.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "param.h"
#include "user.h"

/* A session takes up to 24 KiB of kernel memory with its first slots leased. */
#define SESSIONS_PER_USER 32u

/*
 * Serialises the list and gchint_user.sessions. Nothing is allocated under it:
 * a user whose memory cgroup is full must wait alone.
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

/* Counts a session. Returns -EDQUOT past SESSIONS_PER_USER, or -ENOMEM. */
struct gchint_user *gchint_user_get(kuid_t uid)
{
	struct gchint_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *user;
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
		full = user->sessions >= SESSIONS_PER_USER;
		user->sessions += !full;
	}
	spin_unlock(&users_lock);
	kfree(new);
	if (!user)
		return ERR_PTR(-ENOMEM);
	if (!full)
		return user;
	pr_notice_ratelimited("user %u has %u sessions open, the most that one user may have\n",
			      from_kuid(&init_user_ns, uid), SESSIONS_PER_USER);
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
