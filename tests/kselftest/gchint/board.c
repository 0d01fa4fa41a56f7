// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The board has the properties that other tests rely on: driver, policies, and
 * a frequency that reaches the hardware. Needs no gchint governor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "sysfs.h"

FIXTURE(board) {
	const struct hw_board *hw;
	int cpus;
	int policies;
};

/* Every policy under "userspace": only the test changes frequencies. */
FIXTURE_SETUP(board)
{
	self->hw = hw_open();
	ASSERT_NE(NULL, self->hw);
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	self->policies = self->hw->per_cpu ? self->cpus : 1;
	governor_save();
	ASSERT_EQ(0, governor_all("userspace"));
}

FIXTURE_TEARDOWN(board)
{
	governor_restore();
}

TEST_F(board, driver_is_bound)
{
	char text[64];

	policy_get(0, "scaling_driver", text, sizeof(text));
	EXPECT_STREQ(self->hw->driver, text);
}

TEST_F(board, policies)
{
	char text[64], expected[64] = "";
	int cpu;

	for (cpu = 0; cpu < self->cpus; cpu++)
		sprintf(expected + strlen(expected), "%s%d", cpu ? " " : "", cpu);
	policy_get(0, "affected_cpus", text, sizeof(text));
	if (!self->hw->per_cpu) {
		EXPECT_STREQ(expected, text);
		return;
	}
	for (cpu = 0; cpu < self->cpus; cpu++) {
		sprintf(expected, "%d", cpu);
		policy_get(cpu, "affected_cpus", text, sizeof(text));
		EXPECT_STREQ(expected, text);
	}
}

static int set_khz(int policy, long khz)
{
	char text[32];

	sprintf(text, "%ld", khz);
	return policy_put(policy, "scaling_setspeed", text);
}

/*
 * Each OPP of each policy, up and down, arrives in the register, and no other
 * CPU's register changes with it.
 */
TEST_F(board, frequency_reaches_the_hardware)
{
	long khz[MAX_OPPS], before[HW_CPUS];
	int p, other, n, i;

	for (p = 0; p < self->policies; p++) {
		n = opps(p, khz, MAX_OPPS);
		ASSERT_GT(n, 1);
		for (i = 0; i < 2 * n; i++) {
			long want = khz[i < n ? i : 2 * n - 1 - i];

			for (other = 0; other < self->cpus; other++)
				before[other] = hw_khz(other);
			ASSERT_EQ(0, set_khz(p, want));
			EXPECT_EQ(want, hw_khz(p));
			for (other = 0; other < self->cpus; other++) {
				if (other == p)
					continue;
				EXPECT_EQ(self->hw->per_cpu ? before[other] : want,
					  hw_khz(other));
			}
		}
	}
}

/*
 * Where a regulator supplies the cores, a higher frequency needs a higher
 * voltage.
 */
TEST_F(board, voltage_follows)
{
	long khz[MAX_OPPS], uv_low, uv_high;
	int n;

	if (!self->hw->uv)
		SKIP(return, "voltage_follows: no supply that changes on %s",
		     self->hw->name);
	n = opps(0, khz, MAX_OPPS);
	ASSERT_GT(n, 1);
	ASSERT_EQ(0, set_khz(0, khz[0]));
	uv_low = hw_uv(0);
	ASSERT_EQ(0, set_khz(0, khz[n - 1]));
	uv_high = hw_uv(0);
	EXPECT_GT(uv_low, 500000);
	EXPECT_GT(uv_high, uv_low);
}

TEST_HARNESS_MAIN
