/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All times of a recording are CLOCK_MONOTONIC in nanoseconds. */
#ifndef GCHINT_CLOCK_H
#define GCHINT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/**
 * clock_map - offset from another clock to CLOCK_MONOTONIC
 * @id: the other clock
 * @error_ns: receives the maximal error of the offset
 *
 * Reads the other clock between two readings of CLOCK_MONOTONIC. Of five tries it uses
 * the one with the shortest time between these; half of that time bounds the error.
 * Returns monotonic minus other, in ns.
 */
static inline int64_t clock_map(clockid_t id, uint64_t *error_ns)
{
	uint64_t best = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_now(), other = clock_ns(id), after = clock_now();

		if (after - before < best) {
			best = after - before;
			offset = (int64_t)(before + best / 2) - (int64_t)other;
		}
	}
	*error_ns = best / 2 + 1;
	return offset;
}

#endif
