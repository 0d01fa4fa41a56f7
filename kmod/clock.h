/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of all time stamps of the module: CLOCK_MONOTONIC ns. */
#ifndef _GCHINT_CLOCK_H
#define _GCHINT_CLOCK_H

#include <linux/ktime.h>
#include <linux/types.h>

static inline u64 gchint_now(void)
{
	return ktime_get_ns();
}

/* 0 if another CPU took @then after this one took @now. */
static inline u64 gchint_elapsed(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

#endif /* _GCHINT_CLOCK_H */
