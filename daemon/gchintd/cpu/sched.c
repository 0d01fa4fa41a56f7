// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler's account of each hinted thread: time on a CPU, time runnable
 * but waiting, slices (schedstat), migrations (sched), user and system time
 * and the CPU that it ran on last (stat).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../hint/tracker.h"
#include "../source/source.h"

struct sched {
	struct host *host;
	struct watch *timer;
	long ticks; /* per second, of utime and stime */
};

/* "se.nr_migrations   :   12" */
static int64_t migrations_parse(const char *text)
{
	const char *at = strstr(text, "nr_migrations");

	at = at ? strchr(at, ':') : NULL;
	return at ? strtoll(at + 1, NULL, 10) : UNKNOWN_S64;
}

static void times_parse(const struct sched *s, const char *stat, struct record_sched *to)
{
	unsigned long long utime, stime;
	/* The name in parentheses may contain parentheses, too. */
	const char *at = strrchr(stat, ')');

	to->utime_ns = to->stime_ns = UNKNOWN_S64;
	to->cpu = UNKNOWN_U32;
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &utime,
			  &stime) != 2)
		return;
	to->utime_ns = (int64_t)(utime * NSEC_PER_SEC / (uint64_t)s->ticks);
	to->stime_ns = (int64_t)(stime * NSEC_PER_SEC / (uint64_t)s->ticks);
	/* "processor", the 39th field; the one after the name is the 3rd. */
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	if (at)
		to->cpu = (uint32_t)strtoul(at, NULL, 10);
}

static void sched_on_thread(void *data, int32_t tgid, int32_t tid)
{
	struct sched *s = data;
	const char *procfs = s->host->root.procfs;
	struct record r = { .t = clock_now(), .type = RECORD_SCHED };
	unsigned long long run, wait, slices;
	char text[4096];

	if (root_read(text, sizeof(text), "%s/%d/task/%d/schedstat", procfs, tgid, tid) <= 0 ||
	    sscanf(text, "%llu %llu %llu", &run, &wait, &slices) != 3)
		return;
	r.sched = (struct record_sched){
		.run_ns = run,
		.wait_ns = wait,
		.slices = slices,
		.tgid = tgid,
		.tid = tid,
	};
	root_read(text, sizeof(text), "%s/%d/task/%d/sched", procfs, tgid, tid);
	r.sched.migrations = migrations_parse(text);
	root_read(text, sizeof(text), "%s/%d/task/%d/stat", procfs, tgid, tid);
	times_parse(s, text, &r.sched);
	host_record(s->host, &r);
}

static void sched_on_timer(void *data, uint32_t events)
{
	struct sched *s = data;

	(void)events;
	tracker_threads(s->host->tracker, sched_on_thread, s);
}

static void sched_stop(void *state)
{
	struct sched *s = state;

	sched_on_timer(s, 0);
	watch_free(s->timer);
	free(s);
}

static int sched_start(struct host *host, void **state)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->host = host;
	s->ticks = sysconf(_SC_CLK_TCK);
	s->timer =
		loop_timer(host->loop, host->config.source[SOURCE_sched].period_ms * NSEC_PER_MSEC,
			   sched_on_timer, s);
	if (!s->timer) {
		free(s);
		return -ENOMEM;
	}
	*state = s;
	return 0;
}

static int sched_probe(const struct host *host, struct probe *p)
{
	char text[128];

	if (root_read(text, sizeof(text), "%s/self/schedstat", host->root.procfs) <= 0)
		return probe_absent(p, -ENOENT, "a kernel with CONFIG_SCHED_INFO",
				    "no schedstat: run-queue delay is unknown");
	return probe_found(p, "CPU time, delay and migrations of hinted threads");
}

const struct source source_sched = { sched_probe, sched_start, sched_stop };
