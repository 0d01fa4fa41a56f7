/* SPDX-License-Identifier: MIT */
/* Large objects: each in pages of its own, live and marked by the bit of its address. */
#ifndef GC_LARGE_H
#define GC_LARGE_H

#include "pages.h"

struct gc_large {
	uint32_t *pages; /* first pages of all objects */
	size_t count, room;
	uint64_t bytes; /* of all objects, whole pages */
};

int gc_large_init(struct gc_heap *heap);
void gc_large_fini(struct gc_heap *heap);
/* A zeroed object, its live bit set and its card dirty (it may be old at once); or 0. */
uintptr_t gc_large_alloc(struct gc_heap *heap, size_t bytes, bool force);
/* Free the objects whose live bit is clear; returns the bytes swept. Takes space_lock. */
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
