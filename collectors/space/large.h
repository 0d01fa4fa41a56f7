/* SPDX-License-Identifier: MIT */
/* Large objects: each in pages of its own, live and marked by the bit of its address. */
#ifndef GC_LARGE_H
#define GC_LARGE_H

#include "pages.h"

struct gc_large {
	uint32_t *pages; /* first pages of all objects */
	size_t count, room;
	size_t pending; /* reserved, and not yet in pages[] */
	uint64_t bytes; /* of all objects, whole pages */
};

int gc_large_init(struct gc_heap *heap);
void gc_large_fini(struct gc_heap *heap);
/*
 * An object of @bytes comes about in three steps, of which the second may take long: the thread
 * that clears it need not be waited for. Until the last one it is no object for collections.
 */
/* Pages for it, or 0; *@used: addresses from there on never held an object */
uint32_t gc_large_reserve(struct gc_heap *heap, size_t bytes, bool force, uintptr_t *used);
/* Its cards, and @zero its bytes, too */
void gc_large_clear(struct gc_heap *heap, uint32_t page, uintptr_t used, bool zero);
/* Its live bit gets set and its card dirty: it may be old at once. */
uintptr_t gc_large_publish(struct gc_heap *heap, uint32_t page);
/* Its thread does not exist in this forked child: free the pages. */
void gc_large_abandon(struct gc_heap *heap, uint32_t page);
/* The object at @addr, in the pages, was shrunk: if it is large, a sweep frees pages behind it. */
void gc_large_shrunk(struct gc_heap *heap, uintptr_t addr);
/*
 * Free the objects whose live bit is clear, and what others do not need any more; returns the bytes
 * swept. Takes space_lock.
 */
size_t gc_large_sweep(struct gc_heap *heap);

/* The large object, live or not, whose pages include @addr, or 0. Needs no lock. */
uintptr_t gc_large_around(struct gc_heap *heap, uintptr_t addr);
/* Is @addr, in the pages, a live large object? */
bool gc_large_valid(struct gc_heap *heap, uintptr_t addr);

/* Bytes that an object of @bytes occupies */
static inline size_t gc_large_size(size_t bytes)
{
	return gc_align(bytes, GC_PAGE);
}

#endif
