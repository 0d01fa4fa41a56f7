/* SPDX-License-Identifier: MIT */
/* Threads of the process that no callback tells of, by their names. */
#ifndef ADAPTER_TASKS_H
#define ADAPTER_TASKS_H

#include <sys/types.h>

#include <gchint.h>

/**
 * typedef tasks_fn - looks at a thread
 * @session: as given
 * @tid: its number
 * @name: 15 characters of its name at most, and a newline
 */
typedef void tasks_fn(struct gchint_session *session, pid_t tid, const char *name);

/** tasks_scan() - @look_at each thread. Opens files, and allocates. */
void tasks_scan(struct gchint_session *session, tasks_fn *look_at);

/**
 * tasks_watch() - a thread of ours that scans now and after tasks_look_again()
 * @session: for @look_at, which it calls; once in a process
 *
 * A scan takes about 100 us: not more often than each second, and only when the number of
 * threads has changed, or had at the look before.
 */
void tasks_watch(struct gchint_session *session, tasks_fn *look_at);

/** tasks_look_again() - there may be new ones. By one thread at a time; does not allocate. */
void tasks_look_again(void);

#endif /* ADAPTER_TASKS_H */
