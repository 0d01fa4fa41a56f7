// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "param.h"
#include "user.h"

/*
 * Serialises the list and gchint_user.sessions. Nothing is allocated under it: a
 * user whose memory cgroup is full waits for memory alone.
 */
static DEFINE_SPINLOCK(users_lock);
static LIST_HEAD(users);

static struct gchint_user *lookup(kuid_t uid)
{
	struct gchint_user *user;

	list_for_each_entry(user, &users, node)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/**
 * gchint_user_get - count one more session of a user
 * @uid: the user
 *
 * Return: the user, or -EDQUOT past sessions_per_user, or -ENOMEM.
 */
struct gchint_user *gchint_user_get(kuid_t uid)
{
	unsigned int limit = READ_ONCE(gchint_param_sessions_per_user);
	struct gchint_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *user;
	bool full = false;

	spin_lock(&users_lock);
	user = lookup(uid);
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
	pr_notice_ratelimited("user %u holds as many sessions as one may, %u\n",
			      from_kuid(&init_user_ns, uid), limit);
	return ERR_PTR(-EDQUOT);
}

/**
 * gchint_user_put - a session of a user is gone
 * @user: the user
 */
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

/**
 * gchint_user_take_slot - count one more slot of a user
 * @user: the user
 *
 * Return: 0, or -EDQUOT past slots_per_user.
 */
int gchint_user_take_slot(struct gchint_user *user)
{
	int limit = READ_ONCE(gchint_param_slots_per_user);

	if (atomic_inc_return(&user->slots) <= limit)
		return 0;
	atomic_dec(&user->slots);
	pr_notice_ratelimited("user %u holds %d slots, slots_per_user=%d allows no more\n",
			      from_kuid(&init_user_ns, user->uid),
			      atomic_read(&user->slots), limit);
	return -EDQUOT;
}

/**
 * gchint_user_give_slot - a slot of a user is free again
 * @user: the user
 *
 * Any context.
 */
void gchint_user_give_slot(struct gchint_user *user)
{
	atomic_dec(&user->slots);
}
