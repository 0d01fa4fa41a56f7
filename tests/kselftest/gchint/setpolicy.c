// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Under a driver without governors: its limits reach the hardware, the gchint
 * governor cannot be chosen there, and the module, while hinted, leaves it
 * unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "registers.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define CPU 1
#define LOWEST 20
#define HIGHEST 140
#define SOON_MS 10000

FIXTURE(setpolicy) {
	struct session session;
};

FIXTURE_SETUP(setpolicy)
{
	self->session.fd = -1;
	ASSERT_NE(NULL, hw_open());
	ASSERT_STREQ("x86-setpolicy", hw_open()->name);
	ASSERT_EQ(0, governor_all("powersave"));
}

FIXTURE_TEARDOWN(setpolicy)
{
	session_close(&self->session);
	policy_put(CPU, "scaling_min_freq", "300000");
	policy_put(CPU, "scaling_max_freq", "2100000");
	governor_all("powersave");
}

#define EXPECT_REQUEST(min, max, epp) do {				\
	EXPECT_EQ(max, registers_await(CPU, REGISTER_MAX, max, SOON_MS));	\
	EXPECT_EQ(min, registers_await(CPU, REGISTER_MIN, min, SOON_MS));	\
	EXPECT_EQ(epp, registers_await(CPU, REGISTER_EPP, epp, SOON_MS));	\
	EXPECT_EQ(0, registers_word(CPU, REGISTER_DESIRED));		\
} while (0)

TEST_F(setpolicy, the_hardware_chooses)
{
	char text[64];

	policy_get(CPU, "scaling_available_governors", text, sizeof(text));
	EXPECT_STREQ("performance powersave", text);
	EXPECT_REQUEST(LOWEST, HIGHEST, 128);
	ASSERT_EQ(0, policy_put(CPU, "scaling_governor", "performance"));
	EXPECT_REQUEST(HIGHEST, HIGHEST, 0);
}

TEST_F(setpolicy, limits_reach_the_hardware)
{
	ASSERT_EQ(0, policy_put(CPU, "scaling_max_freq", "1500000"));
	EXPECT_REQUEST(LOWEST, 100, 128);
	ASSERT_EQ(0, policy_put(CPU, "scaling_min_freq", "900000"));
	EXPECT_REQUEST(60, 100, 128);
	ASSERT_EQ(0, policy_put(CPU, "scaling_governor", "performance"));
	EXPECT_REQUEST(100, 100, 0);
	/* No other CPU's page changes with it. */
	EXPECT_EQ(HIGHEST, registers_word(0, REGISTER_MAX));
	EXPECT_EQ(LOWEST, registers_word(0, REGISTER_MIN));
}

TEST_F(setpolicy, governor_is_refused)
{
	ASSERT_EQ(0, access("/sys/module/cpufreq_gchint", F_OK));
	EXPECT_EQ(-EINVAL, policy_put(CPU, "scaling_governor", "gchint"));
	EXPECT_REQUEST(LOWEST, HIGHEST, 128);
}

/* No actuator is chosen here: a hint is accepted and changes nothing. */
TEST_F(setpolicy, hints_change_nothing_without_actuator)
{
	int slot, i;

	ASSERT_EQ(0, bind_cpu(CPU));
	ASSERT_EQ(0, session_open(&self->session));
	slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	for (i = 0; i < 20; i++) {
		session_store(&self->session, slot, GCHINT_PHASE_MARK,
			      GCHINT_F_CONCURRENT);
		ASSERT_EQ(0, session_ring(&self->session, slot));
		sleep_us(10000);
		EXPECT_REQUEST(LOWEST, HIGHEST, 128);
	}
}

#define NO_TURBO "/sys/module/setpolicy_board/parameters/no_turbo"

/* The highest frequency that the module knows of a policy, kHz. */
static long known_highest(int policy)
{
	FILE *in = fopen("/sys/kernel/debug/gchint/opps", "re");
	long khz = 0, highest = 0;
	int number = -1, other;
	char line[128];

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "policy%d", &other) == 1)
			number = other;
		else if (number == policy && sscanf(line, "%ld", &khz) == 1)
			highest = khz;
	}
	if (in)
		fclose(in);
	return highest;
}

/*
 * Percentages and what is learned are relative to the current highest
 * frequency.
 */
TEST_F(setpolicy, limits_follow_the_hardware_maximum)
{
	static const struct {
		const char *no_turbo;
		long khz;
	} steps[] = { { "1", 1500000 }, { "0", 2100000 } };
	struct worker worker;
	int slot;
	size_t i;

	ASSERT_EQ(0, worker_start(&worker, CPU));
	worker_do(&worker, WORK_SPIN);
	ASSERT_EQ(0, session_open(&self->session));
	slot = session_attach(&self->session, worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	ASSERT_EQ(0, use_put(CPU, "limits"));
	EXPECT_EQ(2100000, known_highest(CPU));
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		long long end = now_us() + SOON_MS * 1000LL;

		ASSERT_EQ(0, file_put(NO_TURBO, steps[i].no_turbo));
		ASSERT_EQ(steps[i].khz, policy_number(CPU, "cpuinfo_max_freq"));
		do {
			session_edge(&self->session, slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
			session_edge(&self->session, slot, GCHINT_PHASE_NONE, 0);
		} while (known_highest(CPU) != steps[i].khz && now_us() < end);
		EXPECT_EQ(steps[i].khz, known_highest(CPU));
	}
	EXPECT_EQ(0, use_put(CPU, "off"));
	worker_stop(&worker);
}

TEST_HARNESS_MAIN
