/* SPDX-License-Identifier: MIT */
/* Finds threads of the process that no callback reports, by their names. */
#ifndef ADAPTER_TASKS_H
#define ADAPTER_TASKS_H

#include <sys/types.h>

#include <gchint.h>

/**
 * typedef tasks_fn - callback for each thread of the process
 * @session: the argument of tasks_scan() or tasks_watch()
 * @tid: thread ID
 * @name: the first 15 characters of the thread's name, and a newline
 */
typedef void tasks_fn(struct gchint_session *session, pid_t tid, const char *name);

/** tasks_scan() - call @visit for each thread. Opens files, and allocates. */
void tasks_scan(struct gchint_session *session, tasks_fn *visit);

/**
 * tasks_watch() - start a thread that scans now and after each tasks_rescan()
 * @session: passed to @visit
 * @visit: called for each thread, on the new thread
 *
 * To be called once in a process. A scan takes about 100 us. It is done at most once a second,
 * and only if the number of threads has changed since one of the last two wakeups.
 */
void tasks_watch(struct gchint_session *session, tasks_fn *visit);

/**
 * tasks_rescan() - request another scan, because threads may have started
 *
 * To be called by one thread at a time. Does not allocate.
 */
void tasks_rescan(void);

#endif /* ADAPTER_TASKS_H */
