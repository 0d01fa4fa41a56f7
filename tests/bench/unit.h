/* SPDX-License-Identifier: MIT */
/* What every unit test of the bench room includes first. */
#ifndef TESTS_BENCH_UNIT_H
#define TESTS_BENCH_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#define assert_near(a, b, eps)                                                                     \
	do {                                                                                       \
		double near_a = (a), near_b = (b);                                                 \
		if (!(fabs(near_a - near_b) <= (eps)))                                             \
			fail_msg("%s = %.12g, want %.12g", #a, near_a, near_b);                    \
	} while (0)

#define run_tap(tests)                                                                             \
	(cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
