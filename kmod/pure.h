/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The floor under the pure files: snapshot, phase, load, opp, learn, pace,
 * plan, decide. They hold the policy; they take all they need as arguments,
 * keep their state in structures of the caller, never sleep, lock, allocate,
 * print or use floating point, and are bounded by the OPP table. They run
 * under a raw run-queue lock in the kernel and under sanitizers in the unit
 * tests, from the same source.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, frequencies kHz. A fraction is
 * fixed point with GCHINT_ONE = 1.
 */
#ifndef _GCHINT_PURE_H
#define _GCHINT_PURE_H

#ifdef __KERNEL__

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/barrier.h>

#else /* !__KERNEL__ */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)
#define BIT(n) (1UL << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline s64 div64_s64(s64 a, s64 b)
{
	return a / b;
}

#endif /* __KERNEL__ */

#include <linux/gchint.h>

/* One, in the fixed point of loads, scales, stretches and memory fractions. */
#define GCHINT_ONE_SHIFT 10
#define GCHINT_ONE (1U << GCHINT_ONE_SHIFT)

/**
 * gchint_scale() - a frequency as a fraction of the reference frequency
 * @khz: frequency
 * @ref_khz: highest frequency of the hardware, not zero
 *
 * Return: 0..GCHINT_ONE
 */
static inline u32 gchint_scale(u32 khz, u32 ref_khz)
{
	if (khz >= ref_khz)
		return GCHINT_ONE;
	return (u32)div_u64((u64)khz << GCHINT_ONE_SHIFT, ref_khz);
}

/**
 * gchint_percent() - a part of a frequency
 * @khz: frequency
 * @pct: percent, at most 1000
 *
 * Return: @pct percent of @khz, saturated
 */
static inline u32 gchint_percent(u32 khz, u32 pct)
{
	return (u32)min_t(u64, div_u64((u64)khz * pct, 100), U32_MAX);
}

#endif /* _GCHINT_PURE_H */
