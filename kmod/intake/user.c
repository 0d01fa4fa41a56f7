// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "param.h"
#include "user.h"

/* Serialises the list and gchint_user.sessions. */
static DEFINE_MUTEX(users_lock);
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
	struct gchint_user *user;

	mutex_lock(&users_lock);
	user = lookup(uid);
	if (!user) {
		user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
		if (!user) {
			user = ERR_PTR(-ENOMEM);
			goto unlock;
		}
		user->uid = uid;
		atomic_set(&user->slots, 0);
		list_add(&user->node, &users);
	}
	if (user->sessions >= limit) {
		pr_notice_ratelimited("user %u holds %u sessions, sessions_per_user=%u allows no more\n",
				      from_kuid(&init_user_ns, uid),
				      user->sessions, limit);
		user = ERR_PTR(-EDQUOT);
		goto unlock;
	}
	user->sessions++;
unlock:
	mutex_unlock(&users_lock);
	return user;
}

/**
 * gchint_user_put - a session of a user is gone
 * @user: the user
 */
void gchint_user_put(struct gchint_user *user)
{
	mutex_lock(&users_lock);
	if (!--user->sessions) {
		list_del(&user->node);
		kfree(user);
	}
	mutex_unlock(&users_lock);
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
