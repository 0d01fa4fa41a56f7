// SPDX-License-Identifier: GPL-2.0-or-later
#include "build.h"

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <uapi/linux/gchint.h>

/* Any family number above the reserved ones: a feed accepts all. */
#define FAMILY 0x20

static void message_begin(struct build *b, uint8_t cmd)
{
	if (b->msg)
		return;
	b->msg = nlmsg_alloc_size(16384);
	if (!b->msg || !genlmsg_put(b->msg, 0, 0, FAMILY, 0, 0, cmd, GCHINT_GENL_VERSION))
		abort();
	b->events = 0;
	if (cmd == GCHINT_CMD_EVENT)
		nla_put_u64(b->msg, GCHINT_A_SEQ, b->seq);
}

static struct nlattr *event_begin(struct build *b, uint32_t type, uint64_t t, uint32_t cpu)
{
	struct nlattr *nest;

	message_begin(b, GCHINT_CMD_EVENT);
	nest = nla_nest_start(b->msg, GCHINT_A_EVENT);
	if (!nest)
		abort();
	nla_put_u32(b->msg, GCHINT_EVENT_A_TYPE, type);
	nla_put_u64(b->msg, GCHINT_EVENT_A_TIME, t);
	nla_put_u32(b->msg, GCHINT_EVENT_A_CPU, cpu);
	b->seq++;
	b->events++;
	return nest;
}

void build_phase(struct build *b, uint64_t t, uint32_t cpu, int32_t tgid, int32_t tid,
		 uint32_t slot, uint32_t phase, uint32_t flags, uint64_t done, uint64_t total)
{
	struct nlattr *nest = event_begin(b, GCHINT_EVENT_PHASE, t, cpu);

	nla_put_s32(b->msg, GCHINT_EVENT_A_TGID, tgid);
	nla_put_s32(b->msg, GCHINT_EVENT_A_TID, tid);
	nla_put_u64(b->msg, GCHINT_EVENT_A_SESSION, (uint64_t)tgid);
	nla_put_u32(b->msg, GCHINT_EVENT_A_SLOT, slot);
	nla_put_u32(b->msg, GCHINT_EVENT_A_PHASE, phase);
	nla_put_u32(b->msg, GCHINT_EVENT_A_FLAGS, flags);
	nla_put_u32(b->msg, GCHINT_EVENT_A_CAUSE, GCHINT_CAUSE_ALLOCATION);
	nla_put_u32(b->msg, GCHINT_EVENT_A_PHASE_SEQ, (uint32_t)b->seq);
	nla_put_u64(b->msg, GCHINT_EVENT_A_WORK_DONE, done);
	nla_put_u64(b->msg, GCHINT_EVENT_A_WORK_TOTAL, total);
	nla_nest_end(b->msg, nest);
}

void build_decision(struct build *b, uint64_t t, uint32_t cpu, uint32_t from, uint32_t to,
		    uint32_t reason, int32_t tid, uint64_t latency)
{
	struct nlattr *nest = event_begin(b, GCHINT_EVENT_DECISION, t, cpu);

	nla_put_u32(b->msg, GCHINT_EVENT_A_POLICY, cpu);
	nla_put_u32(b->msg, GCHINT_EVENT_A_KHZ_FROM, from);
	nla_put_u32(b->msg, GCHINT_EVENT_A_KHZ, to);
	nla_put_u32(b->msg, GCHINT_EVENT_A_REASON, reason);
	nla_put_u32(b->msg, GCHINT_EVENT_A_LOAD, 700);
	if (tid) {
		nla_put_s32(b->msg, GCHINT_EVENT_A_TGID, tid);
		nla_put_s32(b->msg, GCHINT_EVENT_A_TID, tid);
		nla_put_u64(b->msg, GCHINT_EVENT_A_LATENCY, latency);
	}
	nla_nest_end(b->msg, nest);
}

void build_lease(struct build *b, uint64_t t, int32_t tgid, int32_t tid, uint32_t slot,
		 uint32_t role, uint32_t lease)
{
	struct nlattr *nest = event_begin(b, GCHINT_EVENT_LEASE, t, 0);

	nla_put_s32(b->msg, GCHINT_EVENT_A_TGID, tgid);
	nla_put_s32(b->msg, GCHINT_EVENT_A_TID, tid);
	nla_put_u64(b->msg, GCHINT_EVENT_A_SESSION, (uint64_t)tgid);
	nla_put_u32(b->msg, GCHINT_EVENT_A_SLOT, slot);
	nla_put_u32(b->msg, GCHINT_EVENT_A_ROLE, role);
	nla_put_u32(b->msg, GCHINT_EVENT_A_LEASE, lease);
	nla_nest_end(b->msg, nest);
}

void build_sample(struct build *b, uint64_t t, uint32_t cpu, uint32_t khz)
{
	struct nlattr *nest;

	message_begin(b, GCHINT_CMD_SAMPLE);
	nest = nla_nest_start(b->msg, GCHINT_A_POLICY);
	nla_put_u32(b->msg, GCHINT_POLICY_A_CPU, cpu);
	nla_put_u32(b->msg, GCHINT_POLICY_A_CUR_KHZ, khz);
	nla_put_u64(b->msg, GCHINT_POLICY_A_TIME, t);
	nla_nest_end(b->msg, nest);
}

const void *build_bytes(struct build *b, size_t *len)
{
	struct nlmsghdr *nlh = b->msg ? nlmsg_hdr(b->msg) : NULL;

	*len = nlh ? nlh->nlmsg_len : 0;
	return nlh;
}

void build_done(struct build *b)
{
	nlmsg_free(b->msg);
	b->msg = NULL;
}
