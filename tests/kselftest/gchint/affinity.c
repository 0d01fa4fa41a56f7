// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The actuator "affinity": where CPUs are unlike, a thread may run on the kind that
 * suits what it says, and afterwards where it might before. Seen with
 * sched_getaffinity(2).
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "placement.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define SOON_US 5000000
#define NOBODY 65534
#define CONCURRENT GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT
#define STOPPED GCHINT_PHASE_MARK, GCHINT_F_STW
#define NONE GCHINT_PHASE_NONE, 0

/* Bit n for CPU n; 0 where it cannot be read. */
static unsigned long mask_of(int tid)
{
	unsigned long mask = 0;
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(tid, sizeof(set), &set))
		return 0;
	for (cpu = 0; cpu < (int)(8 * sizeof(mask)); cpu++)
		if (CPU_ISSET(cpu, &set))
			mask |= 1UL << cpu;
	return mask;
}

static int bind_mask(int tid, unsigned long mask)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < (int)(8 * sizeof(mask)); cpu++)
		if (mask >> cpu & 1)
			CPU_SET(cpu, &set);
	return sched_setaffinity(tid, sizeof(set), &set) ? -errno : 0;
}

/* Waits: what is put back when nobody calls comes a little later. */
static unsigned long await(int tid, unsigned long mask)
{
	long long end = now_us() + SOON_US;

	while (mask_of(tid) != mask && now_us() < end)
		sleep_us(2000);
	return mask_of(tid);
}

FIXTURE(affinity) {
	unsigned long all, small, large;
	struct session s;
	int slot;
	pid_t child;
};

FIXTURE_SETUP(affinity)
{
	int cpu, n = sysconf(_SC_NPROCESSORS_ONLN);

	for (cpu = 0; cpu < n; cpu++) {
		self->all |= 1UL << cpu;
		if (cpu_capacity(cpu) == capacity_least())
			self->small |= 1UL << cpu;
		else
			self->large |= 1UL << cpu;
	}
	governor_save();
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	ASSERT_EQ(0, session_open(&self->s));
	ASSERT_NE(0, self->large);
	ASSERT_EQ(0, bind_mask(0, self->all));
	self->slot = -1;
	self->child = -1;
	ASSERT_EQ(0, use_put(-1, "affinity"));
}

FIXTURE_TEARDOWN(affinity)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	parameter_put("hint_ttl_ms", "1000");
	session_close(&self->s);
	use_put(-1, "off");
	governor_restore();
}

#define ATTACH(role)							\
	do {								\
		self->slot = session_attach(&self->s, 0, role, 0);	\
		ASSERT_LE(0, self->slot);				\
	} while (0)

#define EDGE(phase) EXPECT_EQ(1, session_edge(&self->s, self->slot, phase))

TEST_F(affinity, a_phase_binds_at_its_doorbell_and_lets_go_at_the_next)
{
	ATTACH(GCHINT_ROLE_NONE);
	EXPECT_EQ(self->all, mask_of(0));
	EDGE(CONCURRENT);
	EXPECT_EQ(self->small, mask_of(0));
	EXPECT_TRUE(self->small >> sched_getcpu() & 1);
	EDGE(STOPPED);
	EXPECT_EQ(self->large, mask_of(0));
	EXPECT_TRUE(self->large >> sched_getcpu() & 1);
	EDGE(NONE);
	EXPECT_EQ(self->all, mask_of(0));
}

TEST_F(affinity, every_end_of_a_lease_puts_it_back)
{
	ATTACH(GCHINT_ROLE_CONCURRENT);
	EXPECT_EQ(self->small, mask_of(0));
	EXPECT_EQ(0, session_role(&self->s, self->slot, GCHINT_ROLE_STW, 0));
	EXPECT_EQ(self->large, mask_of(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(self->all, mask_of(0));

	ATTACH(GCHINT_ROLE_CONCURRENT);
	EXPECT_EQ(self->small, mask_of(0));
	EXPECT_EQ(0, use_put(-1, "off"));
	EXPECT_EQ(self->all, mask_of(0));
	EXPECT_EQ(0, use_put(-1, "affinity"));
	EXPECT_EQ(self->small, mask_of(0));
	session_close(&self->s);
	EXPECT_EQ(self->all, await(0, self->all));
	ASSERT_EQ(0, session_open(&self->s));
}

TEST_F(affinity, a_child_does_not_inherit_it)
{
	ATTACH(GCHINT_ROLE_CONCURRENT);
	ASSERT_EQ(self->small, mask_of(0));
	self->child = fork();
	if (!self->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	EXPECT_EQ(self->all, await(self->child, self->all));
	EXPECT_EQ(self->small, mask_of(0));
}

TEST_F(affinity, a_program_that_another_becomes_is_not_bound)
{
	char ready = 0;
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	self->child = fork();
	if (!self->child) {
		struct session s;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (session_open(&s) ||
		    session_attach(&s, 0, GCHINT_ROLE_CONCURRENT, 0) < 0 ||
		    mask_of(0) != self->small)
			_exit(1);
		if (write(pipes[1], "x", 1) != 1)
			_exit(2);
		execl("/bin/busybox", "sleep", "60", NULL);
		_exit(3);
	}
	ASSERT_EQ(1, read(pipes[0], &ready, 1));
	EXPECT_EQ(self->all, await(self->child, self->all));
	EXPECT_EQ(0, waitpid(self->child, NULL, WNOHANG));
}

TEST_F(affinity, a_phase_without_progress_goes_stale)
{
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "300"));
	ATTACH(GCHINT_ROLE_NONE);
	EDGE(CONCURRENT);
	EXPECT_EQ(self->small, mask_of(0));
	EXPECT_EQ(self->all, await(0, self->all));
}

/* Never to a CPU that its owner did not allow, nor from all that he did. */
TEST_F(affinity, what_its_owner_allows_bounds_it)
{
	unsigned long one_small = self->small & -self->small;
	unsigned long one_large = self->large & -self->large;

	ASSERT_EQ(0, bind_mask(0, one_small | one_large));
	ATTACH(GCHINT_ROLE_CONCURRENT);
	EXPECT_EQ(one_small, mask_of(0));
	EXPECT_EQ(0, session_role(&self->s, self->slot, GCHINT_ROLE_STW, 0));
	EXPECT_EQ(one_large, mask_of(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(one_small | one_large, mask_of(0));
	ASSERT_EQ(0, bind_mask(0, self->large));
	ATTACH(GCHINT_ROLE_CONCURRENT);
	EXPECT_EQ(self->large, mask_of(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(self->large, mask_of(0));
}

TEST_F(affinity, who_binds_later_wins)
{
	unsigned long other = self->all & ~(self->large & -self->large);

	ATTACH(GCHINT_ROLE_NONE);
	EDGE(CONCURRENT);
	EXPECT_EQ(self->small, mask_of(0));
	ASSERT_EQ(0, bind_mask(0, other));
	EXPECT_EQ(0, session_ring(&self->s, self->slot));
	EXPECT_EQ(other, mask_of(0));
	EDGE(NONE);
	EXPECT_EQ(other, mask_of(0));
	EDGE(CONCURRENT);
	EXPECT_EQ(other, mask_of(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(other, mask_of(0));
}

/* To claim the large ones takes the right to raise; to leave them takes none. */
TEST_F(affinity, without_privilege_only_to_small_ones)
{
	int status;

	self->child = fork();
	if (!self->child) {
		struct session s;
		int slot;

		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			_exit(6);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (session_open(&s))
			_exit(1);
		slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
		if (slot < 0)
			_exit(2);
		session_edge(&s, slot, STOPPED);
		if (mask_of(0) != self->all)
			_exit(3);
		session_edge(&s, slot, CONCURRENT);
		if (mask_of(0) != self->small)
			_exit(4);
		session_edge(&s, slot, NONE);
		_exit(mask_of(0) == self->all ? 0 : 5);
	}
	ASSERT_LT(0, self->child);
	ASSERT_EQ(self->child, waitpid(self->child, &status, 0));
	self->child = -1;
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/*
 * Where one policy has it, whoever that sent elsewhere is still its to let go. Many
 * times, for the thread may be moved while its doorbell is answered.
 */
TEST_F(affinity, one_policy_of_several)
{
	unsigned long one = self->large & -self->large;
	int round, tries;

	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, use_put(policy_of(__builtin_ctzl(one)), "affinity"));
	ATTACH(GCHINT_ROLE_NONE);
	for (round = 0; round < 20; round++) {
		/* It may be moved on between the two. */
		for (tries = 0; tries < 50 && mask_of(0) != self->small; tries++) {
			session_edge(&self->s, self->slot, NONE);
			ASSERT_EQ(0, bind_mask(0, one));
			ASSERT_EQ(0, bind_mask(0, self->all));
			EDGE(CONCURRENT);
		}
		ASSERT_EQ(self->small, mask_of(0));
		EXPECT_EQ(0, session_ring(&self->s, self->slot));
		ASSERT_EQ(self->small, mask_of(0))
			TH_LOG("in round %d", round);
		EDGE(NONE);
		EXPECT_EQ(self->all, mask_of(0));
	}
}

TEST_F(affinity, it_is_told_and_the_governor_stays)
{
	uint32_t value;
	char name[16];

	ASSERT_EQ(0, use_told(0, GCHINT_POLICY_A_ACTUATOR, &value));
	EXPECT_EQ(GCHINT_ACTUATOR_AFFINITY, value);
	ASSERT_EQ(0, use_told(0, GCHINT_POLICY_A_CAN, &value));
	EXPECT_EQ(GCHINT_CAN_THREAD, value);
	EXPECT_LT(0, policy_get(0, "scaling_governor", name, sizeof(name)));
	EXPECT_STREQ("schedutil", name);
}

TEST_HARNESS_MAIN
