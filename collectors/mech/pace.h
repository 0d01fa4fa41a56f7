/* SPDX-License-Identifier: MIT */
/*
 * Beside concurrent marking mutators may use up the headroom only as fast as the marking
 * gets on. Who is ahead waits a 32nd part of a cycle, pace= microseconds at most, several
 * times, and does not stand at the limit for the rest of the cycle in one piece. Such a wait
 * is long against a sleep and a wake-up, which a slow machine needs 0.1 ms for. It is a class
 * of pause of its own; for who hurries it is a wait for the cycle as any other.
 */
#ifndef GC_PACE_H
#define GC_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct gc_heap;

/**
 * struct gc_pace - one cycle's plan; bytes
 * @on: a cycle paces the mutators: futex word, 0 or 1
 * @tight: for a while they are held to less: says nothing of when they would have to wait
 * @base: in use when marking began
 * @room: what could be allocated from then on
 * @work: to be marked, as far as the last cycle tells
 * @most: to be marked at most; @work until @done shows that it is more
 * @done: marked
 */
struct gc_pace {
	uint32_t on, tight;
	uint64_t base, room, work, most, done;
};

/**
 * gc_pace_allowed() - bytes that may be in use after done bytes were marked
 *
 * A sixteenth of the room at once, an eighth only after the marking: the second pause and
 * what the estimate missed need it. So at a steady rate nobody waits if the marking ends
 * before seven eighths are used up: the headroom that listeners are told.
 */
uint64_t gc_pace_allowed(const struct gc_pace *p);

/** gc_pace_slice() - ns that a wait takes: @most is pace=, @cycle_ns a cycle's length */
uint64_t gc_pace_slice(uint64_t most, uint64_t cycle_ns);

/*
 * The daemon was ordered and no cycle is under way: until its marking begins a sixteenth of
 * the headroom may be used up. Where mutators keep all cores busy, it runs while they wait.
 */
void gc_pace_order(struct gc_heap *heap);
/* Concurrent marking begins; mutators run. */
void gc_pace_begin(struct gc_heap *heap);
/* Marking goes on beside mutators for a while in which they may allocate @bytes. */
void gc_pace_tighten(struct gc_heap *heap, uint64_t bytes);
/* What it frees may be allocated: who waits goes on. */
void gc_pace_end(struct gc_heap *heap);

#endif
