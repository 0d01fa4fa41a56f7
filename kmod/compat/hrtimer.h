/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.13 (908a1d775422 "hrtimers: Introduce hrtimer_setup() to replace
 * hrtimer_init()") joined the two steps; 6.15 removed hrtimer_init().
 */
#ifndef _GCHINT_COMPAT_HRTIMER_H
#define _GCHINT_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _GCHINT_COMPAT_HRTIMER_H */
