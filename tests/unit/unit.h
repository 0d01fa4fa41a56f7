/* SPDX-License-Identifier: GPL-2.0-only */
/* Included first by every unit test of the module's pure files. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pure.h"

#define US ((u64)NSEC_PER_USEC)
#define MS ((u64)NSEC_PER_MSEC)
#define S  ((u64)NSEC_PER_SEC)

/* Compare two numbers of any unsigned type and print both when they differ. */
#define assert_cmp(a, op, b)                                                                       \
	do {                                                                                       \
		unsigned long long cmp_a = (a), cmp_b = (b);                                       \
		if (!(cmp_a op cmp_b))                                                             \
			fail_msg("%s = %llu, want " #op " %s = %llu", #a, cmp_a, #b, cmp_b);       \
	} while (0)

#define assert_near(a, b, eps)                                                                     \
	do {                                                                                       \
		double near_a = (a), near_b = (b);                                                 \
		if (!(fabs(near_a - near_b) <= (eps)))                                             \
			fail_msg("%s = %.6g, want %.6g within %.3g", #a, near_a, near_b,           \
				 (double)(eps));                                                   \
	} while (0)

#define run_tap(tests)                                                                             \
	(cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

/* The same sequence everywhere, so that a failure is reproducible. */
static inline u32 rnd(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (u32)(*seed >> 16);
}

static inline u32 rnd_in(u64 *seed, u32 lo, u32 hi)
{
	return lo + (u32)((u64)rnd(seed) * ((u64)hi - lo + 1) >> 32);
}

/* Uniform in -1..1. */
static inline double rnd_unit(u64 *seed)
{
	return (double)rnd(seed) / 2147483648.0 - 1.0;
}

#endif
