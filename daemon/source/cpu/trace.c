// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tracepoint power:cpu_frequency, in a trace instance of our own on the
 * monotonic clock: every change of frequency under every governor. Read on a
 * timer, since the pipe's poll would wake us at each event.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/text.h"
#include "../source.h"

#define INSTANCE "instances/gchintd"

struct trace {
	struct source_context *context;
	struct watch *timer;
	int fd;
	uint32_t khz[CPUS_MAX];
	size_t used; /* of @line */
	bool skipping; /* the rest of a line that was too long */
	char line[512];
};

static void on_line(struct trace *t, const char *line)
{
	struct text_freq freq;
	uint64_t lost;

	switch (text_trace(line, &freq, &lost)) {
	case 1:
		if (freq.cpu < CPUS_MAX)
			t->context->traced_cpu[freq.cpu] = 1;
		/* Traced once for each CPU of a policy, and again when nothing changed. */
		if (freq.cpu < CPUS_MAX && t->khz[freq.cpu] != freq.khz) {
			const struct record r = {
				.t = freq.t_ns,
				.type = RECORD_TRANSITION,
				.transition = { .cpu = freq.cpu,
						.khz = freq.khz,
						.how = HOW_TRACE },
			};

			t->khz[freq.cpu] = freq.khz;
			context_record(t->context, &r);
		}
		break;
	case 2:
		context_drop(t->context, "trace", lost, "the kernel's trace ring ran over");
		break;
	default:
		break;
	}
}

static void trace_split_lines(struct trace *t, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			t->line[t->used] = '\0';
			if (!t->skipping)
				on_line(t, t->line);
			t->used = 0;
			t->skipping = false;
		} else if (t->used < sizeof(t->line) - 1) {
			t->line[t->used++] = data[i];
		} else {
			t->skipping = true;
		}
	}
}

static void trace_on_timer(void *data, uint32_t events)
{
	struct trace *t = data;
	char buf[8192];
	ssize_t n;

	(void)events;
	while ((n = read(t->fd, buf, sizeof(buf))) > 0)
		trace_split_lines(t, buf, (size_t)n);
}

static int instance_open(struct trace *t)
{
	const char *tracefs = t->context->root.tracefs;
	char path[300], kb[32];
	int ret;

	snprintf(path, sizeof(path), "%s/" INSTANCE, tracefs);
	/* An instance that a killed daemon left is reused; that of a running one is locked. */
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/" INSTANCE "/trace_pipe", tracefs);
	t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	if (flock(t->fd, LOCK_EX | LOCK_NB))
		return -EBUSY;
	ret = root_write("mono", "%s/" INSTANCE "/trace_clock", tracefs);
	if (ret < 0)
		return ret;
	snprintf(kb, sizeof(kb), "%llu",
		 (unsigned long long)(t->context->config.trace_buffer >> 10));
	root_write(kb, "%s/" INSTANCE "/buffer_size_kb", tracefs);
	ret = root_write("1", "%s/" INSTANCE "/events/power/cpu_frequency/enable", tracefs);
	return ret < 0 ? ret : 0;
}

static void instance_close(struct trace *t)
{
	const char *tracefs = t->context->root.tracefs;
	char path[300];

	root_write("0", "%s/" INSTANCE "/events/power/cpu_frequency/enable", tracefs);
	if (t->fd >= 0)
		close(t->fd);
	snprintf(path, sizeof(path), "%s/" INSTANCE, tracefs);
	rmdir(path);
}

static void trace_stop(void *state)
{
	struct trace *t = state;

	root_write("0", "%s/" INSTANCE "/events/power/cpu_frequency/enable",
		   t->context->root.tracefs);
	trace_on_timer(t, 0);
	watch_free(t->timer);
	instance_close(t);
	t->context->traced = false;
	free(t);
}

static int trace_start(struct source_context *context, void **state)
{
	struct trace *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return -ENOMEM;
	t->context = context;
	t->fd = -1;
	ret = instance_open(t);
	if (ret == -EBUSY) {
		/* Another daemon uses it: leave it as it is. */
		close(t->fd);
		free(t);
		return ret;
	}
	if (!ret) {
		t->timer =
			loop_timer(context->loop,
				   context->config.source[SOURCE_trace].period_ms * NSEC_PER_MSEC,
				   trace_on_timer, t);
		ret = t->timer ? 0 : -ENOMEM;
	}
	if (ret) {
		instance_close(t);
		free(t);
		return ret;
	}
	context->traced = true;
	context_clock(context, "trace", "mono trace clock", 0, NSEC_PER_USEC,
		      "stamped by the kernel; the text form is cut to 1 us");
	*state = t;
	return 0;
}

static int trace_probe(const struct source_context *context, struct probe *p)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/events/power/cpu_frequency", context->root.tracefs);
	if (root_access(path, F_OK)) {
		if (errno == EACCES)
			return probe_absent(p, -EACCES, "run as root", "%s: not permitted",
					    context->root.tracefs);
		snprintf(path, sizeof(path), "%s/events", context->root.tracefs);
		if (root_access(path, F_OK))
			return probe_absent(p, -ENOENT,
					    "mount -t tracefs tracefs /sys/kernel/tracing",
					    "no tracefs: frequency is polled");
		return probe_absent(p, -ENOENT, "",
				    "no tracepoint power:cpu_frequency: frequency is polled");
	}
	/* The unit makes the instance beforehand and gives it to the daemon's group. */
	snprintf(path, sizeof(path), "%s/" INSTANCE "/trace_clock", context->root.tracefs);
	if (root_access(path, W_OK)) {
		snprintf(path, sizeof(path), "%s/instances", context->root.tracefs);
		if (root_access(path, W_OK))
			return probe_absent(p, -EACCES, "run as root", "%s: not permitted", path);
	}
	return probe_found(p, "every change of frequency, power:cpu_frequency");
}

const struct source source_trace = { trace_probe, trace_start, trace_stop };
