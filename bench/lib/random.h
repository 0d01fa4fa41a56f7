/* SPDX-License-Identifier: MIT */
/**
 * DOC: The linear congruential generator of java.util.Random
 *
 * As its specification gives it (48 bits, multiplier 0x5DEECE66D, increment 11), so
 * that a workload here and its Java port draw the same numbers from the same seed.
 * A generator has one user.
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

static inline void random_seed(struct random *r, int64_t seed)
{
	r->state = ((uint64_t)seed ^ 0x5DEECE66Du) & ((UINT64_C(1) << 48) - 1);
}

/** random_bits() - the next @bits (1 to 32) bits, as a signed 32-bit number. */
static inline int32_t random_bits(struct random *r, int bits)
{
	r->state = (r->state * 0x5DEECE66Du + 0xB) & ((UINT64_C(1) << 48) - 1);
	return (int32_t)(uint32_t)(r->state >> (48 - bits));
}

/** random_below() - even over 0 to @bound - 1, as nextInt(bound); @bound above 0. */
static inline int32_t random_below(struct random *r, int32_t bound)
{
	int32_t bits, value;

	if ((bound & -bound) == bound)
		return (int32_t)(((int64_t)bound * (int64_t)random_bits(r, 31)) >> 31);
	do {
		bits = random_bits(r, 31);
		value = bits % bound;
		/* Refuse the last, incomplete run of @bound numbers. */
	} while ((int64_t)bits - value + (bound - 1) > INT32_MAX);
	return value;
}

/** random_unit() - even over [0, 1), as nextDouble(). */
static inline double random_unit(struct random *r)
{
	int64_t high = (int64_t)random_bits(r, 26) << 27;

	return (double)(high + random_bits(r, 27)) / (double)(INT64_C(1) << 53);
}

#endif
