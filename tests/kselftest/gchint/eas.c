// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Two big and two LITTLE cores under Energy-Aware Scheduling: the board has the
 * properties that placement tests rely on, another governor than schedutil on
 * one policy disables it, and the actuator "limits" keeps it.
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
#include "sysfs.h"
#include "use.h"

#define BIG 0			/* policies, by their first CPU */
#define LITTLE 2
#define LITTLE_CPUS 0xcUL
#define SOON_MS 20000		/* an emulated CPU may stall on a busy host */

FIXTURE(eas) {
	struct napper napper;
};

FIXTURE_SETUP(eas)
{
	governor_save();
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_TRUE(await_eas(true, SOON_MS));
}

FIXTURE_TEARDOWN(eas)
{
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

/*
 * Each OPP of a cluster arrives in its clock and leaves the other's unchanged.
 */
TEST_F(eas, one_clock_per_cluster)
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

/* A nearly idle thread belongs on a small core, wherever it started. */
TEST_F(eas, small_task_goes_to_a_small_core)
{
	int there;

	ASSERT_EQ(0, napper_start(&self->napper, 0, 0));
	there = await_placement(&self->napper, LITTLE_CPUS, 90, 100, SOON_MS);
	napper_stop(&self->napper);
	EXPECT_GE(there, 90)
		TH_LOG("%d %% of the last 100 wake-ups on CPUs 2 and 3", there);
}

/*
 * EAS needs schedutil on every CPU: another governor on one ends it for all.
 * Six waits of SOON_MS at most, each for the kernel to rebuild its scheduling
 * domains.
 */
TEST_F_TIMEOUT(eas, only_with_schedutil_everywhere, 240)
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

/*
 * The log warns once that the governor ends it, and names the actuator that
 * keeps it.
 */
TEST_F(eas, log_warns_that_the_governor_ends_it)
{
	int log = klog_open_now();

	ASSERT_LE(0, log);
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, module_load());
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "limits"));
	EXPECT_TRUE(await_eas(true, SOON_MS));
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_EQ(0, klog_count(log, "Energy-Aware Scheduling"));

	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "gchint"));
	EXPECT_EQ(1, klog_count(log, "GCHINT_HINTS=clamp"));
	ASSERT_EQ(0, policy_put(BIG, "scaling_governor", "gchint"));
	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "schedutil"));
	ASSERT_EQ(0, policy_put(LITTLE, "scaling_governor", "gchint"));
	EXPECT_EQ(0, klog_count(log, "Energy-Aware Scheduling"));
	close(log);
}

TEST_HARNESS_MAIN
