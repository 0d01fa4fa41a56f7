/* SPDX-License-Identifier: MIT */
/*
 * Marking in place: what the plans that do not move objects share. One marker at a
 * time; mutators may run beside it. heap->mark is written by the marker alone.
 */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "trace.h"

/* Nanoseconds on CLOCK_MONOTONIC after which gc_mark_drain() gives up; 0 never */
struct gc_deadline {
	uint64_t at_ns;
};

/* Marks and pushes what @slot refers to; a visitor whose argument is the heap. */
void gc_mark_slot(void **slot, void *heap);

/* Prepare a cycle: clears the mark bits, or takes over the survivors'. World may run. */
void gc_mark_prepare(struct gc_heap *heap, bool keep);
/* Prepare a cycle whose mark bits are right as they are. */
void gc_mark_reset(struct gc_heap *heap);

/* Trace until the stack is empty; false when @deadline passed first. */
bool gc_mark_drain(struct gc_heap *heap, const struct gc_deadline *deadline);

/*
 * mech/mark-share.c. Is this a stop in which mutators that stopped may help to mark? Not while
 * objects move.
 */
bool gc_mark_shares(const struct gc_heap *heap);
/*
 * Call them, and trace with those that come until nothing is grey, each with a stack of its
 * own. False, and nothing done: there is none.
 */
bool gc_mark_share(struct gc_heap *heap);
/* The same for the dirty cards from @card on below @end, and what hangs on them */
bool gc_mark_share_cards(struct gc_heap *heap, uint8_t *card, uint8_t *end);
/* The mark bits of the card at @at, the lowest address first */
gc_inline uint64_t gc_card_marks(const struct gc_heap *heap, uintptr_t at)
{
	uint64_t word = __atomic_load_n(&heap->mark[at >> GC_WORD_SHIFT], __ATOMIC_RELAXED);

	return word >> (at >> 3 & 63) & ((1ULL << GC_CARD / 8) - 1);
}

/*
 * All that the concurrent phase can do: drain, or walk by address with a finger, and
 * with overflow=scan-all recover from overflows.
 */
void gc_mark_concurrent(struct gc_heap *heap);

/*
 * Scan the marked objects on dirty cards, cleaning the cards, and drain; repeat until no
 * card is dirty. @beside: mutators run (preclean): one pass. False: @deadline passed.
 */
bool gc_mark_cards(struct gc_heap *heap, const struct gc_deadline *deadline, bool beside);

/* World stopped: roots, cards and overflow until all is marked. False: timed out. */
bool gc_mark_finish(struct gc_heap *heap, const struct gc_deadline *deadline);

/* World stopped: weak references and finalizers. */
void gc_mark_weak(struct gc_heap *heap);

/* World stopped, after marking: cycle.marked_* and cycle.live_bytes. */
void gc_mark_count(struct gc_heap *heap);

/* World stopped: the mark bits become the live bits. */
void gc_mark_swap(struct gc_heap *heap);

/* Clean all cards of the pages. */
void gc_mark_clean_cards(struct gc_heap *heap);

/* Bytes that an object takes in its space */
size_t gc_held_size(const struct gc_heap *heap, size_t size);

/* End of the pages that were ever used: where walks stop */
uintptr_t gc_high(const struct gc_heap *heap);

/*
 * mech/verify.c, for the plans' own card tables: visit the strong references of @obj; a
 * visitor that sets heap->verify_white when one leads out of the pages.
 */
void gc_verify_scan(struct gc_heap *heap, void *obj, gc_visit_fn visit);
void gc_verify_young(void **slot, void *heap);

#endif
