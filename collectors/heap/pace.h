/* SPDX-License-Identifier: MIT */
/*
 * During concurrent marking, mutators may use up the headroom only as fast as the marking
 * advances. A mutator that is ahead waits a 32nd part of a cycle, at most pace= microseconds.
 * So there are several short waits instead of a long one at the limit for the rest of the
 * cycle. A wait must be long compared with a sleep and a wake-up, which take 0.1 ms on a slow
 * machine. It is a class of pauses of its own; for the urgency of the cycle it counts as a wait.
 */
#ifndef GC_PACE_H
#define GC_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct gc_heap;

/**
 * struct gc_pace - pacing of one cycle, in bytes
 * @on: a cycle paces the mutators: futex word, 0 or 1
 * @tight: a temporary, lower bound is in force, which says nothing about the real headroom
 * @base: in use when marking began
 * @room: what could be allocated from then on
 * @work: estimate of bytes to mark, from the last cycle
 * @most: upper bound of bytes to mark; used once @done has passed @work
 * @done: marked
 */
struct gc_pace {
	uint32_t on, tight;
	uint64_t base, room, work, most, done;
};

/**
 * gc_pace_allowed() - bytes that may be in use after done bytes were marked
 *
 * A sixteenth of the room at once; an eighth is kept back even after the marking, for the second
 * pause and for errors of the estimate. So at a steady rate no mutator waits if the marking ends
 * before seven eighths are used up. That is the headroom that listeners see.
 */
uint64_t gc_pace_allowed(const struct gc_pace *p);

/**
 * gc_pace_expected() - bytes that a cycle of this kind is expected to mark: as many as the last
 *
 * All bytes in use before the first one. Marking everything in use is the rule's worst case, and
 * as an estimate would make a governor hurry for garbage.
 */
uint64_t gc_pace_expected(const struct gc_heap *heap);

/** gc_pace_slice() - ns that a wait takes: @most is pace=, @cycle_ns a cycle's length */
uint64_t gc_pace_slice(uint64_t most, uint64_t cycle_ns);

/*
 * The daemon was ordered and no cycle is under way: until its marking begins, a sixteenth of
 * the headroom may be used up. Where mutators keep all cores busy, their waits let it run.
 */
void gc_pace_order(struct gc_heap *heap);
/* Concurrent marking begins; mutators run. */
void gc_pace_begin(struct gc_heap *heap);
/* Another round of concurrent marking begins, during which mutators may allocate @bytes. */
void gc_pace_tighten(struct gc_heap *heap, uint64_t bytes);
/* The freed memory may be allocated: waiting mutators continue. */
void gc_pace_end(struct gc_heap *heap);

#endif
