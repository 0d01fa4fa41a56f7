// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The netlink family: its contents, and its answer to a message with missing,
 * extra or malformed attributes: the documented errno, a text in the extended
 * acknowledgement, and no change of state.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

FIXTURE(netlink) {
	struct genl genl;
	struct session session;
	char out[512];
	size_t len;
};

FIXTURE_SETUP(netlink)
{
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, genl_open(&self->genl));
	ASSERT_EQ(0, session_open(&self->session));
}

FIXTURE_TEARDOWN(netlink)
{
	session_close(&self->session);
	genl_close(&self->genl);
	governor_restore();
}

/*
 * The request in self->out is refused with a text, and recording is off then.
 */
#define REFUSED(error, cmd, flags) do {					\
	uint32_t recorders_ = ~0u;					\
	EXPECT_EQ(-(error), genl_request(&self->genl, cmd, flags,	\
					 self->out, self->len));	\
	EXPECT_STRNE("", self->genl.message)				\
		TH_LOG("no text in the acknowledgement of %s%s", #cmd,	\
		       (flags) ? ", dump" : "");			\
	EXPECT_EQ(0, self->session.info->record);			\
	EXPECT_EQ(0, self->session.info->doorbell_begin);		\
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_RECORDERS, &recorders_)); \
	EXPECT_EQ(0, recorders_);					\
} while (0)

#define START() (self->len = 0)
#define PUT(type, data, size) \
	(self->len += genl_put(self->out + self->len, type, data, size))
#define PUT_U32(type, value) \
	(self->len += genl_put_u32(self->out + self->len, type, value))

TEST_F(netlink, info)
{
	uint32_t value;

	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_ABI, &value));
	EXPECT_EQ(GCHINT_ABI, (int)value);
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_SESSIONS, &value));
	EXPECT_EQ(1, value);
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_SLOTS, &value));
	EXPECT_EQ(0, value);
	ASSERT_GE(session_attach(&self->session, 0, 0, 0), 0);
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_SLOTS, &value));
	EXPECT_EQ(1, value);
	EXPECT_NE(0, self->genl.event);
	EXPECT_NE(0, self->genl.sampling);
}

TEST_F(netlink, missing_attributes)
{
	START();
	REFUSED(EINVAL, GCHINT_CMD_POLICY_GET, 0);
	REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
}

TEST_F(netlink, extra_attributes)
{
	static const int unknown[] = { GCHINT_A_MAX + 1, 100, 0x3fff };
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		START();
		PUT_U32(unknown[i], 1);
		REFUSED(EINVAL, GCHINT_CMD_INFO_GET, 0);
		PUT_U32(GCHINT_A_CPU, 0);
		REFUSED(EINVAL, GCHINT_CMD_POLICY_GET, 0);
		START();
		PUT_U32(GCHINT_A_RECORD, 1u << GCHINT_PHASE_MARK);
		PUT_U32(unknown[i], 1);
		REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
	}
	/* Known ones, but of other commands. */
	START();
	PUT_U32(GCHINT_A_CPU, 0);
	REFUSED(EINVAL, GCHINT_CMD_INFO_GET, 0);
	REFUSED(EINVAL, GCHINT_CMD_POLICY_GET, NLM_F_DUMP);
	REFUSED(EINVAL, GCHINT_CMD_SESSION_GET, NLM_F_DUMP);
	PUT_U32(GCHINT_A_RECORD, 1u << GCHINT_PHASE_MARK);
	REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
	START();
	PUT_U32(GCHINT_A_SESSIONS, 5);
	PUT_U32(GCHINT_A_RECORD, 1u << GCHINT_PHASE_MARK);
	REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
}

TEST_F(netlink, malformed_attributes)
{
	uint64_t wide = 1;

	START();
	PUT(GCHINT_A_CPU, &wide, 2);
	EXPECT_GT(0, genl_request(&self->genl, GCHINT_CMD_POLICY_GET, 0,
				  self->out, self->len));
	START();
	PUT(GCHINT_A_RECORD, NULL, 0);
	EXPECT_GT(0, genl_request(&self->genl, GCHINT_CMD_RECORD_SET, 0,
				  self->out, self->len));
	START();
	PUT(GCHINT_A_RECORD, &wide, 8);
	EXPECT_GT(0, genl_request(&self->genl, GCHINT_CMD_RECORD_SET, 0,
				  self->out, self->len));
	/* An attribute whose length exceeds the message. */
	START();
	PUT_U32(GCHINT_A_RECORD, 1u << GCHINT_PHASE_MARK);
	((struct nlattr *)self->out)->nla_len = 200;
	EXPECT_GT(0, genl_request(&self->genl, GCHINT_CMD_RECORD_SET, 0,
				  self->out, self->len));
	EXPECT_EQ(0, self->session.info->record);
}

TEST_F(netlink, values_out_of_range)
{
	START();
	PUT_U32(GCHINT_A_RECORD, 1u << GCHINT_PHASE_NR);
	REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
	START();
	PUT_U32(GCHINT_A_RECORD, ~0u);
	REFUSED(EINVAL, GCHINT_CMD_RECORD_SET, 0);
	START();
	PUT_U32(GCHINT_A_CPU, 100000);
	REFUSED(EINVAL, GCHINT_CMD_POLICY_GET, 0);
	START();
	PUT_U32(GCHINT_A_CPU, 0);
	REFUSED(ENODEV, GCHINT_CMD_POLICY_GET, 0);
}

TEST_F(netlink, unknown_commands)
{
	static const uint8_t commands[] = {
		GCHINT_CMD_UNSPEC, GCHINT_CMD_EVENT, GCHINT_CMD_SAMPLE,
		GCHINT_CMD_MAX + 1, 255,
	};
	size_t i;

	for (i = 0; i < sizeof(commands); i++) {
		EXPECT_EQ(-EOPNOTSUPP,
			  genl_request(&self->genl, commands[i], 0, NULL, 0));
		EXPECT_EQ(-EOPNOTSUPP,
			  genl_request(&self->genl, commands[i], NLM_F_DUMP,
				       NULL, 0));
	}
}

static int as_nobody(void)
{
	struct session mine;
	struct genl genl;
	uint32_t value;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	if (genl_open(&genl))
		return 2;
	if (genl_info(&genl, GCHINT_A_ABI, &value))
		return 3;
	if (genl_record(&genl, 1u << GCHINT_PHASE_MARK) != -EPERM)
		return 4;
	if (genl_request(&genl, GCHINT_CMD_SESSION_GET, NLM_F_DUMP, NULL, 0) !=
	    -EPERM)
		return 5;
	if (genl_request(&genl, GCHINT_CMD_OPPS_SET, 0, NULL, 0) != -EPERM)
		return 6;
	/* The fixture's session is root's. */
	if (genl_info(&genl, GCHINT_A_SESSIONS, &value) || value)
		return 7;
	if (session_open(&mine) || session_attach(&mine, 0, GCHINT_ROLE_NONE, 0) < 0)
		return 8;
	if (genl_info(&genl, GCHINT_A_SESSIONS, &value) || value != 1)
		return 9;
	if (genl_info(&genl, GCHINT_A_SLOTS, &value) || value != 1)
		return 10;
	return 0;
}

/* Is an attribute part of POLICY_GET's answer for a CPU's policy? */
static bool policy_has(struct genl *genl, int cpu, uint16_t attr)
{
	char request[16];
	const void *nest;
	size_t len;

	if (genl_request(genl, GCHINT_CMD_POLICY_GET, 0, request,
			 genl_put_u32(request, GCHINT_A_CPU, cpu)))
		return false;
	nest = genl_find(genl->attrs, genl->attrs_len, GCHINT_A_POLICY, &len);
	return nest && genl_find(nest, len, attr, NULL);
}

static const uint16_t configured[] = {
	GCHINT_POLICY_A_MODE, GCHINT_POLICY_A_ACTUATOR, GCHINT_POLICY_A_MIN_KHZ,
	GCHINT_POLICY_A_MAX_KHZ, GCHINT_POLICY_A_HW_MAX_KHZ, GCHINT_POLICY_A_OPPS,
};

/* Data from which another user's programs could be observed. */
static const uint16_t observed[] = {
	GCHINT_POLICY_A_CUR_KHZ, GCHINT_POLICY_A_REASON, GCHINT_POLICY_A_LOAD,
	GCHINT_POLICY_A_TRANSITIONS,
};

static int policies_as_nobody(void)
{
	struct genl genl;
	size_t i;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
	    genl_open(&genl))
		return 1;
	for (i = 0; i < sizeof(configured) / sizeof(*configured); i++)
		if (!policy_has(&genl, 0, configured[i]))
			return 100 + configured[i];
	for (i = 0; i < sizeof(observed) / sizeof(*observed); i++)
		if (policy_has(&genl, 0, observed[i]))
			return 200 + observed[i];
	if (genl_request(&genl, GCHINT_CMD_POLICY_GET, NLM_F_DUMP, NULL, 0) ||
	    !genl.replies)
		return 2;
	/* The last message of a dump remains. */
	{
		size_t len;
		const void *nest = genl_find(genl.attrs, genl.attrs_len,
					     GCHINT_A_POLICY, &len);

		if (!nest || genl_find(nest, len, GCHINT_POLICY_A_TRANSITIONS, NULL))
			return 3;
	}
	return 0;
}

TEST_F(netlink, policy_state_needs_privilege)
{
	int status;
	pid_t child;
	size_t i;

	ASSERT_EQ(0, governor_all("gchint"));
	for (i = 0; i < sizeof(observed) / sizeof(*observed); i++)
		EXPECT_TRUE(policy_has(&self->genl, 0, observed[i]))
			TH_LOG("attribute %u", observed[i]);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child)
		_exit(policies_as_nobody());
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

TEST_F(netlink, privilege)
{
	int status;
	pid_t child;

	ASSERT_LE(0, session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child)
		_exit(as_nobody());
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, self->session.info->record);
}

TEST_F(netlink, policies)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES);
	const void *nest;
	const uint32_t *value;
	size_t len;

	EXPECT_EQ(0, genl_request(&self->genl, GCHINT_CMD_POLICY_GET,
				  NLM_F_DUMP, NULL, 0));
	EXPECT_EQ(0, self->genl.replies);
	ASSERT_EQ(0, governor_all("gchint"));
	EXPECT_EQ(0, genl_request(&self->genl, GCHINT_CMD_POLICY_GET,
				  NLM_F_DUMP, NULL, 0));
	EXPECT_EQ(n, self->genl.replies);
	START();
	PUT_U32(GCHINT_A_CPU, 0);
	ASSERT_EQ(0, genl_request(&self->genl, GCHINT_CMD_POLICY_GET, 0,
				  self->out, self->len));
	nest = genl_find(self->genl.attrs, self->genl.attrs_len,
			 GCHINT_A_POLICY, &len);
	ASSERT_NE(NULL, nest);
	value = genl_find(nest, len, GCHINT_POLICY_A_HW_MAX_KHZ, NULL);
	ASSERT_NE(NULL, value);
	EXPECT_EQ(policy_number(0, "cpuinfo_max_freq"), (long)*value);
	value = genl_find(nest, len, GCHINT_POLICY_A_MODE, NULL);
	ASSERT_NE(NULL, value);
	EXPECT_EQ(GCHINT_MODE_MODEL, (int)*value);
}

TEST_F(netlink, sessions)
{
	int slot = session_attach(&self->session, 0, GCHINT_ROLE_STW, 0);
	const void *nest, *inner;
	const int32_t *value;
	size_t len, inner_len;

	ASSERT_GE(slot, 0);
	ASSERT_EQ(0, genl_request(&self->genl, GCHINT_CMD_SESSION_GET,
				  NLM_F_DUMP, NULL, 0));
	EXPECT_EQ(1, self->genl.replies);
	nest = genl_find(self->genl.attrs, self->genl.attrs_len,
			 GCHINT_A_SESSION, &len);
	ASSERT_NE(NULL, nest);
	value = genl_find(nest, len, GCHINT_SESSION_A_TGID, NULL);
	ASSERT_NE(NULL, value);
	EXPECT_EQ(getpid(), *value);
	inner = genl_find(nest, len, GCHINT_SESSION_A_SLOT, &inner_len);
	ASSERT_NE(NULL, inner);
	value = genl_find(inner, inner_len, GCHINT_SLOT_A_TID, NULL);
	ASSERT_NE(NULL, value);
	EXPECT_EQ((int)syscall(SYS_gettid), *value);
	value = genl_find(inner, inner_len, GCHINT_SLOT_A_ROLE, NULL);
	ASSERT_NE(NULL, value);
	EXPECT_EQ(GCHINT_ROLE_STW, *value);
}

/* The expected events of a run, in order. */
struct expected {
	uint32_t type;
	uint32_t what;		/* phase, or enum gchint_lease */
	uint32_t flags;
};

/* Edges and leases arrive, in order, numbered without a gap. */
TEST_F(netlink, events)
{
	static const struct expected expected[] = {
		{ GCHINT_EVENT_LEASE, GCHINT_LEASE_ATTACH, 0 },
		{ GCHINT_EVENT_PHASE, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT },
		{ GCHINT_EVENT_PHASE, GCHINT_PHASE_MARK,
		  GCHINT_F_CONCURRENT | GCHINT_F_URGENT },
		{ GCHINT_EVENT_PHASE, GCHINT_PHASE_REMARK, GCHINT_F_STW },
		{ GCHINT_EVENT_PHASE, GCHINT_PHASE_NONE, 0 },
		{ GCHINT_EVENT_LEASE, GCHINT_LEASE_ROLE, 0 },
		{ GCHINT_EVENT_LEASE, GCHINT_LEASE_DETACH, 0 },
	};
	const size_t all = sizeof(expected) / sizeof(*expected);
	uint64_t next = 0, time = 0;
	int tid = syscall(SYS_gettid);
	size_t got = 0, messages = 0;
	struct genl listener;
	int slot;

	ASSERT_EQ(0, genl_open(&listener));
	ASSERT_EQ(0, genl_listen(&listener, listener.event));
	ASSERT_EQ(0, genl_record(&self->genl, (1u << GCHINT_PHASE_NR) - 1));
	EXPECT_NE(0, self->session.info->record);

	slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	/* The same phase, which a thread waits for from now on. */
	EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT | GCHINT_F_URGENT));
	EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_REMARK,
				  GCHINT_F_STW));
	EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_NONE, 0));
	EXPECT_EQ(0, session_role(&self->session, slot, GCHINT_ROLE_STW, 0));
	EXPECT_EQ(0, session_detach(&self->session, slot));

	while (got < all && genl_next(&listener, 5000) == 0) {
		const char *attrs = listener.attrs;
		size_t left = listener.attrs_len;
		const uint64_t *seq = genl_find(attrs, left, GCHINT_A_SEQ, NULL);

		EXPECT_EQ(GCHINT_CMD_EVENT, (int)listener.cmd);
		ASSERT_NE(NULL, seq);
		if (messages++)
			EXPECT_EQ(next, *seq);
		next = *seq;
		while (left >= NLA_HDRLEN && got < all) {
			const struct nlattr *attr = (const void *)attrs;
			size_t size = NLA_ALIGN(attr->nla_len);

			if ((attr->nla_type & NLA_TYPE_MASK) == GCHINT_A_EVENT) {
				const char *in = attrs + NLA_HDRLEN;
				size_t len = attr->nla_len - NLA_HDRLEN;
				const struct expected *e = &expected[got++];
				const uint32_t *v;
				const uint64_t *t;

				next++;
				v = genl_find(in, len, GCHINT_EVENT_A_TYPE, NULL);
				ASSERT_NE(NULL, v);
				EXPECT_EQ(e->type, *v)
					TH_LOG("event %zu", got - 1);
				v = genl_find(in, len, GCHINT_EVENT_A_TID, NULL);
				ASSERT_NE(NULL, v);
				EXPECT_EQ(tid, (int)*v);
				t = genl_find(in, len, GCHINT_EVENT_A_TIME, NULL);
				ASSERT_NE(NULL, t);
				EXPECT_LE(time, *t);
				time = *t;
				v = genl_find(in, len, e->type == GCHINT_EVENT_PHASE ?
					      GCHINT_EVENT_A_PHASE :
					      GCHINT_EVENT_A_LEASE, NULL);
				ASSERT_NE(NULL, v);
				EXPECT_EQ(e->what, *v);
				if (e->type == GCHINT_EVENT_PHASE) {
					v = genl_find(in, len,
						      GCHINT_EVENT_A_FLAGS, NULL);
					ASSERT_NE(NULL, v);
					EXPECT_EQ(e->flags, *v);
				}
			}
			if (size >= left)
				break;
			attrs += size;
			left -= size;
		}
	}
	EXPECT_EQ(all, got);
	genl_close(&listener);
}

#define MANY_SLOTS 512

/* More than one message holds: nothing is sent twice or left out. */
TEST_F(netlink, session_of_many_slots_is_dumped_whole)
{
	struct session many, after;
	uint32_t sessions = 0;
	int i;

	ASSERT_EQ(0, session_open(&many));
	ASSERT_EQ(0, ioctl(many.fd, GCHINT_IOC_GROW, MANY_SLOTS));
	for (i = 0; i < MANY_SLOTS; i++)
		ASSERT_EQ(i, session_attach(&many, sleeper_start(), GCHINT_ROLE_NONE, 0));
	ASSERT_EQ(0, session_open(&after));
	ASSERT_EQ(0, genl_info(&self->genl, GCHINT_A_SESSIONS, &sessions));
	ASSERT_EQ(0, genl_request(&self->genl, GCHINT_CMD_SESSION_GET, NLM_F_DUMP, NULL, 0));
	/* One for each slot block: all but one session have one. */
	EXPECT_EQ(sessions - 1 + MANY_SLOTS / GCHINT_SLOTS, self->genl.replies);
	session_close(&after);
	session_close(&many);
}

/* Is there an edge to this phase among the events of the next messages? */
/* A minute: emulated boards share the host's CPUs. */
static bool hears_of(struct genl *listener, uint32_t phase)
{
	int ret;

	while (!(ret = genl_next(listener, 60000))) {
		const char *attrs = listener->attrs;
		size_t left = listener->attrs_len;

		while (left >= NLA_HDRLEN) {
			const struct nlattr *attr = (const void *)attrs;
			size_t size = NLA_ALIGN(attr->nla_len);
			const uint32_t *value =
				genl_find(attrs + NLA_HDRLEN, attr->nla_len - NLA_HDRLEN,
					  GCHINT_EVENT_A_PHASE, NULL);

			if ((attr->nla_type & NLA_TYPE_MASK) == GCHINT_A_EVENT && value &&
			    *value == phase)
				return true;
			if (size >= left)
				break;
			attrs += size;
			left -= size;
		}
	}
	printf("# phase %u was not heard: %s\n", phase, strerror(-ret));
	return false;
}

/*
 * A coordinator announces for a sleeping worker: the CPU that rings reads it.
 * While the ringing CPU's policy decides, too: the buffer is under its policy's
 * lock, which lockdep knows on the debug board.
 */
TEST_F(netlink, phases_of_a_sleeping_thread_are_recorded)
{
	static const char *const governors[] = { "performance", "gchint" };
	struct genl listener;
	struct worker worker;
	size_t i;
	int slot;

	ASSERT_EQ(0, worker_start(&worker, 1));
	worker_do(&worker, WORK_SLEEP);
	ASSERT_EQ(0, genl_open(&listener));
	ASSERT_EQ(0, genl_listen(&listener, listener.event));
	ASSERT_EQ(0, genl_record(&self->genl, (1u << GCHINT_PHASE_NR) - 1));
	slot = session_attach(&self->session, worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	for (i = 0; i < sizeof(governors) / sizeof(*governors); i++) {
		ASSERT_EQ(0, governor_all(governors[i]));
		session_store(&self->session, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		EXPECT_EQ(0, session_ring(&self->session, slot));
		EXPECT_TRUE(hears_of(&listener, GCHINT_PHASE_MARK))
			TH_LOG("under %s", governors[i]);
		session_store(&self->session, slot, GCHINT_PHASE_NONE, 0);
		EXPECT_EQ(0, session_ring(&self->session, slot));
		EXPECT_TRUE(hears_of(&listener, GCHINT_PHASE_NONE))
			TH_LOG("under %s", governors[i]);
	}
	session_detach(&self->session, slot);
	worker_stop(&worker);
	genl_close(&listener);
}

TEST_F(netlink, samples)
{
	struct genl listener;
	uint32_t abi;
	int i;

	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, genl_open(&listener));
	ASSERT_EQ(0, genl_listen(&listener, listener.sampling));
	ASSERT_EQ(0, genl_info(&listener, GCHINT_A_ABI, &abi));
	/* Although nothing else wakes the machine, which is idle in between. */
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, genl_next(&listener, 10000));
	EXPECT_EQ(GCHINT_CMD_SAMPLE, (int)listener.cmd);
	EXPECT_NE(NULL, genl_find(listener.attrs, listener.attrs_len,
				  GCHINT_A_POLICY, NULL));
	genl_close(&listener);
}

TEST_HARNESS_MAIN
