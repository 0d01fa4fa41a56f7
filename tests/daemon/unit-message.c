// SPDX-License-Identifier: GPL-2.0-or-later
/* Netlink payloads: those of the module, and malformed ones. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <uapi/linux/gchint.h>

#include "../../daemon/common/message.h"
#include "build.h"

struct seen {
	unsigned int batches, events, policies, sessions, slots;
	bool has_seq;
	uint64_t seq;
	struct message_event event;
	struct message_policy policy;
};

static void on_batch(void *data, bool has_seq, uint64_t seq, uint32_t events, bool has_lost,
		     uint64_t lost)
{
	struct seen *s = data;

	(void)events;
	(void)has_lost;
	(void)lost;
	s->batches++;
	s->has_seq = has_seq;
	s->seq = seq;
}

static void on_event(void *data, const struct message_event *e)
{
	struct seen *s = data;

	s->events++;
	s->event = *e;
}

static void on_policy(void *data, const struct message_policy *p)
{
	struct seen *s = data;

	s->policies++;
	s->policy = *p;
}

static void on_session(void *data, const struct message_session *m)
{
	(void)m;
	((struct seen *)data)->sessions++;
}

static void on_slot(void *data, const struct message_slot *slot)
{
	(void)slot;
	((struct seen *)data)->slots++;
}

static const struct message_ops ops = {
	.batch = on_batch,
	.event = on_event,
	.policy = on_policy,
	.session = on_session,
	.slot = on_slot,
};

static void message_check(void)
{
	struct build b = { .seq = 41 };
	struct seen s = { 0 };
	const void *bytes;
	size_t len;

	build_phase(&b, 1000, 2, 10, 11, 3, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, 5, 50);
	build_decision(&b, 2000, 1, 396000, 792000, GCHINT_REASON_STW, 0, 0);
	bytes = build_bytes(&b, &len);
	CHECK(!message_parse(bytes, len, 0, &ops, &s) && s.events == 2 && s.has_seq && s.seq == 41,
	      "a message of two events has its sequence number");
	CHECK(s.event.type == GCHINT_EVENT_DECISION && s.event.khz == 792000 &&
		      !(s.event.has & HAS(GCHINT_EVENT_A_TID)),
	      "a decision without a hint has no thread");
	s = (struct seen){ 0 };
	CHECK(message_parse(bytes, len, 0x7777, &ops, &s) == 0 && !s.events,
	      "another family's message is ignored");
	build_done(&b);
	build_sample(&b, 5, 0, 792000);
	bytes = build_bytes(&b, &len);
	CHECK(!message_parse(bytes, len, 0, &ops, &s) && s.policies == 1 &&
		      s.policy.cur_khz == 792000,
	      "a sample is parsed");
	build_done(&b);
}

static void cut_check(void)
{
	struct build b = { 0 };
	bool good = true;
	const void *bytes;
	size_t len;

	build_phase(&b, 1000, 2, 10, 11, 3, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, 5, 50);
	bytes = build_bytes(&b, &len);
	for (size_t n = 0; n < len; n++) {
		/* Separate memory, so that a read past its end is detected. */
		char *copy = malloc(n ? n : 1);
		struct seen s = { 0 };

		memcpy(copy, bytes, n);
		message_parse(copy, n, 0, &ops, &s);
		good = good && !s.events;
		free(copy);
	}
	build_done(&b);
	CHECK(good, "a truncated message gives no event");
}

static void types_check(void)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *nest;
	struct seen s = { 0 };

	genlmsg_put(msg, 0, 0, 0x20, 0, 0, GCHINT_CMD_EVENT, GCHINT_GENL_VERSION);
	nest = nla_nest_start(msg, GCHINT_A_EVENT); /* no time */
	nla_put_u32(msg, GCHINT_EVENT_A_TYPE, GCHINT_EVENT_PHASE);
	nla_put_u32(msg, GCHINT_EVENT_A_CPU, 0);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, GCHINT_A_EVENT); /* time of 4 bytes */
	nla_put_u32(msg, GCHINT_EVENT_A_TYPE, GCHINT_EVENT_PHASE);
	nla_put_u32(msg, GCHINT_EVENT_A_CPU, 0);
	nla_put_u32(msg, GCHINT_EVENT_A_TIME, 1);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, GCHINT_A_EVENT); /* valid, with unknown attributes */
	nla_put_u32(msg, GCHINT_EVENT_A_TYPE, GCHINT_EVENT_PHASE);
	nla_put_u64(msg, GCHINT_EVENT_A_TIME, 99);
	nla_put_u32(msg, GCHINT_EVENT_A_CPU, 7);
	nla_put_u64(msg, GCHINT_EVENT_A_MAX + 5, 1);
	nla_nest_end(msg, nest);
	CHECK(message_parse(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len, 0, &ops, &s) == 2 &&
		      s.events == 1 && s.event.cpu == 7 && s.event.time == 99,
	      "events without a time are counted; unknown attributes are ignored");
	nlmsg_free(msg);
}

void unit_message(void)
{
	message_check();
	cut_check();
	types_check();
}
