// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler's account of each hinted thread: time on a CPU, time runnable
 * but waiting, slices (schedstat), migrations (sched), user and system time,
 * the CPU that it ran on last and the memory of its process (stat); and the memory of the
 * control group of its process, if that has a limit.
 *
 * It is read once a period, when a thread is first seen, when its lease ends,
 * and when its phases end, but then no more than PER_PERIOD times a period, and
 * no more often than once in THREAD_NS for each leased thread, which takes some
 * 50 us to read. A program that runs for less than a period has an account, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../hint/tracker.h"
#include "../source.h"
#include "memory-group.h"

#define PER_PERIOD 10
#define THREAD_NS  (10 * NSEC_PER_MSEC)
#define RECENT	   1024
/* A reading takes a few us: one that took longer was interrupted, and its time is not known. */
#define READ_NS	 (200 * NSEC_PER_USEC)
#define READ_MAX 3

struct sched {
	struct source_context *context;
	struct watch *timer;
	long ticks; /* per second, of utime, stime and starttime */
	long page_kib;
	uint64_t began;
	int32_t group_of; /* process of @group */
	struct memory_group group;
	int32_t grouped; /* process whose control group was read last; 0: none since the period's begin */
	/* When a thread was read last. A new entry replaces the one in its place. */
	struct {
		int32_t tid;
		uint64_t t;
	} recent[RECENT];
};

/* "se.nr_migrations   :   12" */
static int64_t migrations_parse(const char *text)
{
	const char *at = strstr(text, "nr_migrations");

	at = at ? strchr(at, ':') : NULL;
	return at ? strtoll(at + 1, NULL, 10) : UNKNOWN_S64;
}

/*
 * The fields of stat from the first one after the name on, which is the 3rd. The name in
 * parentheses may contain parentheses, too.
 */
static const char *stat_field(const char *stat, int wanted)
{
	const char *at = strrchr(stat, ')');

	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	return at;
}

static void times_parse(const struct sched *s, const char *stat, struct record_sched *to)
{
	unsigned long long utime, stime;
	const char *at = stat_field(stat, 14);

	to->utime_ns = to->stime_ns = UNKNOWN_S64;
	to->cpu = to->rss_kib = UNKNOWN_U32;
	if (!at || sscanf(at, "%llu %llu", &utime, &stime) != 2)
		return;
	to->utime_ns = (int64_t)(utime * NSEC_PER_SEC / (uint64_t)s->ticks);
	to->stime_ns = (int64_t)(stime * NSEC_PER_SEC / (uint64_t)s->ticks);
	at = stat_field(stat, 24); /* "rss", in pages */
	/* A process that has ended has none: what it had is not known any more. */
	if (at && strtoul(at, NULL, 10))
		to->rss_kib = (uint32_t)(strtoul(at, NULL, 10) * (unsigned long)s->page_kib);
	at = stat_field(stat, 39); /* "processor" */
	if (at)
		to->cpu = (uint32_t)strtoul(at, NULL, 10);
}

/*
 * A thread that began after us had run for 0 ns then. When that was is known to a tick of utime,
 * and recorded as the begin of that tick, which leaves the bounds of its CPU time valid.
 */
static void thread_record_begin(const struct sched *s, int32_t tgid, int32_t tid, const char *stat)
{
	const char *at = stat_field(stat, 22); /* "starttime", of CLOCK_BOOTTIME */
	struct record r = {
		.type = RECORD_SCHED,
		.sched = { .tgid = tgid, .tid = tid, .cpu = UNKNOWN_U32, .rss_kib = UNKNOWN_U32 },
	};
	const uint64_t now = clock_now();
	struct timespec boot;
	uint64_t started, asleep;

	if (!at || clock_gettime(CLOCK_BOOTTIME, &boot))
		return;
	asleep = (uint64_t)boot.tv_sec * NSEC_PER_SEC + (uint64_t)boot.tv_nsec - now;
	started = strtoull(at, NULL, 10) * NSEC_PER_SEC / (uint64_t)s->ticks;
	if (started < asleep || started - asleep + NSEC_PER_SEC / (uint64_t)s->ticks < s->began)
		return;
	r.t = started - asleep;
	context_record(s->context, &r);
}

/* The middle of the time that reading took. */
static bool schedstat_read(const struct sched *s, struct record *r)
{
	const struct record_sched *of = &r->sched;
	unsigned long long run, wait, slices;
	uint64_t before, after;
	char text[128];

	for (int i = 0; i < READ_MAX; i++) {
		before = clock_now();
		if (root_read(text, sizeof(text), "%s/%d/task/%d/schedstat",
			      s->context->root.procfs, of->tgid, of->tid) <= 0)
			return false;
		after = clock_now();
		if (after - before < READ_NS)
			break;
	}
	if (sscanf(text, "%llu %llu %llu", &run, &wait, &slices) != 3)
		return false;
	r->t = before + (after - before) / 2;
	r->sched.run_ns = run;
	r->sched.wait_ns = wait;
	r->sched.slices = slices;
	return true;
}

static void thread_record(struct sched *s, int32_t tgid, int32_t tid, bool new)
{
	const char *procfs = s->context->root.procfs;
	struct record r = { .type = RECORD_SCHED, .sched = { .tgid = tgid, .tid = tid } };
	char text[4096];

	if (!schedstat_read(s, &r))
		return;
	s->recent[(uint32_t)tid % RECENT].tid = tid;
	s->recent[(uint32_t)tid % RECENT].t = r.t;
	root_read(text, sizeof(text), "%s/%d/task/%d/sched", procfs, tgid, tid);
	r.sched.migrations = migrations_parse(text);
	root_read(text, sizeof(text), "%s/%d/task/%d/stat", procfs, tgid, tid);
	times_parse(s, text, &r.sched);
	if (new)
		thread_record_begin(s, tgid, tid, text);
	context_record(s->context, &r);
}

/* Once in a period, or when a program is first seen, or at the end: these files are not free. */
static void process_record_memory(struct sched *s, int32_t tgid)
{
	struct record r = { .t = clock_now(), .type = RECORD_MEMORY_GROUP };
	struct memory_group group;

	if (tgid == s->grouped)
		return;
	if (!memory_group_read(&s->context->root, tgid, &group)) {
		/* One that has just ended has left its group. */
		if (tgid != s->group_of || !memory_group_reread(&s->context->root, &s->group))
			return;
		group = s->group;
	}
	s->grouped = s->group_of = tgid;
	s->group = group;
	r.memory_group = (struct record_memory_group){
		.tgid = tgid,
		.used = group.used,
		.most = group.most,
		.pressed = group.pressed,
	};
	context_record(s->context, &r);
}

static void sched_on_thread(void *data, int32_t tgid, int32_t tid)
{
	thread_record(data, tgid, tid, false);
	process_record_memory(data, tgid);
}

/* Of one process. */
struct threads_read {
	struct sched *s;
	int32_t tgid;
};

static void sched_on_thread_of(void *data, int32_t tgid, int32_t tid)
{
	const struct threads_read *r = data;

	if (tgid == r->tgid)
		thread_record(r->s, tgid, tid, false);
}

static void sched_on_news(void *data, int32_t tgid, int32_t tid, enum tracker_news news)
{
	struct sched *s = data;
	const uint64_t period = s->context->config.source[SOURCE_sched].period_ms * NSEC_PER_MSEC;
	const uint32_t i = (uint32_t)tid % RECENT;
	const uint64_t since = s->recent[i].tid == tid ? clock_now() - s->recent[i].t : UINT64_MAX;
	unsigned int slots, in_phase;

	if (news != TRACKER_PHASE_ENDED) {
		thread_record(s, tgid, tid, news == TRACKER_THREAD_SEEN);
		/* Also at the end of the process, with the lease of its first thread. */
		if (tid == tgid)
			s->grouped = 0;
		process_record_memory(s, tgid);
		return;
	}
	tracker_count(s->context->tracker, &slots, &in_phase);
	/* Others work in its phases. */
	if (since < period / PER_PERIOD || since < slots * THREAD_NS)
		return;
	s->grouped = 0;
	tracker_threads(s->context->tracker, sched_on_thread_of, &(struct threads_read){ s, tgid });
	process_record_memory(s, tgid);
}

static void sched_on_timer(void *data, uint32_t events)
{
	struct sched *s = data;

	(void)events;
	s->grouped = 0;
	tracker_threads(s->context->tracker, sched_on_thread, s);
}

static void sched_stop(void *state)
{
	struct sched *s = state;

	sched_on_timer(s, 0);
	tracker_unlisten(s->context->tracker, s);
	watch_free(s->timer);
	free(s);
}

/*
 * The kernel adds to the account of a thread that runs once in a tick, which is this clock's: a
 * reading lacks up to one.
 */
static void tick_record(struct source_context *context)
{
	struct timespec tick;
	char text[32];

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec)
		return;
	snprintf(text, sizeof(text), "%ld", tick.tv_nsec);
	context_meta(context, "sched.tick_ns", text);
}

static int sched_start(struct source_context *context, void **state)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->context = context;
	s->ticks = sysconf(_SC_CLK_TCK);
	s->page_kib = sysconf(_SC_PAGESIZE) / 1024;
	s->began = clock_now();
	s->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_sched].period_ms * NSEC_PER_MSEC,
			      sched_on_timer, s);
	if (!s->timer) {
		free(s);
		return -ENOMEM;
	}
	tracker_listen(context->tracker, sched_on_news, s);
	tick_record(context);
	*state = s;
	return 0;
}

static int sched_probe(const struct source_context *context, struct probe *p)
{
	char text[128];

	if (root_read(text, sizeof(text), "%s/self/schedstat", context->root.procfs) <= 0)
		return probe_absent(p, -ENOENT, "a kernel with CONFIG_SCHED_INFO",
				    "no schedstat: run-queue delay is unknown");
	return probe_found(p, "CPU time, delay and migrations of hinted threads");
}

const struct source source_sched = { sched_probe, sched_start, sched_stop };
