// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hardware counters of each hinted thread: cycles, instructions, cache misses. Off by
 * default: they have a cost, and few boards support them.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../hint/tracker.h"
#include "../privilege.h"
#include "../source.h"

#define THREADS 256
#define EVENTS	3

static const uint64_t configs[EVENTS] = {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_MISSES,
};

struct counter {
	int32_t tgid, tid;
	int fd[EVENTS];
	bool alive; /* still hinted, at the last walk */
};

struct perf {
	struct source_context *context;
	struct watch *timer;
	struct counter counter[THREADS];
	unsigned int nr;
	bool warned;
};

static int event_open(int32_t tid, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void counter_close(struct counter *c)
{
	for (int i = 0; i < EVENTS; i++)
		if (c->fd[i] >= 0)
			close(c->fd[i]);
}

static void counter_read(struct perf *p, const struct counter *c)
{
	struct record r = { .t = clock_now(), .type = RECORD_PERF };
	int64_t value[EVENTS];

	r.perf.tgid = c->tgid;
	r.perf.tid = c->tid;
	r.perf.enabled_ns = UNKNOWN_S64;
	r.perf.running_ns = UNKNOWN_S64;
	for (int i = 0; i < EVENTS; i++) {
		uint64_t v[3];

		value[i] = UNKNOWN_S64;
		if (c->fd[i] < 0 || read(c->fd[i], v, sizeof(v)) != sizeof(v))
			continue;
		value[i] = (int64_t)v[0];
		r.perf.enabled_ns = (int64_t)v[1];
		r.perf.running_ns = (int64_t)v[2];
	}
	r.perf.cycles = value[0];
	r.perf.instructions = value[1];
	r.perf.misses = value[2];
	context_record(p->context, &r);
}

static void perf_on_thread(void *data, int32_t tgid, int32_t tid)
{
	struct perf *p = data;
	struct counter *c;

	for (unsigned int i = 0; i < p->nr; i++)
		if (p->counter[i].tid == tid) {
			p->counter[i].alive = true;
			return;
		}
	if (p->nr == THREADS) {
		if (!p->warned)
			context_note(p->context, LOG_WARNING, "perf",
				     "over %d hinted threads: the rest is not counted", THREADS);
		p->warned = true;
		return;
	}
	c = &p->counter[p->nr];
	*c = (struct counter){ .tgid = tgid, .tid = tid, .alive = true };
	privilege_raise();
	for (int i = 0; i < EVENTS; i++)
		c->fd[i] = event_open(tid, configs[i]);
	privilege_lower();
	if (c->fd[0] < 0 && c->fd[1] < 0 && c->fd[2] < 0)
		return; /* the thread has ended */
	p->nr++;
}

static void perf_on_timer(void *data, uint32_t events)
{
	struct perf *p = data;

	(void)events;
	for (unsigned int i = 0; i < p->nr; i++)
		p->counter[i].alive = false;
	tracker_threads(p->context->tracker, perf_on_thread, p);
	for (unsigned int i = 0; i < p->nr; i++)
		counter_read(p, &p->counter[i]);
	for (unsigned int i = 0; i < p->nr;) {
		if (p->counter[i].alive) {
			i++;
			continue;
		}
		counter_close(&p->counter[i]);
		p->counter[i] = p->counter[--p->nr];
	}
}

static void perf_stop(void *state)
{
	struct perf *p = state;

	perf_on_timer(p, 0);
	watch_free(p->timer);
	for (unsigned int i = 0; i < p->nr; i++)
		counter_close(&p->counter[i]);
	free(p);
}

static int perf_start(struct source_context *context, void **state)
{
	struct perf *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->context = context;
	p->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_perf].period_ms * NSEC_PER_MSEC,
			      perf_on_timer, p);
	if (!p->timer) {
		free(p);
		return -ENOMEM;
	}
	*state = p;
	return 0;
}

static int perf_probe(const struct source_context *context, struct probe *p)
{
	int fd = event_open(0, PERF_COUNT_HW_CPU_CYCLES);

	(void)context;
	if (fd == -EACCES || fd == -EPERM)
		return probe_absent(p, fd, "run as root or with CAP_PERFMON",
				    "hardware counters are not permitted");
	if (fd < 0)
		return probe_absent(p, fd, "", "no hardware counters on this machine");
	close(fd);
	return probe_found(p, "cycles, instructions, cache misses of hinted threads");
}

const struct source source_perf = { perf_probe, perf_start, perf_stop };
