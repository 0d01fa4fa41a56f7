/* SPDX-License-Identifier: MIT */
/*
 * The overhead limit: refuses allocations when the program spends nearly all of its time in
 * collections that free nearly nothing. Pure: nanoseconds and bytes. The bounds are those that
 * OpenJDK's parallel collector documents (GCTimeLimit 98, GCHeapFreeLimit 2).
 */
#ifndef GC_OVERHEAD_H
#define GC_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define GC_OVERHEAD_STRIKES 8

/**
 * struct gc_overhead_in - counters as a collection begins
 * @now: CLOCK_MONOTONIC
 * @paused_ns: pauses of all mutators, added up
 * @granted: total bytes granted to mutators, without returned ones
 * @limit: bytes that the heap may hold
 * @threads: mutators that are not parked, at least 1
 */
struct gc_overhead_in {
	uint64_t now, paused_ns, granted, limit;
	uint32_t threads;
};

/**
 * struct gc_overhead - how many times in a row mutators were paused for 98 % of the time since
 *			the previous collection and were granted less than 2 % of the limit; zero
 *			at first
 */
struct gc_overhead {
	struct gc_overhead_in since;
	uint32_t strikes;
};

/* A collection begins; @needed: because mutators could not allocate, or were about to. */
void gc_overhead_sample(struct gc_overhead *o, const struct gc_overhead_in *in, bool needed);

/*
 * A mutator collected because it could not allocate, and @left bytes are free. True: refuse the
 * allocation although there may be room for it; after the next collection that exceeds the
 * bounds it is true again. Callers serialise.
 */
bool gc_overhead_refuses(struct gc_overhead *o, uint64_t left);

#endif
