/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.14 (b04e317b5226 "treewide: Introduce kthread_run_worker[_on_cpu]()")
 * renamed the call. The old name creates a worker without starting it there.
 */
#ifndef _GCHINT_COMPAT_KTHREAD_H
#define _GCHINT_COMPAT_KTHREAD_H

#include <linux/kthread.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 14, 0) > LINUX_VERSION_CODE
#define kthread_run_worker(flags, ...) kthread_create_worker(flags, __VA_ARGS__)
#endif

#endif /* _GCHINT_COMPAT_KTHREAD_H */
