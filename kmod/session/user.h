/* SPDX-License-Identifier: GPL-2.0-only */
/* Quotas of each user, so that none can exhaust kernel memory. */
#ifndef _GCHINT_USER_H
#define _GCHINT_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct cred;

struct gchint_user {
	struct list_head node;
	kuid_t uid;
	unsigned int sessions; /* open ones; each is a reference to this */
	atomic_t slots; /* leased ones */
};

struct gchint_user *gchint_user_get(const struct cred *opener);
u8 gchint_user_bucket(const struct gchint_user *user);
unsigned int gchint_user_max_slots(void);
void gchint_user_put(struct gchint_user *user);
int gchint_user_charge_slot(struct gchint_user *user);
void gchint_user_uncharge_slot(struct gchint_user *user);

#endif /* _GCHINT_USER_H */
