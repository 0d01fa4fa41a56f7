// SPDX-License-Identifier: GPL-2.0-only
/* Requests about what a process spends: whose business that is, and the sum. */
#include <linux/cred.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <net/genetlink.h>

#include "account.h"
#include "encode.h"
#include "follow/probe.h"
#include "follow/spent.h"
#include "follow/thread.h"
#include "follow/watch.h"
#include "intake/session.h"
#include "netlink.h"

const struct nla_policy gchint_account_set_policy[GCHINT_A_COUNT + 1] = {
	[GCHINT_A_PID] = { .type = NLA_U32 },
	[GCHINT_A_COUNT] = NLA_POLICY_MAX(NLA_U32, 1),
};

const struct nla_policy gchint_account_get_policy[GCHINT_A_PID + 1] = {
	[GCHINT_A_PID] = { .type = NLA_U32 },
};

/**
 * struct asked - the sessions of a process that somebody asks about
 * @tgid: the process; counted
 * @uid: who asks
 * @any: may ask about everybody's
 * @found: how many sessions it has
 * @before: whether any of them was counted already
 * @counted: of which so many are counted
 * @sum: what those spent
 */
struct asked {
	struct pid *tgid;
	kuid_t uid;
	bool any;
	unsigned int found;
	bool before;
	unsigned int counted;
	struct gchint_spent sum;
};

static int may_ask(struct gchint_session *session, void *priv)
{
	struct asked *asked = priv;

	if (session->tgid != asked->tgid)
		return 0;
	asked->found++;
	asked->before |= gchint_spent_counts(session);
	return asked->any || uid_eq(asked->uid, session->owner) ? 0 : -EPERM;
}

/* Who is allowed to see one of its sessions and not another sees none. */
static int ask(struct sk_buff *skb, struct genl_info *info, struct asked *asked)
{
	struct nlattr *attr = info->attrs[GCHINT_A_PID];
	u32 nr;
	int ret;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_PID is missing");
		return -EINVAL;
	}
	nr = nla_get_u32(attr);
	asked->tgid = nr ? find_get_pid(nr) : get_pid(task_tgid(current));
	asked->uid = NETLINK_CREDS(skb)->uid;
	asked->any = netlink_capable(skb, CAP_NET_ADMIN);
	ret = gchint_session_each(may_ask, asked);
	if (!ret && asked->found)
		return 0;
	put_pid(asked->tgid);
	if (!ret) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "that process has no session open");
		return -ESRCH;
	}
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "that process is not yours: CAP_NET_ADMIN is wanted");
	return ret;
}

static int begin_count(struct gchint_session *session, void *priv)
{
	struct asked *asked = priv;

	return session->tgid == asked->tgid ? gchint_spent_begin(session) : 0;
}

static int end_count(struct gchint_session *session, void *priv)
{
	struct asked *asked = priv;

	if (session->tgid == asked->tgid)
		gchint_spent_end(session);
	return 0;
}

static int sum_up(struct gchint_session *session, void *priv)
{
	struct asked *asked = priv;

	if (session->tgid != asked->tgid)
		return 0;
	gchint_watch_settle(session);
	asked->counted += gchint_spent_sum(session, &asked->sum);
	return 0;
}

/**
 * gchint_account_set - GCHINT_CMD_SPENT_SET
 * @skb: the request
 * @info: likewise, taken apart
 *
 * Without memory the sessions of a process of which some were counted before may end
 * up with more of them counted.
 *
 * Return: 0 or a negative errno, explained in the acknowledgment.
 */
int gchint_account_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *count = info->attrs[GCHINT_A_COUNT];
	struct asked asked = { };
	int ret;

	if (!count) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_COUNT is missing");
		return -EINVAL;
	}
	ret = ask(skb, info, &asked);
	if (ret)
		return ret;
	if (nla_get_u32(count)) {
		ret = gchint_session_each(begin_count, &asked);
		if (!ret)
			ret = gchint_probe_need();
		if (!ret)
			gchint_session_each(sum_up, &asked);
	}
	if (ret ? !asked.before : !nla_get_u32(count)) {
		gchint_session_each(end_count, &asked);
		gchint_probe_relax();
	}
	put_pid(asked.tgid);
	return ret;
}

static int put_spent_reply(struct sk_buff *skb, void *priv)
{
	struct asked *asked = priv;

	return gchint_encode_spent(skb, &asked->sum, asked->counted);
}

/**
 * gchint_account_get - GCHINT_CMD_SPENT_GET
 * @skb: the request
 * @info: likewise, taken apart
 *
 * Return: 0 or a negative errno, explained in the acknowledgment.
 */
int gchint_account_get(struct sk_buff *skb, struct genl_info *info)
{
	struct asked asked = { };
	int ret;

	ret = ask(skb, info, &asked);
	if (ret)
		return ret;
	gchint_session_each(sum_up, &asked);
	put_pid(asked.tgid);
	if (!asked.counted) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_PID],
				    "what it spends is not counted: GCHINT_CMD_SPENT_SET");
		return -ENODATA;
	}
	return gchint_netlink_reply(info, GCHINT_CMD_SPENT_GET, put_spent_reply, &asked);
}
