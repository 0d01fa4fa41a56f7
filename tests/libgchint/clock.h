/* SPDX-License-Identifier: MIT */
/* The library's clock, stopped at an instant that no arithmetic yields by chance. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

#define CLOCK_SECONDS 1234567
#define CLOCK_NS      89
#define CLOCK_NOW     (CLOCK_SECONDS * 1000000000ll + CLOCK_NS)

/* What a test says has passed since then, below a second. */
static long clock_passed_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	ts->tv_sec = clock == CLOCK_MONOTONIC ? CLOCK_SECONDS : 0;
	ts->tv_nsec = CLOCK_NS + clock_passed_ns;
	return 0;
}

#endif /* CLOCK_H */
