// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Two big and two LITTLE cores under Energy-Aware Scheduling: the board is what
 * tests of placement take it for, who takes schedutil away switches it off, and
 * clamps of what a program says leave it on and place the program's threads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "klog.h"
#include "module.h"
#include "placement.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define BIG 0			/* policies, by their first CPU */
#define LITTLE 2
#define BIG_CPUS 0x3UL
#define LITTLE_CPUS 0xcUL
#define SOON_MS 20000		/* an emulated CPU on a busy machine may stand still */

#define BUSY_US 40000		/* between naps of 8 ms: nobody takes that for little */
#define WAKES 20
#define FAR_NS 600000000000ULL	/* nobody waits for so long */
#define NEAR_NS 300000000ULL

FIXTURE(eas) {
	struct napper napper, mutator;
	struct session session;
	int slot;
};

FIXTURE_SETUP(eas)
{
	self->session.fd = -1;
	governor_save();
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_TRUE(await_eas(true, SOON_MS));
}

FIXTURE_TEARDOWN(eas)
{
	session_close(&self->session);
	parameter_put("hint_ttl_ms", "1000");
	use_put(-1, "off");
	governor_restore();
}

TEST_F(eas, two_clusters)
{
	int number[MAX_POLICIES];
	char text[64];

	ASSERT_NE(NULL, hw_open());
	policy_get(BIG, "scaling_driver", text, sizeof(text));
	EXPECT_STREQ(hw_open()->driver, text);
	ASSERT_EQ(hw_open()->per_cpu ? 4 : 2, policies(number, MAX_POLICIES));
	EXPECT_EQ(hw_open()->per_cpu ? 1 : BIG, policy_of(1));
	EXPECT_EQ(hw_open()->per_cpu ? 3 : LITTLE, policy_of(3));
	EXPECT_EQ(1024, cpu_capacity(0));
	EXPECT_EQ(1024, cpu_capacity(1));
	EXPECT_LT(cpu_capacity(2), 512);
	EXPECT_EQ(cpu_capacity(2), cpu_capacity(3));
	EXPECT_GT(cpu_capacity(2), 0);
}

/* Each OPP of a cluster arrives in its clock and leaves the other's alone. */
TEST_F(eas, a_clock_a_cluster)
{
	static const int first[] = { BIG, LITTLE };
	size_t p;

	if (hw_open()->per_cpu)
		SKIP(return, "each CPU has a clock of its own");
	ASSERT_EQ(0, governor_all("userspace"));
	for (p = 0; p < 2; p++) {
		long khz[MAX_OPPS], other = hw_khz(first[!p]);
		int i, n = opps(first[p], khz, MAX_OPPS);
		char text[32];

		ASSERT_GT(n, 4);
		for (i = 0; i < n; i++) {
			sprintf(text, "%ld", khz[i]);
			ASSERT_EQ(0, policy_put(first[p], "scaling_setspeed", text));
			EXPECT_EQ(khz[i], hw_khz(first[p]));
			EXPECT_EQ(khz[i], hw_khz(first[p] + 1));
			EXPECT_EQ(other, hw_khz(first[!p]));
		}
	}
}

/* What hardly does anything belongs on a small core, wherever it began. */
TEST_F(eas, small_task_goes_to_a_small_core)
{
	int there;

	ASSERT_EQ(0, napper_start(&self->napper, 0, 0));
	there = await_placement(&self->napper, LITTLE_CPUS, 90, 100, SOON_MS);
	napper_stop(&self->napper);
	EXPECT_GE(there, 90)
		TH_LOG("%d %% of the last 100 wake-ups on CPUs 2 and 3", there);
}

/* EAS wants schedutil on every CPU: another governor on one ends it for all. */
TEST_F(eas, only_with_schedutil_everywhere)
{
	static const char *const others[] = { "performance", "ondemand", "gchint" };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", others[i]))
			TH_LOG("%s", others[i]);
		EXPECT_TRUE(await_eas(false, SOON_MS))
			TH_LOG("still on under %s", others[i]);
		ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "schedutil"));
		EXPECT_TRUE(await_eas(true, SOON_MS))
			TH_LOG("not on again after %s", others[i]);
	}
}

/* Does the kernel know them? */
static bool clamps(void)
{
	int ret = use_put(-1, "clamp");

	use_put(-1, "off");
	return ret != -EOPNOTSUPP;
}

/* Who loses it by choosing our governor is told, once, with the way that keeps it. */
TEST_F(eas, the_log_says_that_the_governor_ends_it)
{
	int log = klog_open_now();

	ASSERT_LE(0, log);
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, module_load());
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, governor_all("schedutil"));
	if (clamps())
		ASSERT_EQ(0, use_put(-1, "clamp"));
	EXPECT_TRUE(await_eas(true, SOON_MS));
	ASSERT_EQ(0, use_put(-1, "limits"));
	EXPECT_TRUE(await_eas(true, SOON_MS));
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_EQ(0, klog_count(log, "Energy-Aware Scheduling"));

	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "gchint"));
	EXPECT_EQ(1, klog_count(log, "gchintctl use clamp"));
	ASSERT_EQ(0, policy_put(BIG, "scaling_governor", "gchint"));
	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "schedutil"));
	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "gchint"));
	EXPECT_EQ(0, klog_count(log, "Energy-Aware Scheduling"));
	close(log);
}

/* A program with a thread that mutates and one that collects; both are busy. */
static void program(struct __test_metadata *_metadata, FIXTURE_DATA(eas) *self)
{
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	ASSERT_EQ(0, napper_start(&self->mutator, BIG, BUSY_US));
	ASSERT_EQ(0, napper_start(&self->napper, BIG + 1, BUSY_US));
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_LE(0, session_attach(&self->session, self->mutator.tid,
				    GCHINT_ROLE_NONE, 0));
	self->slot = session_attach(&self->session, self->napper.tid,
				    GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, self->slot);
}

static void program_end(FIXTURE_DATA(eas) *self)
{
	napper_stop(&self->napper);
	napper_stop(&self->mutator);
}

#define PHASE(phase, flags)						\
	ASSERT_LE(0, (session_store(&self->session, self->slot, phase, flags), \
		      session_ring(&self->session, self->slot)))

#define EXPECT_PLACE(thread, cpus, what) do {				\
	int _share = await_placement(thread, cpus, 90, WAKES, SOON_MS);	\
									\
	EXPECT_GE(_share, 90)						\
		TH_LOG("%d %% of the last wake-ups on " #cpus ", " what, _share); \
} while (0)

static void phases_place(struct __test_metadata *_metadata, FIXTURE_DATA(eas) *self,
			 const char *way)
{
	program(_metadata, self);
	EXPECT_PLACE(&self->napper, BIG_CPUS, "unasked");
	ASSERT_EQ(0, use_put(-1, way));
	EXPECT_EQ(1, eas_on());
	EXPECT_PLACE(&self->napper, BIG_CPUS, "in no phase");
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_PLACE(&self->napper, LITTLE_CPUS, "concurrent");
	EXPECT_PLACE(&self->mutator, BIG_CPUS, "while another collects");
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_STW);
	EXPECT_PLACE(&self->napper, BIG_CPUS, "all wait");
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_PLACE(&self->napper, LITTLE_CPUS, "concurrent again");
	EXPECT_EQ(1, eas_on());
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_PLACE(&self->napper, BIG_CPUS, "off");
	EXPECT_EQ(1, eas_on());
	program_end(self);
}

TEST_F(eas, phases_place_a_collector_and_off_lets_it_go)
{
	if (!clamps())
		SKIP(return, "this kernel has no utilisation clamps");
	phases_place(_metadata, self, "clamp");
}

/* For that no kernel needs to know clamps. */
TEST_F(eas, phases_bind_a_collector_and_off_lets_it_go)
{
	phases_place(_metadata, self, "affinity");
}

/* Where it would stall, by the rate that was seen, it is not sent to a small core. */
TEST_F(eas, a_deadline_decides_between_small_and_big)
{
	uint64_t done = 0;
	int there = 0, i;

	if (!clamps())
		SKIP(return, "this kernel has no utilisation clamps");
	program(_metadata, self);
	ASSERT_EQ(0, use_put(-1, "clamp"));
	session_progress(&self->session, self->slot, 0, 900, now_us() * 1000ULL + FAR_NS);
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_PLACE(&self->napper, BIG_CPUS, "at a rate that nobody knows");
	for (i = 0; i < SOON_MS / 1000 && there < 90; i++) {
		done += 100;
		session_progress(&self->session, self->slot, done, done + 900,
				 now_us() * 1000ULL + FAR_NS);
		ASSERT_EQ(0, session_ring(&self->session, self->slot));
		there = await_placement(&self->napper, LITTLE_CPUS, 90, WAKES / 2, 1000);
	}
	EXPECT_GE(there, 90) TH_LOG("%d %% on small cores, with time enough", there);
	session_progress(&self->session, self->slot, done, done + 900,
			 now_us() * 1000ULL + NEAR_NS);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	EXPECT_PLACE(&self->napper, BIG_CPUS, "which a stall waits for");
	program_end(self);
}

#define TOLD "/sys/kernel/debug/gchint/overutilised"

/* Until the scheduler says that of some domain; "" until nothing is said of any. */
static bool await_told(const char *what, char *text, size_t size)
{
	int ms;

	for (ms = 0; ms < SOON_MS; ms += 20) {
		file_get(TOLD, text, size);
		if (*what ? strstr(text, what) != NULL : !*text)
			return true;
		sleep_us(20000);
	}
	return false;
}

/* One busy program that nobody clamps, and nothing is placed by energy. It is said. */
TEST_F(eas, who_suspends_it_is_told)
{
	struct worker busy;
	char text[256];

	ASSERT_TRUE(await_told("", text, sizeof(text))) TH_LOG("%s", text);
	if (!clamps())
		SKIP(return, "this kernel has no utilisation clamps");
	ASSERT_EQ(0, use_put(-1, "clamp"));
	ASSERT_EQ(0, worker_start(&busy, BIG + 1));
	worker_do(&busy, WORK_SPIN);
	EXPECT_TRUE(await_told("overutilised=1", text, sizeof(text))) TH_LOG("%s", text);
	EXPECT_EQ(1, eas_on());
	worker_do(&busy, WORK_LIGHT);
	EXPECT_TRUE(await_told("overutilised=0", text, sizeof(text))) TH_LOG("%s", text);
	EXPECT_EQ(NULL, strstr(text, "times=0"));
	worker_stop(&busy);
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_TRUE(await_told("", text, sizeof(text))) TH_LOG("%s", text);
}

TEST_HARNESS_MAIN
