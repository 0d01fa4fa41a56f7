/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 6.16 gave the tracepoint sched_process_exit a second argument. */
#ifndef _GCHINT_COMPAT_EXIT_PROBE_H
#define _GCHINT_COMPAT_EXIT_PROBE_H

#include <linux/sched.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 16, 0) > LINUX_VERSION_CODE
#define GCHINT_EXIT_PROBE_ARGS void *data, struct task_struct *task
#else
#define GCHINT_EXIT_PROBE_ARGS \
	void *data, struct task_struct *task, bool group_dead
#endif

#endif /* _GCHINT_COMPAT_EXIT_PROBE_H */
