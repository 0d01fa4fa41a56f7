// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuidle: time in and entries into each idle state of each CPU. They are read
 * once a period, and when phases end, since energy is attributed by them: but
 * then no more than PER_PERIOD times a period, and on a large machine no more
 * often than once in STATE_NS for each state, which takes some us to read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/text.h"
#include "../hint/tracker.h"
#include "../source.h"

#define PER_PERIOD 10
#define STATE_NS   NSEC_PER_MSEC

struct state {
	uint32_t cpu, number;
	uint64_t usage;
	bool seen;
};

struct cpuidle {
	struct source_context *context;
	struct watch *timer;
	struct state *state;
	unsigned int nr;
	uint32_t cpu; /* while scanning */
	uint64_t read; /* when, last */
};

static int cpuidle_on_state(void *data, const char *entry)
{
	struct cpuidle *c = data;
	const char *sysfs = c->context->root.sysfs;
	int64_t numbers[2] = { c->cpu, 0 };
	const char *strings[1] = { NULL };
	char name[32];
	uint64_t n;
	struct state *more;

	if (text_u64(entry + strlen("state"), &n))
		return 0;
	more = realloc(c->state, (c->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->state = more;
	c->state[c->nr++] = (struct state){ .cpu = c->cpu, .number = (uint32_t)n };
	numbers[1] = (int64_t)n;
	if (root_read(name, sizeof(name), "%s/devices/system/cpu/cpu%u/cpuidle/%s/name", sysfs,
		      c->cpu, entry) > 0)
		strings[0] = name;
	context_define(c->context,
		       definition_new(DEFINE_IDLE_STATE, clock_now(), numbers, 2, strings, 1));
	return 0;
}

static int cpuidle_on_cpu(void *data, const char *entry)
{
	struct cpuidle *c = data;
	char dir[320];
	uint64_t cpu;

	if (text_u64(entry + strlen("cpu"), &cpu) || cpu >= CPUS_MAX)
		return 0;
	c->cpu = (uint32_t)cpu;
	snprintf(dir, sizeof(dir), "%s/devices/system/cpu/%s/cpuidle", c->context->root.sysfs,
		 entry);
	return root_list(dir, "state", cpuidle_on_state, c) == -ENOMEM ? -ENOMEM : 0;
}

static void cpuidle_on_timer(void *data, uint32_t events)
{
	struct cpuidle *c = data;

	(void)events;
	c->read = clock_now();
	for (unsigned int i = 0; i < c->nr; i++) {
		struct state *s = &c->state[i];
		const char *sysfs = c->context->root.sysfs;
		struct record r = { .t = clock_now(), .type = RECORD_IDLE };
		uint64_t usage, us;

		if (root_u64(&usage, "%s/devices/system/cpu/cpu%u/cpuidle/state%u/usage", sysfs,
			     s->cpu, s->number) ||
		    (s->seen && usage == s->usage) ||
		    root_u64(&us, "%s/devices/system/cpu/cpu%u/cpuidle/state%u/time", sysfs, s->cpu,
			     s->number))
			continue;
		s->usage = usage;
		s->seen = true;
		r.idle = (struct record_idle){
			.total_us = us, .usage = usage, .cpu = s->cpu, .state = s->number
		};
		context_record(c->context, &r);
	}
}

static void cpuidle_on_news(void *data, int32_t tgid, int32_t tid, enum tracker_news news)
{
	struct cpuidle *c = data;
	const uint64_t period = c->context->config.source[SOURCE_cpuidle].period_ms * NSEC_PER_MSEC;
	const uint64_t since = clock_now() - c->read;

	(void)tgid;
	(void)tid;
	if (news == TRACKER_PHASE_ENDED && since >= period / PER_PERIOD &&
	    since >= c->nr * STATE_NS)
		cpuidle_on_timer(c, 0);
}

static void cpuidle_stop(void *state)
{
	struct cpuidle *c = state;

	cpuidle_on_timer(c, 0);
	tracker_unlisten(c->context->tracker, c);
	watch_free(c->timer);
	free(c->state);
	free(c);
}

static int cpuidle_start(struct source_context *context, void **state)
{
	struct cpuidle *c = calloc(1, sizeof(*c));
	char dir[300];

	if (!c)
		return -ENOMEM;
	c->context = context;
	snprintf(dir, sizeof(dir), "%s/devices/system/cpu", context->root.sysfs);
	c->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_cpuidle].period_ms * NSEC_PER_MSEC,
			      cpuidle_on_timer, c);
	if (!c->timer || root_list(dir, "cpu", cpuidle_on_cpu, c) < 0) {
		watch_free(c->timer);
		free(c->state);
		free(c);
		return -ENOMEM;
	}
	cpuidle_on_timer(c, 0);
	tracker_listen(context->tracker, cpuidle_on_news, c);
	*state = c;
	return 0;
}

static int cpuidle_probe(const struct source_context *context, struct probe *p)
{
	char name[32];

	if (root_read(name, sizeof(name), "%s/devices/system/cpu/cpu0/cpuidle/state0/name",
		      context->root.sysfs) < 0)
		return probe_absent(p, -ENODEV, "", "no cpuidle states: idle time is unknown");
	return probe_found(p, "idle states, the first is %s", name);
}

const struct source source_cpuidle = { cpuidle_probe, cpuidle_start, cpuidle_stop };
