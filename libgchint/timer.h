/* SPDX-License-Identifier: MIT */
/* Timers of CPU time, by which threads sample themselves where no perf event is allowed. */
#ifndef GCHINT_TIMER_H
#define GCHINT_TIMER_H

#include <sys/types.h>

/**
 * timer_start() - send the calling thread GCHINT_STREAM_SIGNAL after so much of its CPU time
 * @tid: the caller
 * @hz: how often in a second of it, up to 10000; 0: stop
 *
 * At most one timer a thread. Timers of threads that ended are removed when others need
 * their place: the kernel keeps them, and counts them as signals that are pending.
 * Async-signal-safe.
 */
void timer_start(pid_t tid, unsigned int hz);

/** timer_owns() - whether the value that came with a signal is that of one of these timers. */
int timer_owns(const void *value);

/** timers_forget() - in a forked child, which has none of them. */
void timers_forget(void);

#endif /* GCHINT_TIMER_H */
