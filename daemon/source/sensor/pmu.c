// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int pmu_open(const struct pmu_event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, event->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}
