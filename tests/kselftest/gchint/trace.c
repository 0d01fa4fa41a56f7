// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The tracepoints, as tools see them: formats that a parser in user space can
 * use, and events in the trace for what was done.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define TRACING "/sys/kernel/tracing"
#define EVENTS TRACING "/events/gchint"

static const char * const names[] = { "gchint_phase", "gchint_decision", "gchint_lease" };

#define NAMES (sizeof(names) / sizeof(*names))

FIXTURE(trace) {
	struct session session;
	char min_latencies[16];
};

FIXTURE_SETUP(trace)
{
	self->session.fd = -1;
	governor_save();
	ASSERT_EQ(0, governor_all("gchint"));
	tunable_get(0, "min_latencies", self->min_latencies, sizeof(self->min_latencies));
	ASSERT_EQ(0, tunable_put(0, "mode", "table"));
	ASSERT_EQ(0, tunable_put(0, "min_latencies", "0"));
	/* A busy host may keep the guest from running for longer than a second. */
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	ASSERT_EQ(0, bind_cpu(0));
}

FIXTURE_TEARDOWN(trace)
{
	file_put(EVENTS "/enable", "0");
	session_close(&self->session);
	tunable_put(0, "min_latencies", self->min_latencies);
	tunable_put(0, "mode", "model");
	parameter_put("hint_ttl_ms", "1000");
	governor_restore();
}

/* A whole file of tracefs. */
static char *slurp(const char *path)
{
	static char text[1 << 18];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0, got;

	while (fd >= 0 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	return text;
}

TEST_F(trace, formats_can_be_parsed)
{
	char path[128], *text, *line, *print;
	size_t i;

	for (i = 0; i < NAMES; i++) {
		int fields = 0, end = 0;

		snprintf(path, sizeof(path), EVENTS "/%s/format", names[i]);
		text = slurp(path);
		print = strstr(text, "print fmt:");
		ASSERT_NE(NULL, print)
			TH_LOG("%s", path);
		/*
		 * An unexpanded name of ours there would be unknown to any
		 * tool.
		 */
		EXPECT_EQ(NULL, strstr(print, "GCHINT_"))
			TH_LOG("%s: %.60s", names[i], strstr(print, "GCHINT_"));
		for (line = strtok(text, "\n"); line && line < print; line = strtok(NULL, "\n")) {
			int offset, size;
			char *at = strstr(line, "offset:");

			if (!strstr(line, "field:"))
				continue;
			ASSERT_NE(NULL, at);
			ASSERT_EQ(2, sscanf(at, "offset:%d; size:%d;", &offset, &size));
			EXPECT_GE(offset, end);
			EXPECT_GT(size, 0);
			end = offset + size;
			fields++;
		}
		EXPECT_GT(fields, 8);
	}
}

/* Lines of the trace that have all the given words. */
static int lines_with(char *text, const char *a, const char *b, const char *c)
{
	char *line, *next;
	int n = 0;

	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next = '\0';
		n += strstr(line, a) && strstr(line, b) && strstr(line, c);
		if (next)
			*next++ = '\n';
	}
	return n;
}

/*
 * A phase counts while its thread runs, and some drivers switch in a thread:
 * run in the phase until its decision is in the trace, for a minute at most.
 */
static bool run_until(const char *reason, const char *phase)
{
	long long end = now_us() + 60000000;
	bool seen;

	do {
		seen = lines_with(slurp(TRACING "/trace"), "gchint_decision:", reason, phase);
	} while (!seen && now_us() < end);
	return seen;
}

/* By its own load: from there a cap is a change, and so is a boost after it. */
static bool run_up_to(long khz)
{
	long long end = now_us() + 60000000;

	while (policy_number(0, "scaling_cur_freq") != khz && now_us() < end)
		;
	return policy_number(0, "scaling_cur_freq") == khz;
}

TEST_F_TIMEOUT(trace, events_match_the_actions, 240)
{
	char tid[32], *text;
	int slot, i;

	ASSERT_TRUE(run_up_to(policy_number(0, "cpuinfo_max_freq")));
	ASSERT_EQ(0, file_put(TRACING "/tracing_on", "1"));
	ASSERT_EQ(0, file_put(TRACING "/trace", "\n"));
	ASSERT_EQ(0, file_put(EVENTS "/enable", "1"));
	ASSERT_EQ(0, session_open(&self->session));
	slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_MARK,
					  GCHINT_F_CONCURRENT));
		if (!i)
			EXPECT_TRUE(run_until("reason=table", "phase=mark"));
		EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_REMARK,
					  GCHINT_F_STW));
		if (!i)
			EXPECT_TRUE(run_until("reason=stw", "phase=remark"));
		EXPECT_EQ(1, session_edge(&self->session, slot, GCHINT_PHASE_NONE, 0));
		sleep_us(10000);
	}
	ASSERT_EQ(0, session_detach(&self->session, slot));
	ASSERT_EQ(0, file_put(EVENTS "/enable", "0"));

	snprintf(tid, sizeof(tid), "tid=%ld ", syscall(SYS_gettid));
	text = slurp(TRACING "/trace");
	EXPECT_EQ(1, lines_with(text, "gchint_lease:", tid, "what=attach"));
	EXPECT_EQ(1, lines_with(text, "gchint_lease:", tid, "what=detach"));
	EXPECT_EQ(10, lines_with(text, "gchint_phase:", tid, "phase=mark flags=concurrent"));
	EXPECT_EQ(10, lines_with(text, "gchint_phase:", tid, "phase=remark flags=stw"));
	EXPECT_EQ(10, lines_with(text, "gchint_phase:", tid, "phase=none"));
	EXPECT_EQ(0, lines_with(text, "gchint_", "GCHINT_", ""));
}

TEST_HARNESS_MAIN
