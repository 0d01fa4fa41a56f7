/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _GCHINT_COMPAT_GENL_H
#define _GCHINT_COMPAT_GENL_H

#include <linux/version.h>
#include <net/genetlink.h>

/*
 * Who may listen to a group: who has CAP_NET_ADMIN. Linux 6.7 (cd4d7263d58a
 * "genetlink: Use internal flags for multicast groups", also in the later ones of
 * the stable 6.1 and 6.6) gave that flag its own name; from 5.12 until then
 * genl_bind() asks the same of a group with a request's flag.
 */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define GCHINT_MCAST_FLAGS .flags = GENL_MCAST_CAP_NET_ADMIN
#else
#define GCHINT_MCAST_FLAGS .flags = GENL_UNS_ADMIN_PERM
#endif

/*
 * Linux 6.7 (9272af109fe6 "genetlink: add genlmsg_iput() API" series) gave
 * dumps the same structure as requests.
 */
static inline struct nlattr **gchint_dump_attrs(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 7, 0) > LINUX_VERSION_CODE
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_info_dump(cb)->attrs;
#endif
}

#endif /* _GCHINT_COMPAT_GENL_H */
