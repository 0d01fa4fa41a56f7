// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * amd-pstate changes between three modes while it runs. In each of them hints
 * reach the registers by the available actuator, and nothing else in them
 * changes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "module.h"
#include "registers.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define STATUS "/sys/devices/system/cpu/amd_pstate/status"
#define CPU 3
#define LOWEST 20
#define HIGHEST 140
#define CAP (HIGHEST * 45 / 100)
#define SOON_MS 20000		/* an emulated CPU may stall on a busy host */

FIXTURE(pstate) {
	char before[16];
	struct session session;
	struct worker worker;
	int slot;
};

static bool mode_is(const char *mode)
{
	char text[16];

	return file_get(STATUS, text, sizeof(text)) > 0 && !strcmp(text, mode);
}

/* Its policies are recreated, with limits of their own. */
static int mode_put(const char *mode)
{
	char text[32];
	int ret = mode_is(mode) ? 0 : file_put(STATUS, mode);

	if (!ret)
		ret = policy_get(CPU, "cpuinfo_min_freq", text, sizeof(text));
	return ret < 0 ? ret : policy_put(CPU, "scaling_min_freq", text);
}

FIXTURE_SETUP(pstate)
{
	self->session.fd = -1;
	ASSERT_NE(NULL, hw_open());
	ASSERT_STREQ("amd-pstate", hw_open()->name);
	ASSERT_LT(0, file_get(STATUS, self->before, sizeof(self->before)));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, bind_cpu(0));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	ASSERT_EQ(0, worker_start(&self->worker, CPU));
	ASSERT_EQ(0, session_open(&self->session));
	self->slot = session_attach(&self->session, self->worker.tid,
				    GCHINT_ROLE_NONE, 0);
	ASSERT_GE(self->slot, 0);
	worker_do(&self->worker, WORK_SPIN);
}

FIXTURE_TEARDOWN(pstate)
{
	session_close(&self->session);
	worker_stop(&self->worker);
	parameter_put("hint_ttl_ms", "1000");
	use_put(-1, "off");
	mode_put(self->before);
}

/* What counts as a cap, for both actuators. */
static int caps(void)
{
	return tunable_put(CPU, "mode", "table") ?:
		tunable_put(CPU, "cap_pct", "45") ?:
		tunable_put(CPU, "min_latencies", "0");
}

#define AWAIT(value, word) \
	EXPECT_EQ(value, registers_await(CPU, REGISTER_ ## word, value, SOON_MS))

/* Wait until a word is between two values; another running thread lifts it. */
static long await_within(enum register_word word, long low, long high)
{
	long long end = now_us() + SOON_MS * 1000LL;
	long value;

	do {
		value = registers_word(CPU, word);
		if (value >= low && value <= high)
			break;
		sleep_us(500);
	} while (now_us() < end);
	return value;
}

#define AWAIT_CAP(word) do {						\
	long _is = await_within(REGISTER_ ## word, LOWEST, CAP);	\
	EXPECT_LE(_is, CAP);						\
	EXPECT_GE(_is, LOWEST);						\
} while (0)

#define PHASE(phase, flags) \
	ASSERT_LE(0, (session_store(&self->session, self->slot, phase, flags), \
		      session_ring(&self->session, self->slot)))

TEST_F(pstate, passive_governor_requests_a_level)
{
	ASSERT_EQ(0, mode_put("passive"));
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, caps());
	AWAIT(HIGHEST, DESIRED);
	EXPECT_EQ(0, registers_autonomous(CPU, REGISTER_AUTO));
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	AWAIT_CAP(DESIRED);
	PHASE(GCHINT_PHASE_NONE, 0);
	AWAIT(HIGHEST, DESIRED);
}

TEST_F(pstate, guided_schedutil_changes_the_minimum)
{
	ASSERT_EQ(0, mode_put("guided"));
	ASSERT_EQ(0, governor_all("schedutil"));
	EXPECT_EQ(1, registers_autonomous(CPU, REGISTER_AUTO));
	AWAIT(HIGHEST, MIN);
	EXPECT_EQ(0, registers_word(CPU, REGISTER_DESIRED));
	worker_do(&self->worker, WORK_SLEEP);
	EXPECT_GT(HIGHEST, await_within(REGISTER_MIN, 0, HIGHEST - 1));
	EXPECT_EQ(HIGHEST, registers_word(CPU, REGISTER_MAX));
}

/*
 * To the hardware the governor's cap is a lowest level: no bound of its choice.
 */
TEST_F(pstate, guided_governor_cannot_cap)
{
	ASSERT_EQ(0, mode_put("guided"));
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, caps());
	AWAIT(HIGHEST, MIN);
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	AWAIT_CAP(MIN);
	EXPECT_EQ(0, registers_word(CPU, REGISTER_DESIRED));
	EXPECT_EQ(HIGHEST, registers_word(CPU, REGISTER_MAX));
}

TEST_F(pstate, guided_limits_can_cap)
{
	ASSERT_EQ(0, mode_put("guided"));
	ASSERT_EQ(0, governor_all("schedutil"));
	ASSERT_EQ(0, use_put(-1, "limits"));
	ASSERT_EQ(0, caps());
	AWAIT(HIGHEST, MAX);
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	AWAIT_CAP(MAX);
	EXPECT_LE(registers_word(CPU, REGISTER_MIN), CAP);
	ASSERT_EQ(0, use_put(-1, "off"));
	AWAIT(HIGHEST, MAX);
}

TEST_F(pstate, active_takes_no_governor)
{
	ASSERT_EQ(0, mode_put("active"));
	EXPECT_NE(0, policy_put(CPU, "scaling_governor", "gchint"));
	EXPECT_EQ(0, registers_word(CPU, REGISTER_DESIRED));
	EXPECT_EQ(1, registers_autonomous(CPU, REGISTER_AUTO));
}

/* A user's preference and limits, of which hints change only the limits. */
TEST_F(pstate, active_limits_keep_the_preference)
{
	static const struct {
		const char *name;
		long value;
	} preference[] = {
		{ "performance", 0 }, { "balance_performance", 128 },
		{ "balance_power", 191 }, { "power", 255 },
	};
	size_t i;

	ASSERT_EQ(0, mode_put("active"));
	ASSERT_EQ(0, governor_all("powersave"));
	ASSERT_EQ(0, use_put(-1, "limits"));
	ASSERT_EQ(0, caps());
	for (i = 0; i < sizeof(preference) / sizeof(*preference); i++) {
		ASSERT_EQ(0, policy_put(CPU, "energy_performance_preference",
					preference[i].name));
		EXPECT_EQ(preference[i].value, registers_autonomous(CPU, REGISTER_EPP));
		AWAIT(HIGHEST, MAX);
		PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		AWAIT_CAP(MAX);
		EXPECT_EQ(preference[i].value, registers_autonomous(CPU, REGISTER_EPP));
		PHASE(GCHINT_PHASE_MARK, GCHINT_F_STW);
		AWAIT(HIGHEST, MIN);
		EXPECT_EQ(preference[i].value, registers_autonomous(CPU, REGISTER_EPP));
		PHASE(GCHINT_PHASE_NONE, 0);
		AWAIT(LOWEST, MIN);
	}
	ASSERT_EQ(0, policy_put(CPU, "scaling_max_freq", "1500000"));
	AWAIT(100, MAX);
	PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	AWAIT_CAP(MAX);
	PHASE(GCHINT_PHASE_NONE, 0);
	AWAIT(100, MAX);
	ASSERT_EQ(0, policy_put(CPU, "scaling_max_freq", "2100000"));
}

/*
 * The policies of one mode are removed; those of the next get the same
 * settings.
 */
TEST_F(pstate, mode_change_keeps_the_actuator)
{
	static const char *const modes[] = { "passive", "active", "guided" };
	char name[16];
	size_t i;

	ASSERT_EQ(0, use_put(-1, "limits"));
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		ASSERT_EQ(0, mode_put(modes[i]));
		ASSERT_TRUE(mode_is(modes[i]));
		ASSERT_EQ(0, use_await(CPU, "limits", SOON_MS));
		ASSERT_EQ(0, caps());
		PHASE(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		AWAIT_CAP(MAX);
		PHASE(GCHINT_PHASE_NONE, 0);
		AWAIT(HIGHEST, MAX);
	}
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_LT(0, use_get(CPU, name, sizeof(name)));
	EXPECT_STREQ("off", name);
}

/* The driver removes its policies while the module restores them. */
TEST_F_TIMEOUT(pstate, driver_and_module_unload_together, 240)
{
	static const char *const modes[] = { "passive", "active" };
	int i, ret, status;
	pid_t child;

	session_close(&self->session);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, mode_put(modes[i % 2]));
		ASSERT_EQ(0, use_put(-1, "limits"));
		child = fork();
		if (!child) {
			sleep_us(i * 500);
			_exit(file_put(STATUS, modes[(i + 1) % 2]) ? 1 : 0);
		}
		ASSERT_LT(0, child);
		ret = module_unload();
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, module_load());
	}
	ASSERT_EQ(0, mode_put(self->before));
	ASSERT_EQ(0, session_open(&self->session));
}

TEST_HARNESS_MAIN
