/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.17 (128ea9f6ccfb "workqueue: Add system_percpu_wq and system_dfl_wq")
 * renamed the queue, and later versions warn of the old name.
 */
#ifndef _GCHINT_COMPAT_WORKQUEUE_H
#define _GCHINT_COMPAT_WORKQUEUE_H

#include <linux/version.h>
#include <linux/workqueue.h>

#if KERNEL_VERSION(6, 17, 0) > LINUX_VERSION_CODE
#define system_dfl_wq system_unbound_wq
#endif

#endif /* _GCHINT_COMPAT_WORKQUEUE_H */
