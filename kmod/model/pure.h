/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common base of the pure files. They take all they need as arguments, keep their
 * state in structures of the caller, never sleep, lock, allocate, print or use
 * floating point, and their loops are bounded by the OPP table. They run under the
 * raw run-queue lock in the kernel and under sanitizers in the
 * unit tests, from the same source.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, frequencies kHz. A fraction is fixed
 * point with GCHINT_ONE = 1.
 */
#ifndef _GCHINT_PURE_H
#define _GCHINT_PURE_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/barrier.h>

#else /* !__KERNEL__ */

/* The same names in user space: tests/unit/host.h. */
#include "host.h"

#endif /* __KERNEL__ */

#include <linux/gchint.h>

/* One, in the fixed point of loads, scales, stretches and memory fractions. */
#define GCHINT_ONE_SHIFT 10
#define GCHINT_ONE ((u32)BIT(GCHINT_ONE_SHIFT))

/* @khz as a fraction of @ref_khz (the hardware's highest, not 0), 0..GCHINT_ONE. */
static inline u32 gchint_scale(u32 khz, u32 ref_khz)
{
	if (khz >= ref_khz)
		return GCHINT_ONE;
	return (u32)div_u64((u64)khz << GCHINT_ONE_SHIFT, ref_khz);
}

/* @pct percent (at most 1000) of @khz, saturated. */
static inline u32 gchint_percent(u32 khz, u32 pct)
{
	return (u32)min_t(u64, div_u64((u64)khz * pct, 100), U32_MAX);
}

#endif /* _GCHINT_PURE_H */
