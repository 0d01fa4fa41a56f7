// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A doorbell is rung only when the mask asks for it. The count is independent:
 * the process that makes the edges is traced, and every ioctl it enters is seen
 * from outside.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define PAIRS 50
#define EDGES (2 * PAIRS)

struct syscall_info {	/* head of struct ptrace_syscall_info */
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t nr;
	uint64_t args[6];
};

#ifndef PTRACE_GET_SYSCALL_INFO
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif
#define INFO_ENTRY 1

/* What the traced process does between its two SIGSTOPs. */
static void edges(void)
{
	struct session s;
	int i, slot;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	if (session_open(&s))
		_exit(1);
	slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0)
		_exit(2);
	raise(SIGSTOP);
	for (i = 0; i < PAIRS; i++) {
		if (session_edge(&s, slot, GCHINT_PHASE_MARK,
				 GCHINT_F_CONCURRENT) < 0 ||
		    session_edge(&s, slot, GCHINT_PHASE_NONE, 0) < 0)
			_exit(3);
	}
	raise(SIGSTOP);
	_exit(0);
}

struct count {
	int rings;	/* ioctl calls with the doorbell's number */
	int ioctls;	/* all ioctl calls */
	int status;	/* exit status of the traced process */
};

static int count_doorbells(struct count *count)
{
	struct syscall_info info;
	int status, stops = 0;
	pid_t child = fork();

	memset(count, 0, sizeof(*count));
	if (!child)
		edges();
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		int number = WSTOPSIG(status);

		if (stops == 0 && number == SIGSTOP) {
			ptrace(PTRACE_SETOPTIONS, child, NULL,
			       (void *)PTRACE_O_TRACESYSGOOD);
			stops = 1;
		} else if (number == SIGSTOP) {
			stops = 2;
		} else if (number == (SIGTRAP | 0x80) && stops == 1) {
			memset(&info, 0, sizeof(info));
			if (ptrace(PTRACE_GET_SYSCALL_INFO, child,
				   (void *)sizeof(info), &info) < 0)
				return -errno;
			if (info.op == INFO_ENTRY && info.nr == SYS_ioctl) {
				count->ioctls++;
				count->rings += (uint32_t)info.args[1] ==
						GCHINT_IOC_RING;
			}
		}
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		if (waitpid(child, &status, 0) != child)
			return -errno;
	}
	count->status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
	return 0;
}

FIXTURE(doorbell) {
	struct count count;
};

FIXTURE_SETUP(doorbell)
{
	governor_save();
}

FIXTURE_TEARDOWN(doorbell)
{
	governor_restore();
}

TEST_F(doorbell, governor_on)
{
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, tunable_put(0, "mode", "table"));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.status);
	EXPECT_EQ(EDGES, self->count.rings);
	EXPECT_EQ(EDGES, self->count.ioctls);
}

TEST_F(doorbell, mode_off)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;

	ASSERT_EQ(0, governor_all("gchint"));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, tunable_put(number[i], "mode", "off"));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.status);
	EXPECT_EQ(0, self->count.ioctls);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, tunable_put(number[i], "mode", "model"));
}

TEST_F(doorbell, other_governors)
{
	static const char * const names[] = {
		"schedutil", "performance", "userspace", "ondemand",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ASSERT_EQ(0, governor_all(names[i]));
		ASSERT_EQ(0, count_doorbells(&self->count));
		EXPECT_EQ(0, self->count.status);
		EXPECT_EQ(0, self->count.ioctls)
			TH_LOG("with governor %s", names[i]);
	}
}

/* One policy with the governor and one without: the thread may be on either. */
TEST_F(doorbell, one_policy_of_several)
{
	int number[MAX_POLICIES];

	if (policies(number, MAX_POLICIES) < 2)
		SKIP(return, "one_policy_of_several: the board has one policy");
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, policy_put(number[1], "scaling_governor", "gchint"));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.status);
	EXPECT_EQ(EDGES, self->count.rings);
}

/* The mask asks for exactly the phases that are recorded. */
TEST_F(doorbell, recorder_asks)
{
	struct genl genl;

	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, genl_open(&genl));
	ASSERT_EQ(0, genl_record(&genl, 1u << GCHINT_PHASE_SWEEP));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.rings);
	ASSERT_EQ(0, genl_record(&genl, 1u << GCHINT_PHASE_MARK));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(EDGES, self->count.rings);
	ASSERT_EQ(0, genl_record(&genl, 0));
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.rings);
	/* A recorder that died asks for nothing. */
	ASSERT_EQ(0, genl_record(&genl, 1u << GCHINT_PHASE_MARK));
	genl_close(&genl);
	ASSERT_EQ(0, count_doorbells(&self->count));
	EXPECT_EQ(0, self->count.rings);
}

/* Any user may watch the page: it shows the frequency roughly, and no more. */
TEST_F(doorbell, page_shows_rough_frequency)
{
	const volatile struct gchint_info_policy *entry;
	long khz[MAX_OPPS], top = policy_number(0, "cpuinfo_max_freq");
	int i, eighths, tries, between = 0, n = opps(0, khz, MAX_OPPS);
	struct session s;
	uint64_t before;
	char text[32];

	ASSERT_EQ(0, governor_all("userspace"));
	ASSERT_EQ(0, session_open(&s));
	ASSERT_EQ((ssize_t)sizeof(before), read(s.fd, &before, sizeof(before)));
	entry = &s.info->policy[s.info->cpu_policy[0]];
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%ld", khz[i]);
		ASSERT_EQ(0, policy_put(0, "scaling_setspeed", text));
		eighths = (khz[i] * 8LL + top - 1) / top;
		between += eighths * (long long)top != khz[i] * 8LL;
		for (tries = 0; tries < 500 &&
		     entry->cur_khz != eighths * (long long)top / 8; tries++)
			sleep_us(10000);
		EXPECT_EQ(eighths * (long long)top / 8, entry->cur_khz)
			TH_LOG("%ld kHz", khz[i]);
	}
	/* A board with few OPPs has each in steps of an eighth. */
	if (n > 8)
		EXPECT_LT(0, between);
	session_close(&s);
}

/* The content of the kernel's page, and that poll reports its changes. */
TEST_F(doorbell, page_reports_changes)
{
	struct pollfd waiting = { .events = POLLIN };
	const volatile struct gchint_info_policy *entry;
	uint64_t generation, before;
	struct session s;
	int tries;

	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, session_open(&s));
	EXPECT_EQ(GCHINT_ABI, (int)s.info->abi);
	EXPECT_GE(s.info->size, 640);
	EXPECT_LE(s.info->size, sizeof(struct gchint_info));
	EXPECT_EQ(0, s.info->doorbell_begin | s.info->doorbell_end);
	ASSERT_LT(s.info->cpu_policy[0], s.info->nr_policies);
	entry = &s.info->policy[s.info->cpu_policy[0]];
	EXPECT_STREQ("performance", (const char *)entry->governor);
	EXPECT_EQ(policy_number(0, "scaling_max_freq"), (long)entry->max_khz);
	EXPECT_EQ(policy_number(0, "cpuinfo_max_freq"), (long)entry->hw_max_khz);
	EXPECT_EQ(hw_khz(0), (long)entry->cur_khz);

	ASSERT_EQ((ssize_t)sizeof(before), read(s.fd, &before, sizeof(before)));
	waiting.fd = s.fd;
	EXPECT_EQ(0, poll(&waiting, 1, 0));
	ASSERT_EQ(0, governor_all("gchint"));
	EXPECT_EQ(1, poll(&waiting, 1, 5000));
	for (tries = 0; tries < 500 &&
	     strcmp((const char *)entry->governor, "gchint"); tries++)
		sleep_us(10000);
	EXPECT_STREQ("gchint", (const char *)entry->governor);
	EXPECT_TRUE(entry->flags & GCHINT_POLICY_GCHINT);
	EXPECT_EQ(!!hw_open()->fast, !!(entry->flags & GCHINT_POLICY_FAST));
	EXPECT_NE(0, s.info->doorbell_begin & 1u << GCHINT_PHASE_MARK);
	ASSERT_EQ((ssize_t)sizeof(generation),
		  read(s.fd, &generation, sizeof(generation)));
	EXPECT_NE(before, generation);
	session_close(&s);
}

TEST_HARNESS_MAIN
