// SPDX-License-Identifier: GPL-2.0-or-later
#include "sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sampling_open(const struct sampling *s, int32_t tid, bool chain)
{
	const struct perf_event_attr attr = {
		.type = s->type,
		.size = sizeof(attr),
		.config = s->config,
		.sample_freq = s->hz,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | (chain ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_max_stack = chain ? SAMPLING_FRAMES : 0,
		.exclude_kernel = !s->in_kernel,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int sampling_choose(struct sampling *s)
{
	static const struct {
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	};
	int fd = -ENODEV;

	for (int i = 0; i < 4; i++) {
		*s = (struct sampling){ events[i / 2].type, events[i / 2].config, 100, !(i & 1) };
		fd = sampling_open(s, 0, true);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
	}
	return fd;
}
