/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uprobes on a program, set and read by perf_event_open(2): no tracefs, no BPF. */
#ifndef GCHINTCTL_PROBES_H
#define GCHINTCTL_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* That the kernel has uprobes, and of which type their events are. */
#define PROBES_TYPE "/sys/bus/event_source/devices/uprobe/type"

/**
 * struct probe_hit - a thread came to an instruction
 * @time: CLOCK_MONOTONIC, ns
 * @pid: its process, in our pid namespace
 * @tid: the thread, likewise
 * @cpu: where it ran
 * @probe: which of the offsets
 */
struct probe_hit {
	uint64_t time;
	pid_t pid, tid;
	uint32_t cpu;
	unsigned int probe;
};

struct probes;

/**
 * probes_open - probe every process that executes a program, those to come included
 * @path: the program
 * @offset: of the instructions in that file
 * @count: of @offset
 *
 * Returns NULL with errno: EACCES or EPERM without CAP_PERFMON, ENOENT where the kernel
 * has no uprobes.
 */
struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count);
void probes_close(struct probes *p);

/**
 * probes_read - what came since the last call, in the order of time
 * @p: the probes
 * @last: the process has ended: nothing younger is waited for
 * @hit: called for each
 * @data: for @hit
 *
 * CPUs are read one after the other: what is younger than a few ms is kept for the next call.
 * Returns how many hits found a buffer full since the last call.
 */
uint64_t probes_read(struct probes *p, bool last,
		     void (*hit)(void *data, const struct probe_hit *hit), void *data);

#endif
