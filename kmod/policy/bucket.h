/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often those who hold no privilege may have something done: once in a while
 * in the long run, several times at once now and then. One for each thing that
 * wears by being done, whoever does it: a policy's switches, a task's clamps.
 */
#ifndef _GCHINT_BUCKET_H
#define _GCHINT_BUCKET_H

#include "pure.h"

/* So many at once after a rest: more than a cycle of a collector has edges. */
#define GCHINT_BUCKET_BURST 16

/**
 * struct gchint_bucket - what was done lately
 * @paid_ns: what was done is paid for from then on
 *
 * The caller serialises. All zero is a full bucket.
 */
struct gchint_bucket {
	u64 paid_ns;
};

/**
 * gchint_bucket_spent() - was too much done lately?
 * @b: bucket
 * @every_ns: once in so long; 0 as often as they like
 * @now_ns: current time
 *
 * Ask before what can be left undone.
 */
static inline bool gchint_bucket_spent(const struct gchint_bucket *b, u64 every_ns, u64 now_ns)
{
	return b->paid_ns > now_ns + (GCHINT_BUCKET_BURST - 1) * every_ns;
}

/**
 * gchint_bucket_take() - it was done, asked for or not
 * @b: bucket
 * @every_ns: as above
 * @now_ns: current time
 */
static inline void gchint_bucket_take(struct gchint_bucket *b, u64 every_ns, u64 now_ns)
{
	b->paid_ns = max_t(u64, b->paid_ns, now_ns) + every_ns;
}

#endif /* _GCHINT_BUCKET_H */
