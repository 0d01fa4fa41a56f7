// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Under a driver that takes no governor: its limits reach the hardware, none of
 * ours can be chosen there, and the module, hinted at, leaves it as it was.
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
	/* No other CPU's page moves with it. */
	EXPECT_EQ(HIGHEST, registers_word(0, REGISTER_MAX));
	EXPECT_EQ(LOWEST, registers_word(0, REGISTER_MIN));
}

TEST_F(setpolicy, takes_no_governor)
{
	ASSERT_EQ(0, access("/sys/module/cpufreq_gchint", F_OK));
	EXPECT_EQ(-EINVAL, policy_put(CPU, "scaling_governor", "gchint"));
	EXPECT_REQUEST(LOWEST, HIGHEST, 128);
}

/* Nobody has asked the module to act here: a hint is heard and moves nothing. */
TEST_F(setpolicy, hints_move_nothing_unasked)
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

TEST_HARNESS_MAIN
