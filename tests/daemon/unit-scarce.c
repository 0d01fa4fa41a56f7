// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: gchintd without memory. Each allocation of each part fails once: it starts or it
 * does not, and a failed start leaves nothing behind (the sanitizer detects leaks).
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/gchintd/service/annotations.h"
#include "../../daemon/gchintd/service/cost.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/record.h"
#include "../../daemon/recording/store.h"
#include "../../daemon/recording/writer.h"
#include "../../daemon/source/hint/tracker.h"
#include "../../daemon/source/log.h"
#include "../../daemon/source/metrics.h"
#include "../../daemon/source/privilege.h"
#include "../../daemon/source/sensor/reader.h"
#include "faults.h"
#include "place.h"
#include "records.h"

static void board_make(void)
{
	place_file("sys/devices/system/cpu/online", "0\n");
	place_file("sys/devices/system/cpu/cpufreq/policy0/related_cpus", "0\n");
	place_file("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "a\n");
	place_file("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "WFI\n");
	place_file("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "deep\n");
	place_file("sys/class/hwmon/hwmon0/curr1_input", "1\n");
	place_file("sys/class/hwmon/hwmon0/in1_input", "1\n");
	place_file("sys/class/powercap/a/energy_uj", "1\n");
	place_file("sys/class/regulator/regulator.1/microvolts", "1\n");
	place_file("sys/class/thermal/thermal_zone0/temp", "1\n");
	place_file("sys/bus/iio/devices/iio:device0/in_power1_raw", "1\n");
	place_file("proc/self/schedstat", "1 2 3\n");
	place_file("trace/events/power/cpu_frequency/enable", "0");
	place_file("trace/instances/gchintd/events/power/cpu_frequency/enable", "0");
	place_file("trace/instances/gchintd/trace_clock", "");
	place_file("trace/instances/gchintd/buffer_size_kb", "");
	place_file("trace/instances/gchintd/trace_pipe", "");
}

static int descriptor_lowest(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

static void queue_forget(struct queue *q)
{
	for (size_t i = 0; i < queue_fill(q); i++)
		if (queue_peek(q, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(q, i)->define);
	queue_consume(q, queue_fill(q));
}

/* The allocations that it needs to start, appended to @text. */
static void allocations_need(struct source_context *context, enum source_id id, char *text,
			     bool *good)
{
	const struct source *source = source_table[id];
	const int fd = descriptor_lowest();

	for (unsigned int n = 0; n < 400; n++) {
		void *state = NULL;
		int ret;

		watched_forget();
		unit_memory_left((long)n);
		ret = source->start(context, &state);
		for (unsigned int i = 0; !ret && i < watched_count(); i++)
			if (watched_at(i)->fd < 0)
				watched_at(i)->fn(watched_at(i)->data, 0);
		if (!ret)
			source->stop(state);
		else
			sprintf(text + strlen(text), " %u", n);
		*good = *good && (!ret || ret == -ENOMEM);
		*good = *good && !watched_open() && descriptor_lowest() == fd;
		queue_forget(context->queue);
		if (!unit_memory_failed())
			break;
	}
	unit_memory_left(-1);
}

static void sources_check(struct source_context *context)
{
	/* The first timer opens a descriptor of the loop, which stays. */
	struct watch *timer = loop_timer(context->loop, 1, NULL, NULL);
	char text[600] = "";
	bool good = true;

	watch_free(timer);

	for (int id = 0; id < SOURCE_NR; id++) {
		/* For genl another socket replaces the kernel's, which has no memory either. */
		context->feed = id == SOURCE_genl ? "feed" : NULL;
		strcat(text, config_source_name((enum source_id)id));
		allocations_need(context, (enum source_id)id, text, &good);
		strcat(text, "\n");
	}
	context->feed = NULL;
	text_is(text,
		"cpufreq 0 1\n"
		"cpuidle 0 1 2 5\n"
		"genl 0 1 2\n"
		"hotplug 0 2\n"
		"hotspots 0 1\n"
		"hwmon 0 1\n"
		"iio 0 1 2\n"
		"library 0 1 2\n"
		"perf 0 1\n"
		"power 0 1\n"
		"powercap 0 1\n"
		"regulator 0 1\n"
		"sched 0 1\n"
		"thermal 0 1\n"
		"trace 0 1\n",
		"each source's essential allocations");
	CHECK(good, "a failed allocation leaves nothing behind");
}

static void parts_check(struct source_context *context)
{
	const struct writer_limits limits = { "w.db", 0, 0, false, { log_line, privilege_drop } };
	char error[300] = "";
	struct queue *q;
	struct cost *c;

	for (long n = 0; n < 2; n++) {
		unit_memory_left(n);
		q = queue_new(64);
		CHECK(!q, "a queue needs memory");
		queue_free(q);
	}
	unit_memory_left(0);
	CHECK(!loop_new(), "a loop needs memory");
	unit_memory_left(0);
	CHECK(!tracker_new(context), "a tracker needs memory");
	unit_memory_left(0);
	CHECK(!metrics_new(), "metrics need memory");
	unit_memory_left(0);
	c = cost_start(context, NULL);
	CHECK(!c, "cost accounting needs memory");
	cost_stop(c);
	for (long n = 0; n < 3; n++) {
		const char *strings[] = { "a", NULL, "b" };

		unit_memory_left(n);
		CHECK(!definition_new(DEFINE_META, 1, NULL, 0, strings, 3),
		      "a definition needs memory");
	}
	unit_memory_left(0);
	CHECK(!annotations_start(context, "annotations"), "annotations need memory");
	unit_memory_left(1);
	CHECK(!annotations_start(context, "annotations") && access("annotations", F_OK),
	      "a failed annotation socket is removed");
	unit_memory_left(-1);
	queue_forget(context->queue);
	for (long n = 0; n < 2; n++) {
		unit_memory_left(n);
		CHECK(!writer_start(&limits, context->queue, error, sizeof(error)) &&
			      !strcmp(error, "no memory") && access("w.db", F_OK),
		      "a recording needs memory");
	}
	unit_memory_left(2);
	CHECK(!writer_start(&limits, context->queue, error, sizeof(error)) &&
		      !strcmp(error, "w.db: no memory") && access("w.db", F_OK),
	      "a failed recording leaves no file");
	unit_memory_left(-1);
}

static void phase_send(struct tracker *t, uint32_t number)
{
	tracker_event(t, &(struct message_event){ .type = GCHINT_EVENT_PHASE,
						  .time = 5,
						  .session = 1,
						  .slot = 9,
						  .phase = number });
}

/* A slot without memory is not tracked, the next one is. */
static void slots_check(struct source_context *context)
{
	unsigned int slots, in_phase;

	unit_memory_left(0);
	phase_send(context->tracker, GCHINT_PHASE_MARK);
	tracker_event(context->tracker, &(struct message_event){ .type = GCHINT_EVENT_LEASE,
								 .time = 6,
								 .session = 1,
								 .slot = 9,
								 .lease = GCHINT_LEASE_ATTACH });
	unit_memory_left(-1);
	tracker_count(context->tracker, &slots, &in_phase);
	CHECK(slots == 1 && !in_phase, "a phase without memory is not tracked");
	phase_send(context->tracker, GCHINT_PHASE_MARK);
	tracker_count(context->tracker, &slots, &in_phase);
	CHECK(slots == 1 && in_phase == 1, "the next phase is tracked");
	queue_forget(context->queue);
}

void unit_scarce(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	board_make();
	setenv("GCHINT_STREAM", "stream", 1);
	context.config.iio_buffered = false;
	sources_check(&context);
	unsetenv("GCHINT_STREAM");
	parts_check(&context);
	slots_check(&context);
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}
