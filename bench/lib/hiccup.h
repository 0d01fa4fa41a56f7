/* SPDX-License-Identifier: MIT */
/**
 * DOC: Hiccups: the delays of a thread that only sleeps for a millisecond
 *
 * A thread sleeps @interval and records by how much it overslept, corrected for the
 * samples it missed meanwhile. A hiccup is more than a pause: it includes collector
 * stops, scheduling and the latency of frequency changes. The control process does the
 * same alongside the program without touching its heap: the hiccups that it records are
 * not caused by the program.
 */
#ifndef BENCH_HICCUP_H
#define BENCH_HICCUP_H

#include "histogram.h"

#include <sys/types.h>

struct hiccup;

/**
 * struct hiccup_hooks - makes the thread one of the program's own
 * @begin: on the new thread, before the first sleep; may be NULL
 * @before: before each sleep (park); may be NULL
 * @after: after each sleep, timed as part of it (unpark, safepoint); may be NULL
 * @end: on the thread, after the last sleep; may be NULL
 * @arg: argument of all four
 */
struct hiccup_hooks {
	void (*begin)(void *arg);
	void (*before)(void *arg);
	void (*after)(void *arg);
	void (*end)(void *arg);
	void *arg;
};

/** hiccup_start() - Return: the meter, or NULL with errno. @hooks may be NULL. */
struct hiccup *hiccup_start(uint64_t interval_ns, const struct hiccup_hooks *hooks);
/** hiccup_stop() - end the thread and copy its histogram to @out. Frees the meter. */
void hiccup_stop(struct hiccup *meter, struct histogram *out);

struct hiccup_control;

/** hiccup_control_start() - the same in an idle child; call before making threads. */
struct hiccup_control *hiccup_control_start(uint64_t interval_ns);
/** hiccup_control_stop() - end and reap the child, copy its histogram to @out. */
void hiccup_control_stop(struct hiccup_control *control, struct histogram *out);

#endif
