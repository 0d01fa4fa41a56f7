/* SPDX-License-Identifier: GPL-2.0-only */
/* The one clock of the module. */
#ifndef _GCHINT_CLOCK_H
#define _GCHINT_CLOCK_H

#include <linux/ktime.h>
#include <linux/types.h>

/* What the module's instants are: CLOCK_MONOTONIC, in nanoseconds. */
static inline u64 gchint_now(void)
{
	return ktime_get_ns();
}

/* Time since then; 0 if another CPU has looked at the clock meanwhile. */
static inline u64 gchint_elapsed(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

#endif /* _GCHINT_CLOCK_H */
