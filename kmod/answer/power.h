/* SPDX-License-Identifier: GPL-2.0-only */
/* What somebody measured of a policy's power. */
#ifndef _GCHINT_POWER_H
#define _GCHINT_POWER_H

#include <linux/gchint.h>
#include <net/netlink.h>

struct genl_info;

extern const struct nla_policy gchint_power_set_policy[GCHINT_A_OPPS + 1];

int gchint_power_set(struct sk_buff *skb, struct genl_info *info);

#endif /* _GCHINT_POWER_H */
