/* SPDX-License-Identifier: MIT */
/*
 * A thread that marks in place: scanning objects, cards and parts of arrays. All functions follow
 * references according to the marker's mode.
 *
 * Invariants: an object is grey from the moment its mark bit is set until it was scanned. A grey
 * object is on the stack, in its queue, in a part of an array, or on a dirty card; or in none of
 * them, and the stack that dropped it says so. A scan marks and pushes unmarked referents.
 */
#ifndef GC_MARKER_H
#define GC_MARKER_H

#include "../space/large.h"
#include "trace.h"

/* The mark bits of the card at @at, the lowest address first */
gc_inline uint64_t gc_card_marks(const struct gc_heap *heap, uintptr_t at)
{
	uint64_t word = __atomic_load_n(&heap->mark[at >> GC_WORD_SHIFT], __ATOMIC_RELAXED);

	return word >> (at >> 3 & 63) & ((1ULL << GC_CARD / 8) - 1);
}

/* The large object around the card at @at, if it is marked, or NULL */
gc_inline void *gc_card_array(struct gc_heap *heap, uintptr_t at)
{
	uintptr_t array = gc_large_around(heap, at);

	return array && gc_card_marks(heap, array) & 1 ? (void *)array : NULL;
}

/* Set the mode of the collecting thread's own marker, when a finger is set or objects are to move. */
void gc_marker_set_mode(struct gc_marker *k);

/* Marks and pushes what @slot refers to; a visitor whose argument is the marker. */
void gc_marker_visit(void **slot, void *marker);

/* Mark @obj where it is, and push it. */
void gc_marker_hold(struct gc_marker *k, void *obj);

/* Scan an object of any type, whose header is @word; @first: it was not scanned before. */
void gc_marker_scan(struct gc_marker *k, void *obj, uint64_t word, bool first);

/*
 * Scan the marked objects on the card at @at. If there are none, and @element says that the card is
 * one of an array, scan what is on it of the array, if that is marked.
 */
void gc_marker_scan_card(struct gc_marker *k, uintptr_t at, bool element);

/* Scan the next part of the array that was put off last; false: there is none. */
bool gc_marker_scan_part(struct gc_marker *k);

/*
 * Scan up to @most objects from the stack (at least 1); returns how many of @most were left when it
 * was empty. Arrays that were put off stay so. The counters of a single marker are merged.
 */
unsigned int gc_marker_drain(struct gc_marker *k, unsigned int most);

/* Add the marker's counters to the heap's; by the collecting thread. It does not reset them. */
void gc_marker_merge(struct gc_marker *k);

#endif
