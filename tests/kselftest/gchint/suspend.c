// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Suspend and resume with a phase open, as deep as the kernel's own test levels
 * go: tasks frozen, devices suspended, and where the machine can, CPUs offline.
 * These boards have no source that would wake them from real sleep.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "explain.h"
#include "genl.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define POWER "/sys/power"
#define DELAY "/sys/module/suspend/parameters/pm_test_delay"
#define SOON_MS 10000

FIXTURE(suspend) {
	const struct hw_board *hw;
	struct session session;
	struct session watch;
	struct worker worker;
	char delay[16], cap_pct[16], min_latencies[16];
	int cpu, policy, slot;
	long cpus, max, cap;
};

FIXTURE_SETUP(suspend)
{
	self->session.fd = -1;
	self->watch.fd = -1;
	self->hw = hw_open();
	ASSERT_NE(NULL, self->hw);
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	self->cpu = self->cpus - 1;
	ASSERT_EQ(0, bind_cpu(0));
	self->policy = policy_of(self->cpu);
	self->max = policy_number(self->policy, "cpuinfo_max_freq");
	self->cap = self->max * 6 / 10;
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "gchint"));
	tunable_get(self->policy, "cap_pct", self->cap_pct, 16);
	tunable_get(self->policy, "min_latencies", self->min_latencies, 16);
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "0"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	file_get(DELAY, self->delay, sizeof(self->delay));
	/* Seconds between the stop of a CPU and its start: see cpu_plug(). */
	file_put(DELAY, "1");
	if (!self->hw->per_cpu)
		ASSERT_EQ(0, session_watch_quietly(&self->watch));
	ASSERT_EQ(0, worker_start(&self->worker, self->cpu));
	ASSERT_EQ(0, session_open(&self->session));
	self->slot = session_attach(&self->session, self->worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(self->slot, 0);
}

FIXTURE_TEARDOWN(suspend)
{
	file_put(POWER "/pm_test", "none");
	file_put(DELAY, self->delay);
	session_close(&self->session);
	worker_stop(&self->worker);
	session_close(&self->watch);
	parameter_put("hint_ttl_ms", "1000");
	tunable_put(self->policy, "cap_pct", self->cap_pct);
	tunable_put(self->policy, "min_latencies", self->min_latencies);
	tunable_put(self->policy, "mode", "model");
	governor_restore();
}

/* Milliseconds in that phase, all policies and OPPs together, from debugfs. */
static long ms_in_phase(const char *phase)
{
	FILE *in = fopen("/sys/kernel/debug/gchint/time_in_phase", "re");
	char line[512], name[32];
	long sum = 0;

	while (in && fgets(line, sizeof(line), in)) {
		char *at = line, *end;
		int used;

		if (sscanf(line, "%31s%n", name, &used) != 1 || strcmp(name, phase))
			continue;
		for (at += used;; at = end) {
			long ms = strtol(at, &end, 10);

			if (end == at)
				break;
			sum += ms;
		}
	}
	if (in)
		fclose(in);
	return sum;
}

static bool offered(const char *file, const char *word)
{
	char path[64], text[128], *p;

	snprintf(path, sizeof(path), POWER "/%s", file);
	file_get(path, text, sizeof(text));
	for (p = strtok(text, " []"); p; p = strtok(NULL, " []"))
		if (!strcmp(p, word))
			return true;
	return false;
}

/* "mem" may be no more than "freeze", whose tests end at "platform". */
static bool only_idles(const char *state)
{
	char text[64];

	file_get(POWER "/mem_sleep", text, sizeof(text));
	return !strcmp(state, "mem") && strstr(text, "[s2idle]");
}

/* -1: not offered; else its duration in ms, or -errno - 1000 of the write */
static long sleep_at(const char *level, const char *state)
{
	long long begin = now_us();
	int ret;

	if (!offered("pm_test", level) || !offered("state", state) || only_idles(state))
		return -1;
	ret = file_put(POWER "/pm_test", level);
	if (!ret)
		ret = file_put(POWER "/state", state);
	return ret ? ret - 1000 : (now_us() - begin) / 1000;
}

static bool comes_to_cap(int cpu, long cap)
{
	bool came = await_khz(cpu, 0, cap, SOON_MS) >= 0;

	if (!came)
		explain(cpu);
	return came;
}

TEST_F_TIMEOUT(suspend, with_a_phase_open, 180)
{
	static const struct {
		const char *level, *state;
	} depth[] = {
		{ "freezer", "freeze" }, { "devices", "freeze" }, { "platform", "freeze" },
		{ "processors", "mem" }, { "core", "mem" },
	};
	int times = 0, edges = 0;
	uint32_t slots = 0;
	struct genl g;
	size_t i;

	if (access(POWER "/pm_test", F_OK))
		SKIP(return, "with_a_phase_open: this kernel has no " POWER "/pm_test");
	worker_do(&self->worker, WORK_SPIN);
	ASSERT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	ASSERT_EQ(1, session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	ASSERT_GE(await_khz(self->cpu, 0, self->cap, SOON_MS), 0);
	for (i = 0; i < sizeof(depth) / sizeof(*depth); i++) {
		long long begin = now_us();
		long before = ms_in_phase("mark"), took, during;
		char governor[32];

		took = sleep_at(depth[i].level, depth[i].state);
		if (took == -1)
			continue;
		during = ms_in_phase("mark") - before;
		TH_LOG("%s at %s: %ld ms, %ld of them in the phase", depth[i].state,
		       depth[i].level, took, during);
		ASSERT_GE(took, 0);
		ASSERT_EQ(self->cpus, sysconf(_SC_NPROCESSORS_ONLN));
		times++;
		/* At most the elapsed time, whichever clock stopped. */
		EXPECT_GE(during, 0);
		EXPECT_LE(during, (now_us() - begin) / 1000 + 1);
		/* The lease, the governor and the phase have survived. */
		policy_get(self->policy, "scaling_governor", governor, sizeof(governor));
		EXPECT_STREQ("gchint", governor);
		ASSERT_EQ(0, genl_open(&g));
		EXPECT_EQ(0, genl_info(&g, GCHINT_A_SLOTS, &slots));
		genl_close(&g);
		EXPECT_EQ(self->watch.fd < 0 ? 1 : 2, (int)slots);
		EXPECT_GE(await_khz(self->cpu, 0, self->cap, SOON_MS), 0);
		/* And decisions continue. */
		edges += session_edge(&self->session, self->slot, GCHINT_PHASE_NONE, 0) == 1;
		EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
		edges += session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
				      GCHINT_F_CONCURRENT) == 1;
		ASSERT_TRUE(comes_to_cap(self->cpu, self->cap));
	}
	EXPECT_EQ(2 * times, edges);
	EXPECT_GT(times, 0);
}

TEST_HARNESS_MAIN
