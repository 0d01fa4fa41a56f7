// SPDX-License-Identifier: GPL-2.0-or-later
#include "sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gchint-stream.h>

#include "../../common/clock.h"

int sampling_open(const struct sampling *s, int32_t tid, bool chain)
{
	struct perf_event_attr attr = {
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

	/* kernel.perf_event_max_stack may be lower: 0 is as many as it allows. */
	if (fd < 0 && errno == EOVERFLOW && attr.sample_max_stack) {
		attr.sample_max_stack = 0;
		fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

int sampling_ask(int32_t pid, int32_t tid, uint32_t hz)
{
	siginfo_t info = { .si_signo = GCHINT_STREAM_SIGNAL, .si_code = SI_QUEUE };

	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = (int)hz;
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, GCHINT_STREAM_SIGNAL, &info) ? -errno : 0;
}

uint32_t sampling_timer_hz(uint32_t hz)
{
	struct timespec tick;
	uint32_t most;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return hz;
	most = (uint32_t)(NSEC_PER_SEC / (uint64_t)tick.tv_nsec);
	return hz < most ? hz : most;
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
		*s = (struct sampling){ events[i / 2].type, events[i / 2].config, 100, !(i & 1),
					false };
		fd = sampling_open(s, 0, true);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
	}
	return fd;
}
