/* SPDX-License-Identifier: MIT */
/*
 * policy=adaptive: shall the next cycle run concurrently, or with the world stopped when the heap
 * is full? Mutators wait for a concurrent cycle anyway if its marking cannot end before they have used
 * up the headroom. Such a cycle also keeps objects that died while it marked, so that the next one
 * comes sooner. Pure: bytes and nanoseconds.
 */
#ifndef GC_CHOICE_H
#define GC_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum gc_mode {
	GC_MODE_STW, /* a mutator that finds the heap full collects with the world stopped */
	GC_MODE_CONCURRENT, /* the daemon, from the concurrent start on */
	GC_MODES
};

/**
 * struct gc_choice_seen - means over the cycles of one type (enum gc_mode)
 * @work: bytes marked
 * @ns: from the beginning until freed memory could be allocated, at the highest frequency
 * @cpu_ns: CPU time of all marking threads, at the highest frequency
 * @period: bytes allocated since the cycle before
 * @cycles: number of cycles; 0: the other fields are unknown
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

/** gc_choice_see() - add a cycle; the last one weighs as much as all before it together. */
void gc_choice_see(struct gc_choice_seen *s, const struct gc_choice_seen *last);

/**
 * struct gc_choice_in - what is known when a cycle has ended
 * @seen: measurements of each type
 * @mode: type of the cycle before
 * @alloc_rate: bytes per nanosecond that mutators allocate while they run
 * @headroom: bytes from the concurrent start to the limit
 * @room: bytes from the live bytes to the limit
 * @mutators: threads, at least 1
 * @cpus: number of CPUs that they may run on, at least 1
 * @missed_ns: how much longer than predicted each mutator waited in the last concurrent cycles
 */
struct gc_choice_in {
	struct gc_choice_seen seen[GC_MODES];
	enum gc_mode mode;
	double alloc_rate, headroom, room;
	unsigned int mutators, cpus;
	double missed_ns;
};

/**
 * struct gc_choice_out - the prediction
 * @need_ns: wall-clock time of concurrent marking at the highest frequency
 * @left_ns: time until mutators have used up the headroom
 * @stall_ns: time that each mutator waits in a cycle of each type
 * @cost: thread time, waiting or collecting, per allocated byte, for each type
 */
struct gc_choice_out {
	double need_ns, left_ns, stall_ns[GC_MODES], cost[GC_MODES];
};

/**
 * gc_choice() - type of the next cycle
 *
 * Concurrent while no such cycle was measured or the allocation rate is unknown, where the marking
 * ends in time, and where waiting for the rest of it costs less than a stop. A stop that was never
 * measured is tried once, after two concurrent cycles, if the next one would be late.
 */
enum gc_mode gc_choice(const struct gc_choice_in *in, struct gc_choice_out *out);

#endif
