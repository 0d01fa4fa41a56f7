/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests about what a process spends. */
#ifndef _GCHINT_ACCOUNT_H
#define _GCHINT_ACCOUNT_H

#include <linux/gchint.h>
#include <net/netlink.h>

struct genl_info;
struct sk_buff;

extern const struct nla_policy gchint_account_set_policy[GCHINT_A_COUNT + 1];
extern const struct nla_policy gchint_account_get_policy[GCHINT_A_PID + 1];

int gchint_account_set(struct sk_buff *skb, struct genl_info *info);
int gchint_account_get(struct sk_buff *skb, struct genl_info *info);

#endif /* _GCHINT_ACCOUNT_H */
