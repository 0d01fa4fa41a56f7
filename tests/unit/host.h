/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space replacements of what kmod/model/pure.h uses of the kernel. */
#ifndef TESTS_UNIT_HOST_H
#define TESTS_UNIT_HOST_H

#include <assert.h>
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

#define U32_MAX	      ((u32)~0U)
#define U64_MAX	      ((u64)~0ULL)
#define BIT(n)	      (1UL << (n))
#define BIT_ULL(n)    (1ULL << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC  1000000000L

#define READ_ONCE(x)	    (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)    (*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_rmb()	    __atomic_thread_fence(__ATOMIC_ACQUIRE)

#define array_index_nospec(index, size) ((void)(size), (index))
#define min_t(type, a, b)		((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)		((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, v, lo, hi)	min_t(type, max_t(type, v, lo), hi)

static inline int fls64(u64 v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}

/* The integer part of the root, bit by bit. */
static inline u32 int_sqrt64(u64 v)
{
	u32 root = 0;

	for (u32 bit = 1U << 31; bit; bit >>= 1) {
		if ((u64)(root | bit) * (root | bit) <= v)
			root |= bit;
	}
	return root;
}

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

#endif
