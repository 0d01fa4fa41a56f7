/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which leased thread runs on each CPU, and what its hint is there (watch.c);
 * decisions by load when a thread wakes on an idle CPU (wake.c).
 */
#ifndef _GCHINT_WATCH_H
#define _GCHINT_WATCH_H

#include <linux/types.h>

struct gchint_thread;
struct task_struct;

int gchint_watch_init(void);
void gchint_watch_exit(void);
void gchint_watch_add(struct task_struct *task);
void gchint_watch_forget(struct gchint_thread *thread);
void gchint_watch_doorbell(struct gchint_thread *thread, bool changed);

int gchint_wake_init(void);

#endif /* _GCHINT_WATCH_H */
