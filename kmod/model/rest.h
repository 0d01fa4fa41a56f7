/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a mutator keep up with its work?
 *
 * A program that answers requests or draws frames rests between them. While it does, a
 * lower frequency takes from its rests. If one of its threads has stopped resting, work
 * is queued, and a frequency below what load asks for lets the queue grow without limit.
 * A program that never rests by itself just takes longer. Waiting for a collection is no
 * rest.
 */
#ifndef _GCHINT_REST_H
#define _GCHINT_REST_H

#include "pure.h"

/* Unit of time: 2^20 ns, so that a thread's record is 8 bytes. */
#define GCHINT_REST_SHIFT 20
/* Work without a rest for this long is more than a request or two ... */
#define GCHINT_REST_BEHIND_UNITS 4
/* ... and for this long (a second) is how the program works. */
#define GCHINT_REST_NEVER_UNITS 1000
/* A program that waits for a lock or a page now and then rests less often than this. */
#define GCHINT_REST_TIMES_MAX 16
/* Rests farther apart than this (67 ms) do not add up. */
#define GCHINT_REST_HALVING_UNITS 64

/**
 * struct gchint_rest - when a thread last rested by itself
 * @ended: when its last rest ended, in units of time; wraps
 * @times: recent rests, up to GCHINT_REST_TIMES_MAX
 * @slept: it left its CPU to sleep, and no collection stopped it
 *
 * The caller serialises all calls for one thread. All zero is a valid initial state.
 */
struct gchint_rest {
	u32 ended;
	u8 times;
	bool slept;
};

static inline u32 gchint_rest_since(const struct gchint_rest *r, u64 now_ns)
{
	return (u32)(now_ns >> GCHINT_REST_SHIFT) - r->ended;
}

/* The thread is back on a CPU. @stopped: a collection stops it, or stopped it just now. */
static inline void gchint_rest_enter(struct gchint_rest *r, bool stopped, u64 now_ns)
{
	u32 since = gchint_rest_since(r, now_ns);

	if (r->slept && !stopped) {
		u32 times = r->times >> min_t(u32, since / GCHINT_REST_HALVING_UNITS, 7);

		r->times = (u8)min_t(u32, times + 1, GCHINT_REST_TIMES_MAX);
		r->ended += since;
	}
	r->slept = false;
}

/* How a thread's work relates to its time. */
enum gchint_keeping {
	GCHINT_KEEPING_UNKNOWN, /* it has not rested often of late */
	GCHINT_KEEPING_UP, /* it rests between its work */
	GCHINT_KEEPING_BEHIND, /* it used to, and works on */
};

static inline enum gchint_keeping gchint_rest_keeping(const struct gchint_rest *r, u64 now_ns)
{
	u32 since = gchint_rest_since(r, now_ns);

	if (r->times < GCHINT_REST_TIMES_MAX || since >= GCHINT_REST_NEVER_UNITS)
		return GCHINT_KEEPING_UNKNOWN;
	return since >= GCHINT_REST_BEHIND_UNITS ? GCHINT_KEEPING_BEHIND : GCHINT_KEEPING_UP;
}

#endif /* _GCHINT_REST_H */
