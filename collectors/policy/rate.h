/* SPDX-License-Identifier: MIT */
/*
 * The allocation rate of the program, and when it will have used up the headroom. Pure:
 * bytes, and nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef GC_RATE_H
#define GC_RATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gc_rate_in - counters as a cycle begins
 * @granted: total bytes granted to mutators, without returned ones
 * @paused_ns: pauses of all mutators, added up
 * @stopped_ns: time that the world was stopped
 * @threads: mutators, at least 1
 */
struct gc_rate_in {
	uint64_t now, granted, paused_ns, stopped_ns;
	uint32_t threads;
};

/**
 * struct gc_rate - the allocation rate, measured from the beginning of a cycle to the next
 * @bytes_per_ns: mean over the intervals, weighted by bytes, with the weight of older
 *		  intervals halved each time; 0: unknown
 * @weight: bytes that the mean is based on
 * @since: counters at the beginning of the open interval; set @now, and zero all else
 *
 * Only whole intervals count: the rate during a concurrent cycle, or in the burst after a
 * pause, is not that until the next cycle, and a mutator that collects in the foreground
 * allocates nothing meanwhile.
 */
struct gc_rate {
	double bytes_per_ns, weight;
	struct gc_rate_in since;
};

/**
 * gc_rate_sample() - a cycle begins: close the interval
 *
 * Time in which the collector paused mutators is subtracted: the mean of the threads' pauses,
 * but at least the time that the world was stopped (a parked thread has no pause, yet is
 * counted), and at most 15/16 of the interval.
 *
 * Return: false when the interval is too short to say anything; it stays open.
 */
bool gc_rate_sample(struct gc_rate *r, const struct gc_rate_in *in);

/** gc_rate_exhaust() - instant when @headroom bytes will be gone, 0 unknown */
uint64_t gc_rate_exhaust(const struct gc_rate *r, uint64_t now, uint64_t headroom);

#endif
