// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.h"

#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <uapi/linux/gchint.h>

/* clang-format off */
static const struct nla_policy top_policy[GCHINT_A_MAX + 1] = {
	[GCHINT_A_ABI]		= { .type = NLA_U32 },
	[GCHINT_A_SESSIONS]	= { .type = NLA_U32 },
	[GCHINT_A_SLOTS]	= { .type = NLA_U32 },
	[GCHINT_A_LOST]		= { .type = NLA_U64 },
	[GCHINT_A_RECORDERS]	= { .type = NLA_U32 },
	[GCHINT_A_RECORD]	= { .type = NLA_U32 },
	[GCHINT_A_CPU]		= { .type = NLA_U32 },
	[GCHINT_A_SEQ]		= { .type = NLA_U64 },
	[GCHINT_A_EVENT]	= { .type = NLA_NESTED },
	[GCHINT_A_POLICY]	= { .type = NLA_NESTED },
	[GCHINT_A_SESSION]	= { .type = NLA_NESTED },
};

/* Where an attribute is stored in its structure; there is a table for each nest. An attribute
 * whose size is not that of the field is malformed.
 */
struct field {
	uint16_t offset;
	uint16_t size;		/* 0: the attribute is not stored */
};

#define EVENT(attr, member) [GCHINT_EVENT_A_##attr] = \
	{ offsetof(struct message_event, member), sizeof(((struct message_event *)0)->member) }
static const struct field event_fields[GCHINT_EVENT_A_MAX + 1] = {
	EVENT(TYPE, type), EVENT(TIME, time), EVENT(CPU, cpu), EVENT(TGID, tgid), EVENT(TID, tid),
	EVENT(SESSION, session), EVENT(SLOT, slot), EVENT(PHASE, phase), EVENT(FLAGS, flags),
	EVENT(CAUSE, cause), EVENT(PHASE_SEQ, phase_seq), EVENT(WORK_DONE, work_done),
	EVENT(WORK_TOTAL, work_total), EVENT(STALL_NS, stall_ns), EVENT(POLICY, policy),
	EVENT(KHZ_FROM, khz_from), EVENT(KHZ, khz), EVENT(REASON, reason), EVENT(LOAD, load),
	EVENT(LATENCY, latency), EVENT(ROLE, role), EVENT(LEASE, lease),
};

#define POLICY(attr, member) [GCHINT_POLICY_A_##attr] = \
	{ offsetof(struct message_policy, member), sizeof(((struct message_policy *)0)->member) }
static const struct field policy_fields[GCHINT_POLICY_A_MAX + 1] = {
	POLICY(CPU, cpu), POLICY(MODE, mode), POLICY(CUR_KHZ, cur_khz), POLICY(MIN_KHZ, min_khz),
	POLICY(MAX_KHZ, max_khz), POLICY(HW_MAX_KHZ, hw_max_khz), POLICY(REASON, reason),
	POLICY(LOAD, load), POLICY(TRANSITIONS, transitions), POLICY(TIME, time),
	POLICY(ACTUATOR, actuator), POLICY(CAN, can), POLICY(CAP_KHZ, cap_khz),
	POLICY(FLOOR_KHZ, floor_khz),
};

#define SESSION(attr, member) [GCHINT_SESSION_A_##attr] = \
	{ offsetof(struct message_session, member), sizeof(((struct message_session *)0)->member) }
static const struct field session_fields[GCHINT_SESSION_A_MAX + 1] = {
	SESSION(ID, id), SESSION(TGID, tgid), SESSION(UID, uid), SESSION(GRANTED, granted),
};

#define SLOT(attr, member) [GCHINT_SLOT_A_##attr] = \
	{ offsetof(struct message_slot, member), sizeof(((struct message_slot *)0)->member) }
static const struct field slot_fields[GCHINT_SLOT_A_MAX + 1] = {
	SLOT(SLOT, slot), SLOT(TID, tid), SLOT(ROLE, role), SLOT(LEAD, lead), SLOT(PHASE, phase),
	SLOT(FLAGS, flags),
};
/* clang-format on */

/* Every structure begins with its "has" word. Attributes beyond the table are those of a
 * newer kernel, and ignored: the ABI only ever appends.
 */
static int message_fill(void *to, const struct nlattr *nest, const struct field *fields, int max)
{
	const struct nlattr *a;
	uint32_t has = 0;
	int rem;

	nla_for_each_attr(a, nla_data(nest), nla_len(nest), rem)
	{
		int type = nla_type(a);

		if (type > max)
			continue;
		has |= HAS(type);
		if (!fields[type].size)
			continue;
		if (nla_len(a) != fields[type].size)
			return -1;
		memcpy((char *)to + fields[type].offset, nla_data(a), fields[type].size);
	}
	memcpy(to, &has, sizeof(has));
	return 0;
}

static int message_parse_event(const struct nlattr *nest, const struct message_ops *ops, void *data)
{
	const uint32_t need =
		HAS(GCHINT_EVENT_A_TYPE) | HAS(GCHINT_EVENT_A_TIME) | HAS(GCHINT_EVENT_A_CPU);
	struct message_event e = { 0 };

	if (message_fill(&e, nest, event_fields, GCHINT_EVENT_A_MAX) || (e.has & need) != need)
		return 1;
	if (ops->event)
		ops->event(data, &e);
	return 0;
}

static int message_parse_policy(const struct nlattr *nest, const struct message_ops *ops,
				void *data)
{
	struct message_policy p = { 0 };
	const struct nlattr *cpus;

	if (message_fill(&p, nest, policy_fields, GCHINT_POLICY_A_MAX) ||
	    !(p.has & HAS(GCHINT_POLICY_A_CPU)))
		return 1;
	p.fast = p.has & HAS(GCHINT_POLICY_A_FAST);
	cpus = nla_find(nla_data(nest), nla_len(nest), GCHINT_POLICY_A_CPUS);
	if (cpus)
		memcpy(p.cpus, nla_data(cpus),
		       nla_len(cpus) < (int)sizeof(p.cpus) ? (size_t)nla_len(cpus) :
							     sizeof(p.cpus));
	if (ops->policy)
		ops->policy(data, &p);
	return 0;
}

static int message_parse_session(const struct nlattr *nest, const struct message_ops *ops,
				 void *data)
{
	struct message_session s = { 0 };
	const struct nlattr *a;
	int bad = 0, rem;

	if (message_fill(&s, nest, session_fields, GCHINT_SESSION_A_MAX) ||
	    !(s.has & HAS(GCHINT_SESSION_A_ID)))
		return 1;
	if (ops->session)
		ops->session(data, &s);
	nla_for_each_attr(a, nla_data(nest), nla_len(nest), rem)
	{
		struct message_slot slot = { 0 };

		if (nla_type(a) != GCHINT_SESSION_A_SLOT)
			continue;
		if (message_fill(&slot, a, slot_fields, GCHINT_SLOT_A_MAX)) {
			bad++;
			continue;
		}
		slot.stale = slot.has & HAS(GCHINT_SLOT_A_STALE);
		if (ops->slot)
			ops->slot(data, &slot);
	}
	return bad;
}

static void message_parse_info(struct nlattr **tb, const struct message_ops *ops, void *data)
{
	struct message_info i = { 0 };

#define TAKE(attr, member, get)                                                                    \
	do {                                                                                       \
		if (tb[GCHINT_A_##attr]) {                                                         \
			i.member = get(tb[GCHINT_A_##attr]);                                       \
			i.has |= HAS(GCHINT_A_##attr);                                             \
		}                                                                                  \
	} while (0)
	TAKE(ABI, abi, nla_get_u32);
	TAKE(SESSIONS, sessions, nla_get_u32);
	TAKE(SLOTS, slots, nla_get_u32);
	TAKE(RECORDERS, recorders, nla_get_u32);
	TAKE(LOST, lost, nla_get_u64);
#undef TAKE
	if (ops->info)
		ops->info(data, &i);
}

static int message_parse_one(struct nlmsghdr *nlh, const struct message_ops *ops, void *data)
{
	struct nlattr *tb[GCHINT_A_MAX + 1], *attrs, *a;
	const struct genlmsghdr *genl;
	int len, rem, bad = 0;
	uint32_t events = 0;

	if (!genlmsg_valid_hdr(nlh, 0))
		return 1;
	genl = nlmsg_data(nlh);
	attrs = genlmsg_attrdata(genl, 0);
	len = genlmsg_attrlen(genl, 0);
	/* Up to 3.4 libnl declares the policy without const, and does not change it either. */
	if (nla_parse(tb, GCHINT_A_MAX, attrs, len, (void *)(uintptr_t)top_policy) < 0)
		return 1;

	if (genl->cmd == GCHINT_CMD_INFO_GET) {
		message_parse_info(tb, ops, data);
		return 0;
	}
	if (genl->cmd == GCHINT_CMD_EVENT) {
		nla_for_each_attr(a, attrs, len, rem) events += nla_type(a) == GCHINT_A_EVENT;
		if (ops->batch)
			ops->batch(data, tb[GCHINT_A_SEQ],
				   tb[GCHINT_A_SEQ] ? nla_get_u64(tb[GCHINT_A_SEQ]) : 0, events,
				   tb[GCHINT_A_LOST],
				   tb[GCHINT_A_LOST] ? nla_get_u64(tb[GCHINT_A_LOST]) : 0);
	}
	nla_for_each_attr(a, attrs, len, rem)
	{
		switch (nla_type(a)) {
		case GCHINT_A_EVENT:
			bad += message_parse_event(a, ops, data);
			break;
		case GCHINT_A_POLICY:
			bad += message_parse_policy(a, ops, data);
			break;
		case GCHINT_A_SESSION:
			bad += message_parse_session(a, ops, data);
			break;
		default:
			break;
		}
	}
	return bad;
}

int message_parse(const void *buf, size_t len, uint16_t family, const struct message_ops *ops,
		  void *data)
{
	/* The kernel sends a few pages at most, so that an int holds any valid length. */
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	int rem = len > INT32_MAX ? 0 : (int)len;
	int bad = 0;

	for (; nlmsg_ok(nlh, rem); nlh = nlmsg_next(nlh, &rem)) {
		if (nlh->nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		if (family && nlh->nlmsg_type != family)
			continue;
		bad += message_parse_one(nlh, ops, data);
	}
	return bad + (rem > 0);
}
