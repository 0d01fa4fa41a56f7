// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The human-readable tables: sources of power, and the histogram of latencies.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define DEBUGFS "/sys/kernel/debug/gchint"
#define EDGES 20

FIXTURE(debugfs) {
	const struct hw_board *hw;
	struct session session;
	char min_latencies[16];
};

FIXTURE_SETUP(debugfs)
{
	self->session.fd = -1;
	self->hw = hw_open();
	ASSERT_NE(NULL, self->hw);
	governor_save();
	/* Reloaded, so that all counts are zero. */
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, governor_all("gchint"));
	tunable_get(0, "min_latencies", self->min_latencies, sizeof(self->min_latencies));
}

FIXTURE_TEARDOWN(debugfs)
{
	session_close(&self->session);
	tunable_put(0, "min_latencies", self->min_latencies);
	tunable_put(0, "mode", "model");
	governor_restore();
}

/* A word NAME=VALUE of a line. */
static const char *value_of(const char *line, const char *name)
{
	static char value[64];
	const char *at = strstr(line, name);

	value[0] = '\0';
	if (at)
		sscanf(at + strlen(name), "=%63s", value);
	return value;
}

/*
 * The most trusted source that the board has. Versatile Express has an energy
 * model and voltages, SABRE Lite voltages alone, the PC what its firmware
 * states.
 */
TEST_F(debugfs, power_has_the_best_source)
{
	char line[256];

	ASSERT_GT(file_get(DEBUGFS "/opps", line, sizeof(line)), 0);
	EXPECT_EQ(0, strncmp(line, "policy0 ", 8));
	EXPECT_STREQ(self->hw->power, value_of(line, "source"));
	EXPECT_STREQ(self->hw->joules ? "uW" : "relative", value_of(line, "unit"));
}

/* Every OPP has a value: a source with a missing one is not used. */
TEST_F(debugfs, power_of_each_opp_is_known)
{
	FILE *in = fopen(DEBUGFS "/opps", "re");
	unsigned long khz, power, first = 0, before = 0;
	long known[MAX_OPPS];
	char line[256];
	int n = 0;

	ASSERT_NE(NULL, in);
	while (fgets(line, sizeof(line), in)) {
		if (!strncmp(line, "policy", 6)) {
			if (n)
				break;
			continue;
		}
		ASSERT_EQ(2, sscanf(line, "%lu %lu", &khz, &power))
			TH_LOG("%s", line);
		EXPECT_GT(khz, before);
		EXPECT_GT(power, 0);
		before = khz;
		if (!n++)
			first = khz;
	}
	fclose(in);
	if (has_table(0)) {
		EXPECT_EQ(opps(0, known, MAX_OPPS), n);
		return;
	}
	/* Evenly spaced points if the driver names no OPPs. */
	EXPECT_EQ(24, n);
	EXPECT_EQ(policy_number(0, "cpuinfo_min_freq"), first);
	EXPECT_EQ(policy_number(0, "cpuinfo_max_freq"), before);
}

static void spin_us(long us)
{
	long long end = now_us() + us;

	while (now_us() < end)
		;
}

/* Hints that change the clock, each long enough for a worker's request. */
static void make_edges(struct session *s, int slot)
{
	int i;

	for (i = 0; i < EDGES; i++) {
		session_store(s, slot, i % 2 ? GCHINT_PHASE_NONE : GCHINT_PHASE_MARK,
			      i % 2 ? 0 : GCHINT_F_CONCURRENT);
		session_ring(s, slot);
		spin_us(20000);
	}
}

/*
 * One of "policy0 p50<N p99<N"; ">=N" for times beyond the last bound, where a
 * host took the CPU away for that long.
 */
static unsigned long long quantile(const char *line, const char *name)
{
	const char *at = strstr(line, name);
	unsigned long long ns;

	if (at && sscanf(at + strlen(name), "<%llu", &ns) == 1)
		return ns;
	return at && sscanf(at + strlen(name), ">=%llu", &ns) == 1 ? ULLONG_MAX : 0;
}

TEST_F(debugfs, latency_is_counted_in_narrow_buckets)
{
	unsigned long long end, before, p50, p99, from50, from99, count, all;
	FILE *in;
	char line[256];
	int slot, policy = -1;

	ASSERT_EQ(0, tunable_put(0, "mode", "table"));
	ASSERT_EQ(0, tunable_put(0, "min_latencies", "0"));
	ASSERT_EQ(0, bind_cpu(0));
	ASSERT_EQ(0, session_open(&self->session));
	slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	spin_us(100000);
	make_edges(&self->session, slot);

	in = fopen(DEBUGFS "/latency", "re");
	ASSERT_NE(NULL, in);
	p50 = p99 = before = all = from50 = from99 = 0;
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "policy%d", &policy) == 1) {
			if (policy)
				continue;
			p50 = quantile(line, " p50");
			p99 = quantile(line, " p99");
			ASSERT_TRUE(p50 && p99)
				TH_LOG("%s", line);
			continue;
		}
		if (policy != 0)
			continue;
		if (sscanf(line, ">=%llu %llu", &end, &count) == 2) {
			EXPECT_GE(end, before);
			end = ULLONG_MAX;
		} else {
			ASSERT_EQ(2, sscanf(line, "<%llu %llu", &end, &count))
				TH_LOG("%s", line);
			EXPECT_GT(end, before);
			/* A quarter of a power of two. */
			EXPECT_EQ(0, end % (1ull << (61 - __builtin_clzll(end - 1))));
		}
		EXPECT_GE(end, 4096);
		EXPECT_GT(count, 0);
		before = end;
		all += count;
		from50 += end <= p50 ? count : 0;
		from99 += end <= p99 ? count : 0;
	}
	fclose(in);
	/* Where CPUs share a clock another one may have kept it there. */
	EXPECT_GT(all, self->hw->per_cpu ? EDGES / 4 : 0);
	EXPECT_LE(all, 3 * EDGES);
	EXPECT_GE(from50 * 2, all);
	EXPECT_GE(from99 * 100, 99ull * all);
	EXPECT_GE(p99, p50);
}

/* Number of samples of the threads' own work; -1 without such a line. */
static int own_samples(void)
{
	FILE *in = fopen(DEBUGFS "/model", "re");
	int samples = -1;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, "  none ", 7))
			samples = atoi(value_of(line, "samples"));
	if (in)
		fclose(in);
	return samples;
}

/* Outside of phases, at two alternating frequencies, it publishes its work. */
TEST_F_TIMEOUT(debugfs, own_work_of_a_program_is_learned, 120)
{
	char low[32], high[32], before[32];
	volatile struct gchint_slot *slot;
	long long end;
	int n, i;

	snprintf(low, sizeof(low), "%ld", policy_number(0, "cpuinfo_min_freq"));
	snprintf(high, sizeof(high), "%ld", policy_number(0, "cpuinfo_max_freq"));
	ASSERT_LT(0, policy_get(0, "scaling_max_freq", before, sizeof(before)));
	ASSERT_EQ(0, bind_cpu(0));
	ASSERT_EQ(0, session_open(&self->session));
	n = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, n);
	slot = &self->session.slots[n];
	/* A thread that publishes nothing is not learned. */
	for (end = now_us() + 300000; now_us() < end;)
		;
	EXPECT_EQ(-1, own_samples());
	for (i = 0; i < 100 && own_samples() < 4; i++) {
		EXPECT_EQ(0, policy_put(0, "scaling_max_freq", i & 1 ? high : low));
		for (end = now_us() + 200000; now_us() < end;)
			slot->own_work += 100;
	}
	policy_put(0, "scaling_max_freq", before);
	EXPECT_LE(4, own_samples());
}

TEST_HARNESS_MAIN
