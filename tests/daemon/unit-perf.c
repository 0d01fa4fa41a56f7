// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: hardware counters of hinted threads, on a machine that may have none:
 * perf_event_open() is replaced, with a pipe for each counter.
 */
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/hint/tracker.h"
#include "../../daemon/source/source.h"
#include "records.h"

/* How often a counter can be read. */
#define READINGS 3

static bool ours; /* counters are opened here, else samples */
static int refused[PERF_COUNT_HW_MAX]; /* with which errno, by counter */
static char asked[4096];
static int fds[16];
static unsigned int opened;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static int counter_open(const struct perf_event_attr *attr, int tid, int cpu, int group,
			unsigned long flags)
{
	const size_t at = strlen(asked);
	int ends[2];

	snprintf(asked + at, sizeof(asked) - at,
		 "%d: type %u, event %u, %d bytes, reads %u, %d%d%d%d; %d %d %lu\n", tid,
		 attr->type, (unsigned int)attr->config, (int)(attr->size - sizeof(*attr)),
		 (unsigned int)attr->read_format, attr->disabled, attr->inherit,
		 attr->exclude_kernel, attr->exclude_hv, cpu, group, flags);
	errno = attr->config < PERF_COUNT_HW_MAX ? refused[attr->config] : EINVAL;
	if (errno || pipe(ends))
		return -1;
	for (uint64_t i = 1; i <= READINGS; i++) {
		const uint64_t v[] = { (uint64_t)tid * 1000 + attr->config * 100 + i, i * 50,
				       i * 40 };

		if (write(ends[1], v, sizeof(v)) != sizeof(v))
			errno = EIO;
	}
	close(ends[1]);
	fds[opened++ % 16] = ends[0];
	return ends[0];
}

/* Other calls have fewer arguments, which the kernel ignores. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf && unit_tunnel_asked)
		return unit_tunnel_bpf((int)arg[0], (const union bpf_attr *)arg[1]);
	if (number == SYS_perf_event_open && unit_power_asked)
		return unit_power_open((const struct perf_event_attr *)arg[0], (int)arg[1],
				       (int)arg[2], (int)arg[3], (unsigned long)arg[4]);
	if (number == SYS_perf_event_open && unit_probes_asked)
		return unit_probes_open((const struct perf_event_attr *)arg[0], (int)arg[1],
					(int)arg[2], (int)arg[3], (unsigned long)arg[4]);
	if (number == SYS_perf_event_open && !ours)
		return unit_hotspots_open((const struct perf_event_attr *)arg[0], (int)arg[1]);
	if (number == SYS_rt_tgsigqueueinfo)
		return unit_hotspots_queue((int)arg[0], (int)arg[1], (int)arg[2],
					   (const siginfo_t *)arg[3]);
	if (number == SYS_perf_event_open)
		return counter_open((const struct perf_event_attr *)arg[0], (int)arg[1],
				    (int)arg[2], (int)arg[3], (unsigned long)arg[4]);
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static void lease_send(struct source_context *context, int32_t tid, uint32_t what)
{
	tracker_event(context->tracker, &(struct message_event){ .type = GCHINT_EVENT_LEASE,
								 .has = HAS(GCHINT_EVENT_A_TID),
								 .session = 1,
								 .slot = (uint32_t)tid,
								 .tgid = 70,
								 .tid = tid,
								 .lease = what });
	/* Another test checks the tracker's output. */
	for (size_t i = 0; i < queue_fill(context->queue); i++)
		if (queue_peek(context->queue, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(context->queue, i)->define);
	queue_consume(context->queue, queue_fill(context->queue));
}

static void probe_check(struct source_context *context)
{
	static const int errors[] = { 0, EACCES, EPERM, ENOENT };
	char text[1024] = "";

	for (int i = 0; i < 4; i++) {
		struct probe p = { "", "" };
		const size_t at = strlen(text);
		int ret;

		refused[PERF_COUNT_HW_CPU_CYCLES] = errors[i];
		ret = source_table[SOURCE_perf]->probe(context, &p);
		snprintf(text + at, sizeof(text) - at, "%d '%s' '%s'\n", ret, p.what, p.remedy);
	}
	refused[PERF_COUNT_HW_CPU_CYCLES] = 0;
	text_is(text,
		"0 'cycles, instructions, cache misses of hinted threads' ''\n"
		"-13 'hardware counters are not permitted' 'run as root or with CAP_PERFMON'\n"
		"-1 'hardware counters are not permitted' 'run as root or with CAP_PERFMON'\n"
		"-2 'no hardware counters on this machine' ''\n",
		"the available counters are found, or the reason reported");
	CHECK(fcntl(fds[0], F_GETFD) < 0 && opened == 1, "a probe leaves no descriptor open");
	text_is(asked,
		"0: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"0: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"0: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"0: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n",
		"the probe opens counters of its own thread");
	asked[0] = '\0';
}

static void counts_check(struct source_context *context)
{
	const struct source *perf = source_table[SOURCE_perf];
	const struct watched *timer = watched_at(0);
	void *state = NULL;
	unsigned int open = 0;

	context->config.source[SOURCE_perf].period_ms = 250;
	CHECK(!perf->start(context, &state) && timer->period_ns == 250000000,
	      "threads are scanned once per period");
	timer->fn(timer->data, 0);
	records_are(context->queue, "", "without threads there are no counters");
	lease_send(context, 71, GCHINT_LEASE_ATTACH);
	lease_send(context, 72, GCHINT_LEASE_ATTACH);
	opened = 0;
	timer->fn(timer->data, 0);
	records_are(context->queue,
		    "perf - of 70/71: 71001 71101 71301 in 40 of 50\n"
		    "perf - of 70/72: 72001 72101 72301 in 40 of 50\n",
		    "counters of each hinted thread are recorded");
	text_is(asked,
		"71: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"71: type 0, event 1, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"71: type 0, event 3, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"72: type 0, event 0, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"72: type 0, event 1, 0 bytes, reads 3, 0001; -1 -1 8\n"
		"72: type 0, event 3, 0 bytes, reads 3, 0001; -1 -1 8\n",
		"cycles, instructions and misses of one thread on any CPU are opened");
	asked[0] = '\0';
	lease_send(context, 71, GCHINT_LEASE_EXIT);
	refused[PERF_COUNT_HW_INSTRUCTIONS] = ENOENT;
	lease_send(context, 73, GCHINT_LEASE_ATTACH);
	timer->fn(timer->data, 0);
	records_are(context->queue,
		    "perf - of 70/71: 71002 71102 71302 in 80 of 100\n"
		    "perf - of 70/72: 72002 72102 72302 in 80 of 100\n"
		    "perf - of 70/73: 73001 ? 73301 in 40 of 50\n",
		    "ended threads are read a last time, new ones have what is available");
	for (unsigned int i = 0; i < 8; i++)
		open |= (fcntl(fds[i], F_GETFD) >= 0) << i;
	CHECK(opened == 8 && open == (7 << 3 | 3 << 6),
	      "only the counters of ended threads are closed");
	for (int i = 0; i < 3; i++)
		refused[i] = ESRCH;
	refused[PERF_COUNT_HW_CACHE_MISSES] = ESRCH;
	lease_send(context, 74, GCHINT_LEASE_ATTACH);
	timer->fn(timer->data, 0);
	records_are(context->queue,
		    "perf - of 70/73: 73002 ? 73302 in 80 of 100\n"
		    "perf - of 70/72: 72003 72103 72303 in 120 of 150\n",
		    "a thread without counters has no record");
	timer->fn(timer->data, 0);
	records_are(context->queue,
		    "perf - of 70/73: 73003 ? 73303 in 120 of 150\n"
		    "perf - of 70/72: ? ? ? in ? of ?\n",
		    "counters that cannot be read any more are unknown");
	perf->stop(state);
	records_are(context->queue,
		    "perf - of 70/73: ? ? ? in ? of ?\n"
		    "perf - of 70/72: ? ? ? in ? of ?\n",
		    "the end reads once more");
	open = 0;
	for (unsigned int i = 0; i < 8; i++)
		open += fcntl(fds[i], F_GETFD) >= 0;
	CHECK(!open, "the end closes all counters");
	memset(refused, 0, sizeof(refused));
}

static void many_check(struct source_context *context)
{
	const struct source *perf = source_table[SOURCE_perf];
	unsigned int notes = 0, records = 0;
	void *state = NULL;

	for (int32_t tid = 75; tid < 75 + 255; tid++)
		lease_send(context, tid, GCHINT_LEASE_ATTACH);
	refused[PERF_COUNT_HW_CPU_CYCLES] = refused[PERF_COUNT_HW_CACHE_MISSES] = ENOENT;
	watched_forget();
	CHECK(!perf->start(context, &state), "counters start again");
	for (int i = 0; i < 2; i++)
		watched_at(0)->fn(watched_at(0)->data, 0);
	for (size_t i = 0; i < queue_fill(context->queue); i++) {
		const struct record *r = queue_peek(context->queue, i);

		records += r->type == RECORD_PERF;
		if (r->type != RECORD_DEFINE)
			continue;
		notes += r->define->kind == DEFINE_NOTE && r->define->number[0] == 4 &&
			 !strcmp(r->define->string[1],
				 "over 256 hinted threads: the rest is not counted");
		definition_free(r->define);
	}
	queue_consume(context->queue, queue_fill(context->queue));
	CHECK(notes == 1 && records == 2 * 256, "threads beyond the maximum are reported once");
	perf->stop(state);
	queue_consume(context->queue, queue_fill(context->queue));
	memset(refused, 0, sizeof(refused));
}

void unit_perf(void)
{
	struct source_context context = { .root = { "/absent", "/absent", "/absent", "/absent",
						    "/absent" } };

	ours = true;
	context.loop = loop_new();
	context.queue = queue_new(4096);
	context.tracker = tracker_new(&context);
	config_defaults(&context.config);
	watched_forget();
	probe_check(&context);
	counts_check(&context);
	many_check(&context);
	watched_forget();
	tracker_free(context.tracker);
	queue_free(context.queue);
	loop_free(context.loop);
	ours = false;
}
