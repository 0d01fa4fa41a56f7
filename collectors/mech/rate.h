/* SPDX-License-Identifier: MIT */
/*
 * How fast the program allocates, and when that will have used up what is left. Pure:
 * bytes, and nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef GC_RATE_H
#define GC_RATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gc_rate_in - counters as a cycle begins
 * @granted: bytes handed to mutators, less what came back
 * @paused_ns: pauses of all mutators, added up
 * @stopped_ns: time that the world was stopped
 * @threads: mutators, at least 1
 */
struct gc_rate_in {
	uint64_t now, granted, paused_ns, stopped_ns;
	uint32_t threads;
};

/**
 * struct gc_rate - the allocation rate, seen from one cycle's beginning to the next
 * @bytes_per_ns: mean of the intervals by the bytes of each, the last weighing as much
 *		  again as those before it; 0 unknown
 * @weight: bytes that the mean stands for
 * @since: where the open interval began; zero all else, and set now
 *
 * Whole intervals and no less: what is allocated beside a cycle, or in the burst after a
 * pause, says little of the time until the next. And while a mutator collects in the
 * foreground nothing is allocated, which says nothing at all.
 */
struct gc_rate {
	double bytes_per_ns, weight;
	struct gc_rate_in since;
};

/**
 * gc_rate_sample() - a cycle begins: close the interval
 *
 * Time in which the collector held mutators up does not count: pauses shared among the
 * threads, at least the time that the world stood (who is parked has no pause, yet is
 * counted). At most 15/16 of the interval are taken off.
 *
 * Return: false when the interval is too short to say anything; it stays open.
 */
bool gc_rate_sample(struct gc_rate *r, const struct gc_rate_in *in);

/** gc_rate_exhaust() - instant when @headroom bytes will be gone, 0 unknown */
uint64_t gc_rate_exhaust(const struct gc_rate *r, uint64_t now, uint64_t headroom);

#endif
