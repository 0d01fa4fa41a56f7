/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a mutator keep up with its work?
 *
 * A program that answers requests or draws frames rests between them. While it does, a
 * lower frequency takes from its rests. If one of its threads has stopped resting, work
 * is queued, and a frequency below what load asks for lets the queue grow without limit.
 * A program that never rests by itself just takes longer, also if its threads wait for
 * each other's locks now and then. Waiting for a collection is no rest.
 */
#ifndef _GCHINT_REST_H
#define _GCHINT_REST_H

#include "pure.h"

/* Unit of time: 2^20 ns, so that a thread's record is 8 bytes. */
#define GCHINT_REST_SHIFT 20
/* Work without a rest for this long is more than a request or two. */
#define GCHINT_REST_BEHIND_UNITS 4
/* So many requests, one after the other, are how the program works ... */
#define GCHINT_REST_TIMES_MAX 16
/* ... for this long: a second, and as many units of gchint_rest.often. */
#define GCHINT_REST_OFTEN_SHIFT 4
#define GCHINT_REST_OFTEN_MAX 60
/* Rests farther apart than this (67 ms) do not add up. */
#define GCHINT_REST_HALVING_UNITS 64

/* How a thread left its CPU. */
enum gchint_slept {
	GCHINT_SLEPT_NOT, /* for another thread, or stopped by a collection */
	GCHINT_SLEPT_REQUEST, /* to sleep, after little work */
	GCHINT_SLEPT_WORK, /* to sleep, after more: perhaps it waits for a lock */
};

/**
 * struct gchint_rest - when a thread last rested by itself
 * @ended: when its last rest ended, in units of time; wraps
 * @often: when @times was last GCHINT_REST_TIMES_MAX, in 2^GCHINT_REST_OFTEN_SHIFT units
 *	of time, never 0; 0 if that is longer ago than GCHINT_REST_OFTEN_MAX
 * @times: recent rests after a request each, up to GCHINT_REST_TIMES_MAX
 * @slept: enum gchint_slept
 *
 * The caller serialises all calls for one thread. All zero is a valid initial state.
 */
struct gchint_rest {
	u32 ended;
	u16 often;
	u8 times;
	u8 slept;
};

static inline u32 gchint_rest_since(const struct gchint_rest *r, u64 now_ns)
{
	return (u32)(now_ns >> GCHINT_REST_SHIFT) - r->ended;
}

static inline u16 gchint_rest_often_now(u64 now_ns)
{
	return (u16)(now_ns >> (GCHINT_REST_SHIFT + GCHINT_REST_OFTEN_SHIFT)) | 1;
}

/* Correct for 18 minutes after @often: gchint_rest_keeping() asks for less. */
static inline bool gchint_rest_is_often(const struct gchint_rest *r, u64 now_ns)
{
	return r->often &&
	       (u16)(gchint_rest_often_now(now_ns) - r->often) <= GCHINT_REST_OFTEN_MAX;
}

/* The thread leaves its CPU. @slept: to sleep, and no collection stops it. */
static inline void gchint_rest_leave(struct gchint_rest *r, bool slept, u64 now_ns)
{
	r->slept = !slept ? GCHINT_SLEPT_NOT :
		   gchint_rest_since(r, now_ns) < GCHINT_REST_BEHIND_UNITS ?
			    GCHINT_SLEPT_REQUEST :
			    GCHINT_SLEPT_WORK;
}

/* The thread is back on a CPU. @stopped: a collection stops it, or stopped it just now. */
static inline void gchint_rest_enter(struct gchint_rest *r, bool stopped, u64 now_ns)
{
	u32 since = gchint_rest_since(r, now_ns);

	if (r->slept && !stopped) {
		u32 times = r->times >> min_t(u32, since / GCHINT_REST_HALVING_UNITS, 7);

		if (r->slept == GCHINT_SLEPT_REQUEST)
			r->times = (u8)min_t(u32, times + 1, GCHINT_REST_TIMES_MAX);
		else
			r->times = (u8)(times / 2);
		r->ended += since;
		if (r->times == GCHINT_REST_TIMES_MAX)
			r->often = gchint_rest_often_now(now_ns);
		else if (!gchint_rest_is_often(r, now_ns))
			r->often = 0;
	}
	r->slept = GCHINT_SLEPT_NOT;
}

/* How a thread's work relates to its time. */
enum gchint_keeping {
	GCHINT_KEEPING_UNKNOWN, /* it has not answered requests of late */
	GCHINT_KEEPING_UP, /* it rests between its work */
	GCHINT_KEEPING_BEHIND, /* it used to, and works on */
};

static inline enum gchint_keeping gchint_rest_keeping(const struct gchint_rest *r, u64 now_ns)
{
	u32 since = gchint_rest_since(r, now_ns);

	/* One that has not rested for as long does not work on requests any more. */
	if (since > GCHINT_REST_OFTEN_MAX << GCHINT_REST_OFTEN_SHIFT ||
	    !gchint_rest_is_often(r, now_ns))
		return GCHINT_KEEPING_UNKNOWN;
	return since >= GCHINT_REST_BEHIND_UNITS ? GCHINT_KEEPING_BEHIND : GCHINT_KEEPING_UP;
}

#endif /* _GCHINT_REST_H */
