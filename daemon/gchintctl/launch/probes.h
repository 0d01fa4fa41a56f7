/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uprobes on a program through perf_event_open(2), which needs neither tracefs nor BPF. */
#ifndef GCHINTCTL_PROBES_H
#define GCHINTCTL_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Exists if the kernel has uprobes; holds the perf event type of uprobes. */
#define PROBES_TYPE "/sys/bus/event_source/devices/uprobe/type"

/**
 * struct probe_hit - a thread executed a probed instruction
 * @time: CLOCK_MONOTONIC, ns
 * @pid: its process, in our pid namespace
 * @tid: the thread, in our pid namespace
 * @cpu: the CPU that it ran on
 * @probe: index into the offsets given to probes_open()
 */
struct probe_hit {
	uint64_t time;
	pid_t pid, tid;
	uint32_t cpu;
	unsigned int probe;
};

struct probes;

/**
 * probes_open - probe all processes that execute a program, now or later
 * @path: the program
 * @offset: file offsets of the instructions to probe
 * @count: number of offsets
 *
 * Returns NULL with errno on failure: EACCES or EPERM without CAP_PERFMON, ENOENT if the kernel
 * has no uprobes.
 */
struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count);
void probes_close(struct probes *p);

/**
 * probes_read - report the hits since the last call in order of time
 * @p: the probes
 * @last: the process has ended: report the most recent hits too
 * @hit: called for each hit
 * @data: passed to @hit
 *
 * CPUs are read one after the other, so that hits of the last few ms may be incomplete: they
 * are kept for the next call unless @last is set. Returns how many hits were lost since the last
 * call because a buffer was full.
 */
uint64_t probes_read(struct probes *p, bool last,
		     void (*hit)(void *data, const struct probe_hit *hit), void *data);

#endif
