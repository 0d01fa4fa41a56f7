// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The board is what the other tests take it for: driver, policies, and a
 * frequency that reaches the hardware. Needs no governor of ours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq"

static int put(int policy, const char *file, const char *text)
{
	char path[128];
	FILE *f;
	int bad;

	snprintf(path, sizeof(path), CPUFREQ "/policy%d/%s", policy, file);
	f = fopen(path, "w");
	if (!f)
		return -1;
	bad = fputs(text, f) < 0;
	return fclose(f) || bad ? -1 : 0;
}

static char *get(int policy, const char *file, char *text, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), CPUFREQ "/policy%d/%s", policy, file);
	f = fopen(path, "r");
	if (!f || !fgets(text, size, f))
		text[0] = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

FIXTURE(board) {
	const struct hw_board *hw;
	int cpus;
	int policies;
	char governor[HW_CPUS][32];
};

/* Every policy under "userspace": nothing moves but what a test moves. */
FIXTURE_SETUP(board)
{
	int p;

	self->hw = hw_open();
	ASSERT_NE(NULL, self->hw);
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	self->policies = self->hw->per_cpu ? self->cpus : 1;
	for (p = 0; p < self->policies; p++) {
		get(p, "scaling_governor", self->governor[p],
		    sizeof(self->governor[p]));
		ASSERT_EQ(0, put(p, "scaling_governor", "userspace"));
	}
}

FIXTURE_TEARDOWN(board)
{
	int p;

	for (p = 0; p < self->policies; p++)
		EXPECT_EQ(0, put(p, "scaling_governor", self->governor[p]));
}

TEST_F(board, driver_is_bound)
{
	char text[64];

	EXPECT_STREQ(self->hw->driver,
		     get(0, "scaling_driver", text, sizeof(text)));
}

TEST_F(board, policies)
{
	char text[64], expected[64] = "";
	int cpu;

	for (cpu = 0; cpu < self->cpus; cpu++)
		sprintf(expected + strlen(expected), "%s%d", cpu ? " " : "", cpu);
	get(0, "affected_cpus", text, sizeof(text));
	if (!self->hw->per_cpu) {
		EXPECT_STREQ(expected, text);
		return;
	}
	for (cpu = 0; cpu < self->cpus; cpu++) {
		sprintf(expected, "%d", cpu);
		EXPECT_STREQ(expected,
			     get(cpu, "affected_cpus", text, sizeof(text)));
	}
}

/* opps - frequencies of a policy in kHz, in the order of sysfs; their number */
static int opps(int policy, long *khz, int max)
{
	char list[512], *p;
	int n = 0;

	get(policy, "scaling_available_frequencies", list, sizeof(list));
	for (p = strtok(list, " "); p && n < max; p = strtok(NULL, " "))
		khz[n++] = atol(p);
	return n;
}

static int set_khz(int policy, long khz)
{
	char text[32];

	sprintf(text, "%ld", khz);
	return put(policy, "scaling_setspeed", text);
}

/*
 * Each OPP of each policy, up and down, arrives in the register, and no other
 * CPU's register moves with it.
 */
TEST_F(board, frequency_reaches_the_hardware)
{
	long khz[32], before[HW_CPUS];
	int p, other, n, i;

	for (p = 0; p < self->policies; p++) {
		n = opps(p, khz, 32);
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

/* Where a regulator supplies the cores, more frequency means more voltage. */
TEST_F(board, voltage_follows)
{
	long khz[32], low, high, uv_low, uv_high;
	int n, i;

	if (!self->hw->uv)
		SKIP(return, "voltage_follows: no supply that changes on %s",
		     self->hw->name);
	n = opps(0, khz, 32);
	ASSERT_GT(n, 1);
	low = high = khz[0];
	for (i = 1; i < n; i++) {
		low = khz[i] < low ? khz[i] : low;
		high = khz[i] > high ? khz[i] : high;
	}
	ASSERT_EQ(0, set_khz(0, low));
	uv_low = hw_uv(0);
	ASSERT_EQ(0, set_khz(0, high));
	uv_high = hw_uv(0);
	EXPECT_GT(uv_low, 500000);
	EXPECT_GT(uv_high, uv_low);
}

TEST_HARNESS_MAIN
