// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A phase reaches the clock register, and its end restores the frequency.
 *
 * The hinted thread spins on one CPU throughout: load never changes, so only
 * the hint can change the clock. This program reads the hardware from another
 * CPU and sleeps nearly all the time.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "explain.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define TRIALS 15
#define SOON_MS 120000	/* of a CPU that the host may take away for long */

FIXTURE(phase) {
	const struct hw_board *hw;
	struct session session;
	struct worker worker;
	int cpu;		/* of the hinted thread */
	int policy;
	struct session watch;
	int slot;
	long khz[MAX_OPPS];
	int opps;
	long min, max;
	long cap;		/* at least this is above every cap in use here */
	int steady;		/* percent of samples at the maximum */
};

FIXTURE_SETUP(phase)
{
	self->session.fd = -1;
	self->hw = hw_open();
	ASSERT_NE(NULL, self->hw);
	self->cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	ASSERT_GT(self->cpu, 0);
	ASSERT_EQ(0, bind_cpu(0));
	self->policy = policy_of(self->cpu);
	self->opps = opps(self->policy, self->khz, MAX_OPPS);
	ASSERT_GT(self->opps, 1);
	self->min = self->khz[0];
	self->max = self->khz[self->opps - 1];
	self->cap = self->max * 6 / 10;
	/*
	 * In a shared policy other load on the board raises it, too, but a
	 * thread that spins without a cap is never seen below the maximum.
	 */
	self->steady = 95;

	/*
	 * The other policies are idle: some boards share a path to the clocks.
	 */
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "gchint"));
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "0"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));

	self->watch.fd = -1;
	if (!hw_open()->per_cpu)
		ASSERT_EQ(0, session_watch_quietly(&self->watch));
	ASSERT_EQ(0, worker_start(&self->worker, self->cpu));
	ASSERT_EQ(0, session_open(&self->session));
	self->slot = session_attach(&self->session, self->worker.tid,
				    GCHINT_ROLE_NONE, 0);
	ASSERT_GE(self->slot, 0);
}

FIXTURE_TEARDOWN(phase)
{
	session_close(&self->session);
	worker_stop(&self->worker);
	session_close(&self->watch);
	parameter_put("hint_ttl_ms", "1000");
	tunable_put(self->policy, "mode", "model");
	governor_restore();
}

static int ascending(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static bool reaches_max(int cpu, long max)
{
	bool reached = await_khz(cpu, max, max, SOON_MS) >= 0;

	if (!reached)
		explain(cpu);
	return reached;
}

/* Full load, and the clock where load puts it. */
#define SPIN_AT_MAX() do {						\
	worker_do(&self->worker, WORK_SPIN);				\
	ASSERT_TRUE(reaches_max(self->cpu, self->max));			\
} while (0)

/*
 * The board's best time for the same changes when they are requested directly,
 * measured by the same watcher on the same host.
 */
static void by_hand(struct __test_metadata *_metadata,
		    FIXTURE_DATA(phase) *self, long *down, long *up)
{
	long *best[] = { down, up }, khz[] = { self->khz[0], self->max };
	int i;

	*down = *up = LONG_MAX;
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "userspace"));
	for (i = 0; i < 2 * TRIALS; i++) {
		long long begin = now_us();
		char text[32];

		sprintf(text, "%ld", khz[i % 2]);
		ASSERT_EQ(0, policy_put(self->policy, "scaling_setspeed", text));
		ASSERT_GE(await_khz(self->cpu, khz[i % 2], khz[i % 2], SOON_MS), 0);
		if (now_us() - begin < *best[i % 2])
			*best[i % 2] = now_us() - begin;
	}
}

/*
 * Every change arrives. Its latency is printed with that of the same direct
 * change, and not judged: an emulated CPU may lose its host at any time.
 * bench/kmod measures.
 */
TEST_F_TIMEOUT(phase, begin_lowers_and_end_gives_back, 120)
{
	long down[TRIALS], up[TRIALS], hand_down, hand_up;
	int i;

	SPIN_AT_MAX();
	for (i = 0; i < TRIALS; i++) {
		ASSERT_EQ(1, session_edge(&self->session, self->slot,
					  GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT));
		down[i] = await_khz(self->cpu, self->min, self->cap, SOON_MS);
		ASSERT_GE(down[i], 0);
		sleep_us(20000);
		ASSERT_EQ(1, session_edge(&self->session, self->slot,
					  GCHINT_PHASE_NONE, 0));
		up[i] = await_khz(self->cpu, self->max, self->max, SOON_MS);
		ASSERT_GE(up[i], 0);
		sleep_us(20000);
	}
	qsort(down, TRIALS, sizeof(*down), ascending);
	qsort(up, TRIALS, sizeof(*up), ascending);
	by_hand(_metadata, self, &hand_down, &hand_up);
	TH_LOG("begin to clock: best %ld us, median %ld, worst %ld, by hand %ld; end to clock: best %ld us, median %ld, worst %ld, by hand %ld; n %d",
	       down[0], down[TRIALS / 2], down[TRIALS - 1], hand_down,
	       up[0], up[TRIALS / 2], up[TRIALS - 1], hand_up, TRIALS);
}

/* The core voltage follows, where the board changes it. */
TEST_F(phase, voltage_follows)
{
	long uv_max = 0, uv_cap = 0, khz;
	int tries;

	if (!self->hw->uv)
		SKIP(return, "voltage_follows: no supply that changes on %s",
		     self->hw->name);
	SPIN_AT_MAX();
	/*
	 * Clock and voltage of one moment: a host may take the CPU away from a
	 * spinning reader.
	 */
	for (tries = 0; tries < SOON_MS; tries++) {
		khz = hw_khz(self->cpu);
		uv_max = hw_uv(self->cpu);
		if (khz == self->max && hw_khz(self->cpu) == khz)
			break;
		sleep_us(1000);
	}
	ASSERT_LT(tries, SOON_MS);
	ASSERT_EQ(1, session_edge(&self->session, self->slot,
				  GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT));
	/* The same for the cap. */
	for (tries = 0; tries < SOON_MS; tries++) {
		khz = hw_khz(self->cpu);
		uv_cap = hw_uv(self->cpu);
		if (khz <= self->cap && uv_cap < uv_max &&
		    hw_khz(self->cpu) == khz)
			break;
		sleep_us(1000);
	}
	TH_LOG("%ld uV at the highest clock, %ld uV in the phase", uv_max, uv_cap);
	EXPECT_LT(uv_cap, uv_max);
	EXPECT_GT(uv_cap, 500000);
	ASSERT_EQ(1, session_edge(&self->session, self->slot,
				  GCHINT_PHASE_NONE, 0));
	for (tries = 0; tries < SOON_MS && hw_uv(self->cpu) != uv_max; tries++)
		sleep_us(1000);
	EXPECT_EQ(uv_max, hw_uv(self->cpu));
}

/*
 * A mutator that rested by itself until now has work queued. If it goes on
 * without a rest, that is how it works, and the cap applies again.
 */
TEST_F_TIMEOUT(phase, queued_work_lifts_the_cap, 120)
{
	int i;

	ASSERT_EQ(0, tunable_put(self->policy, "mode", "model"));
	ASSERT_EQ(0, tunable_put(self->policy, "budget", "50"));
	for (i = 0; i < 2; i++) {
		worker_do(&self->worker, WORK_LIGHT);
		sleep_us(300000);
		SPIN_AT_MAX();
		if (await_khz(self->cpu, self->min, self->max - 1, SOON_MS) < 0 && !i)
			SKIP(return, "queued_work_lifts_the_cap: no frequency of %s saves energy",
			     self->hw->name);
		/*
		 * Not all the time: where the lowest clock takes twice the
		 * time, half as long again allows it for two thirds.
		 */
		EXPECT_GT(share_khz(self->cpu, self->min, self->max - 1, 50), 50);
	}
}

/*
 * No doorbell at all: the kernel sees the store when the scheduler calls its
 * hook.
 */
TEST_F(phase, store_alone_is_seen)
{
	SPIN_AT_MAX();
	session_store(&self->session, self->slot, GCHINT_PHASE_MARK,
		      GCHINT_F_CONCURRENT);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	session_store(&self->session, self->slot, GCHINT_PHASE_NONE, 0);
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
}

/* The last decision of the CPU's policy gets that reason. */
static bool becomes_reason(int cpu, uint32_t reason)
{
	uint32_t value;
	int tries;

	for (tries = 0; tries < SOON_MS; tries++) {
		if (!use_attribute(cpu, GCHINT_POLICY_A_REASON, &value) && value == reason)
			return true;
		sleep_us(1000);
	}
	return false;
}

/* A pause raises the clock by itself: the decision names it, not load. */
TEST_F_TIMEOUT(phase, pause_raises_before_load_does, 120)
{
	long best = -1;
	int i;

	/* Load may raise it once per interval. */
	ASSERT_EQ(0, tunable_put(self->policy, "hold_us", "100000"));
	for (i = 0; i < TRIALS; i++) {
		long us;

		worker_do(&self->worker, WORK_LIGHT);
		ASSERT_GE(await_khz(self->cpu, self->min, self->max / 2, SOON_MS), 0);
		session_store(&self->session, self->slot, GCHINT_PHASE_REMARK,
			      GCHINT_F_STW);
		worker_do(&self->worker, WORK_SPIN);
		session_ring(&self->session, self->slot);
		us = await_khz(self->cpu, self->max, self->max, SOON_MS);
		ASSERT_GE(us, 0);
		EXPECT_TRUE(becomes_reason(self->cpu, GCHINT_REASON_STW));
		best = best < 0 || us < best ? us : best;
		session_edge(&self->session, self->slot, GCHINT_PHASE_NONE, 0);
	}
	TH_LOG("pause to highest clock: best %ld us of %d", best, TRIALS);
	tunable_put(self->policy, "hold_us", "10000");
}

/* The flags decide: the same phase with each flag. */
TEST_F(phase, flags_decide)
{
	static const struct {
		unsigned int flags;
		bool capped;
	} cases[] = {
		{ GCHINT_F_CONCURRENT, true },
		{ GCHINT_F_STW, false },
		{ GCHINT_F_FOREGROUND, false },
		{ GCHINT_F_URGENT | GCHINT_F_CONCURRENT, false },
		{ GCHINT_F_STW | GCHINT_F_CONCURRENT, false },
		{ GCHINT_F_FOREGROUND | GCHINT_F_CONCURRENT, false },
		{ 0, false },
		{ GCHINT_F_CONCURRENT | 0x80, true },	/* unknown: ignored */
	};
	size_t i;

	SPIN_AT_MAX();
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		session_store(&self->session, self->slot, GCHINT_PHASE_MARK,
			      cases[i].flags);
		ASSERT_EQ(0, session_ring(&self->session, self->slot));
		if (cases[i].capped) {
			EXPECT_GE(await_khz(self->cpu, self->min, self->cap,
					    SOON_MS), 0)
				TH_LOG("flags %#x", cases[i].flags);
		} else {
			EXPECT_GE(await_khz(self->cpu, self->max, self->max,
					    SOON_MS), 0)
				TH_LOG("flags %#x", cases[i].flags);
			/* ... and stays there. */
			EXPECT_GE(share_khz(self->cpu, self->max, self->max, 50),
				  self->steady)
				TH_LOG("flags %#x", cases[i].flags);
		}
	}
}

/* An unknown phase counts as none, whatever its flags. */
TEST_F(phase, unknown_phase_is_none)
{
	SPIN_AT_MAX();
	session_store(&self->session, self->slot, 200, GCHINT_F_CONCURRENT);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	sleep_us(30000);
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 50), self->steady);
}

/*
 * A hint that progresses until its cap is seen: a watcher with a busy host may
 * well pause for as long as a hint without progress counts.
 */
static bool moving_hint_caps(FIXTURE_DATA(phase) *self)
{
	long long end = now_us() + SOON_MS * 1000LL;

	do {
		if (session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
				 GCHINT_F_CONCURRENT) < 0)
			return false;
		if (await_khz(self->cpu, self->min, self->cap, 20) >= 0)
			return true;
	} while (now_us() < end);
	return false;
}

/* A phase whose sequence does not advance is stale after hint_ttl_ms. */
TEST_F_TIMEOUT(phase, stale_hint_is_ignored, 120)
{
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "200"));
	EXPECT_EQ(200, self->session.info->hint_ttl_ms);
	SPIN_AT_MAX();
	ASSERT_TRUE(moving_hint_caps(self));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	sleep_us(300000);
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 50), self->steady);
	/* It advances again: it counts again. */
	EXPECT_TRUE(moving_hint_caps(self));
}

/* The cap applies to the hinted thread only: it never slows a neighbour. */
TEST_F(phase, neighbour_is_not_slowed)
{
	struct worker other;

	/* The watcher may run on the neighbour's CPU. */
	session_close(&self->watch);
	SPIN_AT_MAX();
	ASSERT_EQ(0, worker_start(&other, self->cpu - 1));
	worker_do(&other, WORK_SPIN);
	ASSERT_TRUE(reaches_max(other.cpu, self->max));
	ASSERT_EQ(1, session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	if (self->hw->per_cpu) {
		EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	} else {
		sleep_us(50000);
	}
	EXPECT_GE(share_khz(other.cpu, self->max, self->max, 100), self->steady);
	worker_stop(&other);
	if (!self->hw->per_cpu)
		EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
}

/* A phase counts only while its thread is the one that runs. */
TEST_F(phase, sleeping_thread_does_not_count)
{
	struct worker other;

	ASSERT_EQ(0, worker_start(&other, self->cpu));
	session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
		     GCHINT_F_CONCURRENT);
	worker_do(&other, WORK_SPIN);
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	/* The hinted thread takes its share, at its own frequency. */
	worker_do(&self->worker, WORK_SPIN);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	worker_stop(&other);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
}

/*
 * On an idle CPU the governor is not called. What a waiting thread lowered
 * there is restored all the same, and lowered again when a thread runs.
 */
TEST_F_TIMEOUT(phase, waiting_restores_the_frequency, 120)
{
	int i;

	if (!self->hw->per_cpu)
		SKIP(return, "other CPUs decide for the policy, too");
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "model"));
	for (i = 0; i < TRIALS; i++) {
		SPIN_AT_MAX();
		worker_do(&self->worker, WORK_SLEEP);
		ASSERT_GE(await_khz(self->cpu, self->min, self->min, SOON_MS), 0);
	}
	SPIN_AT_MAX();
}

/* A standing role counts whenever the thread runs; a phase overrides it. */
TEST_F(phase, role_counts_without_a_phase)
{
	SPIN_AT_MAX();
	ASSERT_EQ(0, session_role(&self->session, self->slot,
				  GCHINT_ROLE_CONCURRENT, 0));
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	session_store(&self->session, self->slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	session_store(&self->session, self->slot, GCHINT_PHASE_NONE, 0);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	ASSERT_EQ(0, session_role(&self->session, self->slot,
				  GCHINT_ROLE_NONE, 0));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
}

/* A coordinator announces once for a worker that follows its slot. */
TEST_F(phase, follower_uses_its_leaders_phase)
{
	struct worker coordinator;
	int lead;

	ASSERT_EQ(0, worker_start(&coordinator, 0));
	lead = session_attach(&self->session, coordinator.tid,
			      GCHINT_ROLE_NONE, 0);
	ASSERT_GE(lead, 0);
	ASSERT_EQ(0, session_role(&self->session, self->slot,
				  GCHINT_ROLE_FOLLOW, lead));
	SPIN_AT_MAX();
	session_store(&self->session, lead, GCHINT_PHASE_MARK,
		      GCHINT_F_CONCURRENT);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	session_store(&self->session, lead, GCHINT_PHASE_NONE, 0);
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	/* Its leader's slot is released: nothing to follow. */
	session_store(&self->session, lead, GCHINT_PHASE_MARK,
		      GCHINT_F_CONCURRENT);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	ASSERT_EQ(0, session_detach(&self->session, lead));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	worker_stop(&coordinator);
}

/* Without a budget a thread that works all the time is never slowed, with one it is. */
TEST_F_TIMEOUT(phase, budget_bounds_what_is_lost, 120)
{
	char text[256];

	ASSERT_EQ(0, tunable_put(self->policy, "mode", "model"));
	ASSERT_EQ(0, tunable_put(self->policy, "budget", "0"));
	SPIN_AT_MAX();
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 100), self->steady);
	ASSERT_EQ(0, tunable_put(self->policy, "budget", "50"));
	if (await_khz(self->cpu, self->min, self->max - 1, SOON_MS) < 0)
		SKIP(return, "budget_bounds_what_is_lost: no frequency of %s saves energy",
		     self->hw->name);
	ASSERT_EQ(0, tunable_put(self->policy, "budget", "0"));
	ASSERT_TRUE(reaches_max(self->cpu, self->max));
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 100), self->steady);
	ASSERT_GT(file_get("/sys/kernel/debug/gchint/budget", text, sizeof(text)), 0);
	EXPECT_NE(NULL, strstr(text, "delay_cost="));
}

/* Mode off, or another governor: a hint changes nothing. */
TEST_F(phase, off_means_load_only)
{
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "off"));
	SPIN_AT_MAX();
	session_store(&self->session, self->slot, GCHINT_PHASE_MARK,
		      GCHINT_F_CONCURRENT);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	sleep_us(30000);
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 100), self->steady);
	/* Turned on in mid-phase: the phase counts. */
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	ASSERT_EQ(0, governor_all("schedutil"));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	EXPECT_GE(share_khz(self->cpu, self->max, self->max, 100), self->steady);
}

/* The user's limits apply to a boost, and end when they are lifted. */
TEST_F(phase, limits_apply)
{
	char text[32];

	sprintf(text, "%ld", self->khz[0]);
	SPIN_AT_MAX();
	session_store(&self->session, self->slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	ASSERT_EQ(0, session_ring(&self->session, self->slot));
	ASSERT_EQ(0, policy_put(self->policy, "scaling_max_freq", text));
	EXPECT_GE(await_khz(self->cpu, self->min, self->khz[0], SOON_MS), 0);
	EXPECT_GE(share_khz(self->cpu, self->min, self->khz[0], 100), self->steady);
	sprintf(text, "%ld", self->max);
	ASSERT_EQ(0, policy_put(self->policy, "scaling_max_freq", text));
	EXPECT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
}

/*
 * A sleeping driver may still be switching to a cap when rules change: the
 * frequency in force is outdated, and a boost that follows is not lost.
 */
TEST_F_TIMEOUT(phase, rules_change_while_the_driver_works, 120)
{
	int i;

	SPIN_AT_MAX();
	for (i = 0; i < 4 * TRIALS; i++) {
		session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
			     GCHINT_F_CONCURRENT);
		sleep_us(i % TRIALS * 200);
		ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
		session_edge(&self->session, self->slot, GCHINT_PHASE_REMARK,
			     GCHINT_F_STW);
		/*
		 * The cap may still be in force; the driver has finished now.
		 */
		sleep_us(20000);
		ASSERT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	}
}

/*
 * A cap lasts as long as its phase, also while another CPU of the policy is
 * evaluated again and again (this program, which wakes every millisecond) and
 * the capped one, which never switches threads, is not; and after rules have
 * changed.
 */
TEST_F_TIMEOUT(phase, cap_lasts_next_to_other_cpus, 120)
{
	int i;

	SPIN_AT_MAX();
	ASSERT_EQ(1, session_edge(&self->session, self->slot, GCHINT_PHASE_MARK,
				  GCHINT_F_CONCURRENT));
	for (i = 0; i < TRIALS; i++) {
		int share;

		ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
		ASSERT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
		share = share_khz(self->cpu, self->min, self->cap, 200);
		TH_LOG("capped %d %% of the time", share);
		EXPECT_GE(share, 80);
	}
}

TEST_HARNESS_MAIN
