// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The actuator "clamp": what a thread's utilisation is taken for follows what it
 * says, and nothing else of its attributes does. Seen with sched_getattr(2).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "placement.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define SOON_US 120000000
#define ALL 1024u
/* More of the largest CPU than this and it is taken to be too small. */
#define FITS ((uint32_t)capacity_fits(ALL))

struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t min, max;
};

#define RESET_ON_FORK 0x01
#define KEEP_ALL 0x18
#define CLAMP_MIN 0x20
#define CLAMP_MAX 0x40

static struct attr get(int tid)
{
	struct attr a = { 0 };

	if (syscall(SYS_sched_getattr, tid, &a, sizeof(a), 0))
		a.size = 0;
	return a;
}

static int put(int tid, struct attr a)
{
	a.size = sizeof(a);
	return syscall(SYS_sched_setattr, tid, &a, 0) ? -errno : 0;
}

static uint32_t upper(int tid)
{
	return get(tid).max;
}

static uint32_t lower(int tid)
{
	return get(tid).min;
}

/* Waits: what is put back when nobody calls comes a little later. */
static uint32_t await(uint32_t (*side)(int tid), int tid, uint32_t value)
{
	long long end = now_us() + SOON_US;

	while (side(tid) != value && now_us() < end)
		sleep_us(2000);
	return side(tid);
}

/* The same for each policy: a thread may be on any. */
static int tunable_all(const char *name, const char *text)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i, ret = n ? 0 : -ENODEV;

	for (i = 0; i < n && !ret; i++)
		ret = tunable_put(number[i], name, text);
	return ret;
}

FIXTURE(clamp) {
	bool known;
	struct session s;
	int slot;
};

FIXTURE_SETUP(clamp)
{
	governor_save();
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, session_open(&self->s));
	self->known = self->s.info->features & GCHINT_FEATURE_CLAMP;
	ASSERT_EQ(self->known ? 0 : -EOPNOTSUPP, use_put(-1, "clamp"));
	if (!self->known)
		SKIP(return, "this kernel has no utilisation clamps");
	ASSERT_EQ(0, tunable_all("cap_mark_pct", "45"));
	ASSERT_EQ(0, tunable_all("cap_collect_pct", "30"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	self->slot = -1;
}

FIXTURE_TEARDOWN(clamp)
{
	parameter_put("hint_ttl_ms", "1000");
	session_close(&self->s);
	use_put(-1, "off");
	governor_restore();
}

/* Who is leased and caps nothing; where cores differ he leaves room on a large one. */
static uint32_t leased(void)
{
	return capacity_least() < ALL ? FITS : ALL;
}

/* A percentage; where cores differ at most what fits a small one. */
static uint32_t part(unsigned int pct)
{
	uint32_t least = capacity_least(), most = capacity_fits(least);

	return least < ALL && ALL * pct / 100 > most ? most : ALL * pct / 100;
}

/* A fixture cannot skip its test. */
#define NEEDS_CLAMPS()							\
	do {								\
		if (!self->known)					\
			SKIP(return, "this kernel has no utilisation clamps"); \
	} while (0)

TEST_F(clamp, a_phase_is_clamped_at_its_doorbell_and_let_go_at_the_next)
{
	NEEDS_CLAMPS();
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(leased(), upper(0));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	EXPECT_EQ(part(45), upper(0));
	EXPECT_EQ(0, lower(0));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_NONE, 0));
	EXPECT_EQ(leased(), upper(0));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_STW));
	EXPECT_EQ(FITS, lower(0));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_NONE, 0));
	EXPECT_EQ(0, lower(0));
}

TEST_F(clamp, a_role_needs_no_doorbell)
{
	NEEDS_CLAMPS();
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(part(30), upper(0));
	EXPECT_EQ(0, session_role(&self->s, self->slot, GCHINT_ROLE_STW, 0));
	EXPECT_EQ(leased(), upper(0));
	EXPECT_EQ(FITS, lower(0));
	EXPECT_EQ(0, session_role(&self->s, self->slot, GCHINT_ROLE_NONE, 0));
	EXPECT_EQ(0, lower(0));
}

TEST_F(clamp, every_end_of_a_lease_puts_it_back)
{
	struct worker w;

	NEEDS_CLAMPS();
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(part(30), upper(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(ALL, upper(0));

	ASSERT_EQ(0, worker_start(&w, 0));
	ASSERT_LE(0, session_attach(&self->s, w.tid, GCHINT_ROLE_CONCURRENT, 0));
	EXPECT_EQ(part(30), upper(w.tid));
	EXPECT_EQ(0, use_put(-1, "off"));
	EXPECT_EQ(ALL, upper(w.tid));
	EXPECT_EQ(0, use_put(-1, "clamp"));
	/* It knows whom it missed, and what changes. */
	EXPECT_EQ(part(60), upper(w.tid));
	ASSERT_EQ(0, tunable_all("cap_collect_pct", "30"));
	EXPECT_EQ(part(30), await(upper, w.tid, part(30)));
	ASSERT_EQ(0, tunable_all("mode", "off"));
	EXPECT_EQ(ALL, await(upper, w.tid, ALL));
	ASSERT_EQ(0, tunable_all("mode", "model"));
	EXPECT_EQ(part(30), await(upper, w.tid, part(30)));
	session_close(&self->s);
	EXPECT_EQ(ALL, await(upper, w.tid, ALL));
	worker_stop(&w);
	ASSERT_EQ(0, session_open(&self->s));
}

TEST_F(clamp, a_program_that_another_becomes_is_not_clamped)
{
	char ready = 0;
	int pipes[2];
	pid_t child;

	NEEDS_CLAMPS();
	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	if (!child) {
		struct session s;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (session_open(&s) ||
		    session_attach(&s, 0, GCHINT_ROLE_CONCURRENT, 0) < 0 ||
		    upper(0) != part(30))
			_exit(1);
		if (write(pipes[1], "x", 1) != 1)
			_exit(2);
		execl("/bin/busybox", "sleep", "60", NULL);
		_exit(3);
	}
	ASSERT_EQ(1, read(pipes[0], &ready, 1));
	EXPECT_EQ(ALL, await(upper, child, ALL));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_F(clamp, a_child_does_not_inherit_it)
{
	pid_t child;

	NEEDS_CLAMPS();
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	ASSERT_EQ(part(30), upper(0));
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	EXPECT_EQ(ALL, await(upper, child, ALL));
	EXPECT_EQ(part(30), upper(0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_F(clamp, a_phase_without_progress_goes_stale)
{
	NEEDS_CLAMPS();
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "300"));
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	EXPECT_EQ(leased(), await(upper, 0, leased()));
	/* A phase that ends without a doorbell is seen soon as well. */
	session_store(&self->s, self->slot, GCHINT_PHASE_NONE, 0);
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	EXPECT_EQ(part(45), upper(0));
	session_store(&self->s, self->slot, GCHINT_PHASE_NONE, 0);
	EXPECT_EQ(leased(), await(upper, 0, leased()));
}

TEST_F(clamp, all_else_stays_as_it_was)
{
	struct attr a = { .policy = SCHED_BATCH, .flags = RESET_ON_FORK,
			  .nice = 7 };

	NEEDS_CLAMPS();
	ASSERT_EQ(0, put(0, a));
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	a = get(0);
	EXPECT_EQ(part(30), a.max);
	EXPECT_EQ(SCHED_BATCH, a.policy);
	EXPECT_EQ(7, a.nice);
	EXPECT_EQ(RESET_ON_FORK, a.flags & RESET_ON_FORK);
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	a = get(0);
	EXPECT_EQ(ALL, a.max);
	EXPECT_EQ(SCHED_BATCH, a.policy);
	EXPECT_EQ(7, a.nice);
	EXPECT_EQ(RESET_ON_FORK, a.flags & RESET_ON_FORK);
	a = (struct attr){ .policy = SCHED_OTHER };
	EXPECT_EQ(0, put(0, a));
}

/* Its lower clamp is the highest there is: both have to go down. */
TEST_F(clamp, a_real_time_thread_gets_both_back)
{
	struct attr a = { .policy = SCHED_FIFO, .priority = 5 };

	NEEDS_CLAMPS();
	ASSERT_EQ(0, put(0, a));
	EXPECT_EQ(ALL, lower(0));
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(part(30), upper(0));
	EXPECT_EQ(part(30), lower(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(ALL, upper(0));
	EXPECT_EQ(ALL, lower(0));
	EXPECT_EQ(SCHED_FIFO, get(0).policy);
	EXPECT_EQ(5, get(0).priority);
	a = (struct attr){ .policy = SCHED_OTHER };
	EXPECT_EQ(0, put(0, a));
}

TEST_F(clamp, what_its_owner_set_stays)
{
	struct attr a = { .policy = SCHED_OTHER,
			  .flags = KEEP_ALL | CLAMP_MIN | CLAMP_MAX,
			  .min = 100, .max = 200 };

	NEEDS_CLAMPS();
	ASSERT_EQ(0, put(0, a));
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(200, upper(0));
	EXPECT_EQ(100, lower(0));
	EXPECT_EQ(0, session_role(&self->s, self->slot, GCHINT_ROLE_STW, 0));
	EXPECT_EQ(200, upper(0));
	EXPECT_EQ(200, lower(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(200, upper(0));
	EXPECT_EQ(100, lower(0));
}

TEST_F(clamp, who_writes_later_wins)
{
	struct attr a = { .policy = SCHED_OTHER, .flags = KEEP_ALL | CLAMP_MAX,
			  .max = 700 };

	NEEDS_CLAMPS();
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_CONCURRENT, 0);
	ASSERT_LE(0, self->slot);
	EXPECT_EQ(part(30), upper(0));
	ASSERT_EQ(0, put(0, a));
	EXPECT_EQ(0, session_ring(&self->s, self->slot));
	EXPECT_EQ(700, upper(0));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	EXPECT_EQ(700, upper(0));
	EXPECT_EQ(0, session_detach(&self->s, self->slot));
	EXPECT_EQ(700, upper(0));
}

TEST_F(clamp, a_follower_is_clamped_by_its_leader)
{
	struct worker w;

	NEEDS_CLAMPS();
	ASSERT_EQ(0, worker_start(&w, 0));
	self->slot = session_attach(&self->s, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, self->slot);
	ASSERT_LE(0, session_attach(&self->s, w.tid, GCHINT_ROLE_FOLLOW,
				    self->slot));
	EXPECT_EQ(leased(), upper(w.tid));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	EXPECT_EQ(part(45), upper(w.tid));
	EXPECT_EQ(1, session_edge(&self->s, self->slot, GCHINT_PHASE_NONE, 0));
	EXPECT_EQ(leased(), upper(w.tid));
	worker_stop(&w);
}

TEST_F(clamp, it_is_told_and_the_governor_stays)
{
	uint32_t value;
	char name[16];

	NEEDS_CLAMPS();
	ASSERT_EQ(0, use_told(0, GCHINT_POLICY_A_ACTUATOR, &value));
	EXPECT_EQ(GCHINT_ACTUATOR_CLAMP, value);
	ASSERT_EQ(0, use_told(0, GCHINT_POLICY_A_CAN, &value));
	EXPECT_EQ(GCHINT_CAN_LIMITS | GCHINT_CAN_THREAD, value);
	EXPECT_LT(0, policy_get(0, "scaling_governor", name, sizeof(name)));
	EXPECT_STREQ("schedutil", name);
	EXPECT_LT(0, use_get(-1, name, sizeof(name)));
	EXPECT_STREQ("clamp", name);
}

TEST(affinity_is_refused_where_cpus_are_alike)
{
	char name[16];

	if (capacity_least() < ALL)
		SKIP(return, "they are not");
	EXPECT_EQ(-EOPNOTSUPP, use_put(-1, "affinity"));
	EXPECT_LT(0, use_get(-1, name, sizeof(name)));
	EXPECT_STREQ("off", name);
}

TEST_HARNESS_MAIN
