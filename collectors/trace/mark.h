/* SPDX-License-Identifier: MIT */
/*
 * The marking of a collection, for plans whose objects stay in place or move as they are marked.
 * The functions run on the collecting thread; mutators may run concurrently. Only markers write
 * heap->mark.
 */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "marker.h"

/* Time of CLOCK_MONOTONIC after which gc_mark_drain() gives up; 0: never */
struct gc_deadline {
	uint64_t at_ns;
};

/*
 * On CPUs with weakly ordered stores, cleaning cards while mutators run needs membarrier(2). Where
 * that is not available, all dirty cards are left to the pause.
 */
void gc_mark_order_init(struct gc_heap *heap);

/* Prepare a cycle: clear the mark bits, or copy the survivors' (@keep). Mutators may run. */
void gc_mark_prepare(struct gc_heap *heap, bool keep);
/* Prepare a cycle that keeps the mark bits as they are. */
void gc_mark_reset(struct gc_heap *heap);

/* Before the first root: mark by address from @finger on. Objects ahead of it are left to that. */
void gc_mark_set_finger(struct gc_heap *heap, uintptr_t finger);

/* Trace until the stack is empty; false when @deadline passed first. */
bool gc_mark_drain(struct gc_heap *heap, const struct gc_deadline *deadline);

/* The next marked object from *@at on; false at the end of the heap, which may grow meanwhile. */
bool gc_mark_next(const struct gc_heap *heap, uintptr_t *at);

/*
 * The concurrent phase: drain, or walk by address with a finger, and scan all marked objects
 * again if the stack dropped any.
 */
void gc_mark_concurrent(struct gc_heap *heap);

/*
 * Scan the marked objects on dirty cards, cleaning the cards, and drain; repeat until no
 * card is dirty. @concurrent: mutators run (preclean): one pass. False: @deadline passed.
 */
bool gc_mark_cards(struct gc_heap *heap, const struct gc_deadline *deadline, bool concurrent);

/* World stopped: roots, cards and overflow until all is marked. False: timed out. */
bool gc_mark_finish(struct gc_heap *heap, const struct gc_deadline *deadline);

/*
 * World stopped, after gc_mark_finish(): weak references and finalizers. False: timed out, so call
 * both again after more marking.
 */
bool gc_mark_weak(struct gc_heap *heap, const struct gc_deadline *deadline);

/* World stopped, after marking: cycle.marked_* and cycle.live_bytes. */
void gc_mark_count(struct gc_heap *heap);

/* World stopped: the mark bits become the live bits. */
void gc_mark_swap(struct gc_heap *heap);

/* Clean all cards of the pages. */
void gc_mark_clean_cards(struct gc_heap *heap);

#endif
