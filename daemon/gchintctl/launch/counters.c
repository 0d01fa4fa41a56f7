// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct counter_event counters_of_cpu[COUNTERS] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
};

static int counter_open(const struct counter_event *event, bool kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = !kernel,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void counters_open(const struct counter_event event[COUNTERS], int fd[COUNTERS])
{
	for (int i = 0; i < COUNTERS; i++) {
		fd[i] = counter_open(&event[i], true);
		if (fd[i] < 0 && (errno == EACCES || errno == EPERM))
			fd[i] = counter_open(&event[i], false);
	}
}

void counters_close(int fd[COUNTERS], int64_t count[COUNTERS])
{
	for (int i = 0; i < COUNTERS; i++) {
		uint64_t value[3]; /* the count, time enabled, time running */

		count[i] = COUNTER_UNKNOWN;
		if (fd[i] < 0)
			continue;
		if (read(fd[i], value, sizeof(value)) == sizeof(value) && value[2])
			count[i] = value[2] < value[1] ?
					   (int64_t)((double)value[0] * (double)value[1] /
						     (double)value[2]) :
					   (int64_t)value[0];
		close(fd[i]);
		fd[i] = -1;
	}
}
