/* SPDX-License-Identifier: MIT */
/*
 * policy=adaptive: shall the next cycle run beside the mutators, or when the heap is full, with the
 * world stopped? A cycle beside them whose marking cannot end before they have used up the headroom
 * is one that they wait for anyway: on top of that it keeps alive what died while it marked, and
 * comes again the sooner. Pure: bytes and nanoseconds.
 */
#ifndef GC_CHOICE_H
#define GC_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum gc_way {
	GC_WAY_STW, /* a mutator that finds the heap full collects with the world stopped */
	GC_WAY_CONCURRENT, /* the daemon, from the concurrent start on */
	GC_WAYS
};

/**
 * struct gc_choice_seen - means of the cycles that went one way
 * @work: bytes marked
 * @ns: from the beginning until what was freed could be allocated, at the highest frequency
 * @cpu_ns: CPU time of all who marked, at the highest frequency
 * @period: bytes allocated since the cycle before
 * @cycles: how many there were; 0: all else is unknown
 */
struct gc_choice_seen {
	double work, ns, cpu_ns, period;
	unsigned int cycles;
};

/**
 * gc_choice_stretch() - how much longer collecting took than at the highest frequency
 * @effective_khz, @highest_khz: of the CPU that it ran on, 0 unknown
 *
 * Return: 1 where that is unknown
 */
double gc_choice_stretch(uint32_t effective_khz, uint32_t highest_khz);

/** gc_choice_see() - one more cycle; the last weighs as much as those before it. */
void gc_choice_see(struct gc_choice_seen *s, const struct gc_choice_seen *last);

/**
 * struct gc_choice_in - what is known when a cycle has ended
 * @seen: of each way
 * @way: that of the cycle before
 * @alloc_rate: bytes a nanosecond that mutators allocate while nothing holds them up
 * @headroom: bytes from the concurrent start to the limit
 * @room: bytes from what is alive to the limit
 * @mutators: threads, at least 1
 * @cpus: that they may run on, at least 1
 * @missed_ns: by how much longer each mutator waited in the last cycle beside them than was foreseen
 */
struct gc_choice_in {
	struct gc_choice_seen seen[GC_WAYS];
	enum gc_way way;
	double alloc_rate, headroom, room;
	unsigned int mutators, cpus;
	double missed_ns;
};

/**
 * struct gc_choice_out - what was predicted
 * @need_ns: marking beside mutators, by the clock, at the highest frequency
 * @left_ns: until they have used up the headroom
 * @stall_ns: that they wait in a cycle of each way
 * @cost: of each way, for a byte allocated: nanoseconds of a thread, waiting or collecting
 */
struct gc_choice_out {
	double need_ns, left_ns, stall_ns[GC_WAYS], cost[GC_WAYS];
};

/**
 * gc_choice() - which way the next cycle goes
 *
 * Beside, while no cycle went that way or the rate of allocation is unknown; where the marking ends
 * in time; and where waiting for its rest and collecting cost less than the stop does. A stop that
 * was never seen is tried once, after two cycles of which the next would be late.
 */
enum gc_way gc_choice(const struct gc_choice_in *in, struct gc_choice_out *out);

#endif
