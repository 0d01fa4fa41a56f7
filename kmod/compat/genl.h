/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _GCHINT_COMPAT_GENL_H
#define _GCHINT_COMPAT_GENL_H

#include <linux/version.h>
#include <net/genetlink.h>

/*
 * CAP_NET_ADMIN for listeners of a multicast group. Linux 6.7 (cd4d7263d58a
 * "genetlink: Use internal flags for multicast groups", backported to 6.1 and
 * 6.6) renamed the flag; before, it is the one of requests.
 */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define GCHINT_MCAST_FLAGS .flags = GENL_MCAST_CAP_NET_ADMIN
#else
#define GCHINT_MCAST_FLAGS .flags = GENL_UNS_ADMIN_PERM
#endif

/* Linux 6.7 (series of 9272af109fe6) gave dumps the struct of requests. */
static inline struct nlattr **gchint_dump_attrs(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 7, 0) > LINUX_VERSION_CODE
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_info_dump(cb)->attrs;
#endif
}

#endif /* _GCHINT_COMPAT_GENL_H */
