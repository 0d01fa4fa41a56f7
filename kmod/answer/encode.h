/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of netlink messages. */
#ifndef _GCHINT_ENCODE_H
#define _GCHINT_ENCODE_H

#include <linux/types.h>

struct gchint_policy;
struct gchint_record;
struct gchint_session;
struct sk_buff;

int gchint_encode_event(struct sk_buff *skb, const struct gchint_record *r);
int gchint_encode_policy(struct sk_buff *skb, struct gchint_policy *policy,
			 bool opps, bool state);
int gchint_encode_session(struct sk_buff *skb, struct gchint_session *session,
			  unsigned int bank);

#endif /* _GCHINT_ENCODE_H */
