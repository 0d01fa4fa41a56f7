/* SPDX-License-Identifier: MIT */
/* The budget of bytes that triggers collections. */
#ifndef GC_BUDGET_H
#define GC_BUDGET_H

#include "heap.h"

bool gc_budget_take(struct gc_heap *heap, size_t bytes, bool force);
/* The same through the thread's credit, so that small runs do not contend for the counter. */
bool gc_budget_spend(struct gc_thread *t, size_t bytes, bool force);
/* The world is stopped, or on the thread itself: credit and counts return to the heap. */
void gc_budget_return(struct gc_thread *t);
/* Bytes of a run worth granting now: small under stress, so that triggers are exact. */
size_t gc_budget_grant(const struct gc_heap *heap, size_t want);

/* Count @bytes more, or less, outside of the heap. */
void gc_external_count(struct gc_heap *heap, int64_t bytes);
enum gc_external {
	GC_EXTERNAL_FITS,
	GC_EXTERNAL_STARTS, /* a concurrent cycle is due */
	GC_EXTERNAL_FULL, /* a collection is due */
	GC_EXTERNAL_MAJOR, /* one of the whole heap is */
};
/*
 * Bytes outside of the heap may double between two collections, in addition to what the heap has
 * left: so their number bounds the garbage, and the work is in proportion to the allocation.
 */
enum gc_external gc_external_due(const struct gc_heap *heap);
/* A collection ended. */
void gc_external_collected(struct gc_heap *heap);

#endif
