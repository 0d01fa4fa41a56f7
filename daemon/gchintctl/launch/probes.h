/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uprobes on a program through perf_event_open(2), which needs neither tracefs nor BPF. */
#ifndef GCHINTCTL_PROBES_H
#define GCHINTCTL_PROBES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Exists if the kernel has uprobes; holds the perf event type of uprobes. */
#define PROBES_TYPE "/sys/bus/event_source/devices/uprobe/type"

#define PROBE_ARGUMENTS 6

/* Values of @probe of hits that are no hits: what became of a thread or a process. */
#define PROBE_FORK UINT_MAX /* started by the process @argument[0], its thread @argument[1] */
#define PROBE_EXIT (UINT_MAX - 1) /* the thread ended */
#define PROBE_EXEC (UINT_MAX - 2) /* the process executes another program, called @name */
#define PROBE_NAME (UINT_MAX - 3) /* the thread is called @name */

#define PROBE_NAME_SIZE 16 /* of the name of a thread, its terminating zero included */

/**
 * struct probe_hit - a thread executed a probed instruction
 * @time: CLOCK_MONOTONIC, ns
 * @stack: its stack pointer; 0 if it was not asked for or is not known
 * @argument: the first ones of the function that it entered; those that this architecture passes in
 *	registers, and 0
 * @name: in their place with PROBE_EXEC and PROBE_NAME, filled up with zeros
 * @pid: its process, in our pid namespace
 * @tid: the thread, in our pid namespace
 * @cpu: the CPU that it ran on
 * @tail: a probed function that has not returned has jumped there, as its last action: it returns
 *	together with this one
 * @probe: index into the offsets given to probes_open() or the points given to probes_watch(), or
 *	one of the constants above, after probes_watch()
 */
struct probe_hit {
	uint64_t time, stack;
	union {
		uint64_t argument[PROBE_ARGUMENTS];
		char name[PROBE_NAME_SIZE];
	};
	pid_t pid, tid;
	uint32_t cpu;
	unsigned int probe;
	bool tail;
};

/**
 * struct probe_point - an instruction to probe
 * @path: its file
 * @offset: in the file
 * @semaphore: offset of the counter of a USDT probe, which enables it; 0: none
 * @returns: it is the first one of a function, and the returns of that are probed in its place
 */
struct probe_point {
	const char *path;
	uint64_t offset, semaphore;
	bool returns;
};

/* How far the stack pointer is above that at the entry of a function when it has returned. */
#if defined(__x86_64__) || defined(__i386__)
#define PROBE_RETURN_ADDRESS sizeof(void *)
#else
#define PROBE_RETURN_ADDRESS 0
#endif

struct probes;

/**
 * probes_open - probe all processes that execute a program, now or later
 * @path: the program
 * @offset: file offsets of the instructions to probe
 * @count: number of offsets
 *
 * Returns NULL with errno on failure: EACCES or EPERM without CAP_SYS_ADMIN, ENOENT if the kernel
 * has no uprobes.
 */
struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count);
/*
 * The same of several files, with stack pointers and arguments, and with what becomes of threads and
 * processes.
 */
struct probes *probes_watch(const struct probe_point *point, unsigned int count);
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
