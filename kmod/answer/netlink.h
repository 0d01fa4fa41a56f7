/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family "gchint". */
#ifndef _GCHINT_NETLINK_H
#define _GCHINT_NETLINK_H

#include <linux/types.h>

struct genl_info;
struct sk_buff;

int gchint_netlink_init(void);
void gchint_netlink_exit(void);
int gchint_netlink_reply(struct genl_info *info, u8 cmd,
			 int (*put)(struct sk_buff *skb, void *priv), void *priv);

#endif /* _GCHINT_NETLINK_H */
