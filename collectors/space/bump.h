/* SPDX-License-Identifier: MIT */
/*
 * Two bump-pointer spaces of the same capacity: mutators allocate in one, a collection
 * copies what survives to the other. Threads take chunks, so the space reads as a row
 * of objects with holes of zero words.
 */
#ifndef GC_BUMP_H
#define GC_BUMP_H

#include "../heap/heap.h"

#define GC_CHUNK (32u * 1024)

struct gc_bump {
	uintptr_t start[2];
	size_t capacity; /* bytes that mutators may fill */
	size_t span; /* of address space: larger, as copying may add holes */
	int now; /* the space that mutators allocate in */
	uintptr_t top; /* of that space; atomic */
	uintptr_t to; /* while copying: free pointer of the other space; atomic */
	uintptr_t aged; /* objects below it survived the last collection */
	size_t young; /* bytes above it until the next collection; 0: only the space bounds it */
	size_t promise; /* bytes that the next collection may need for promotion */
	uintptr_t high[2]; /* end of the resident part of each space */
	uintptr_t indexed[2]; /* bits of both bitmaps are clear from there on */
};

/* Address space of one of two spaces of @capacity bytes */
static inline size_t gc_bump_span(size_t capacity)
{
	/* Room for holes, and for pieces that are not used up */
	return gc_align(capacity + capacity / 8 + (4u << 20), 1u << 20);
}

int gc_bump_init(struct gc_heap *heap, uintptr_t start, size_t capacity);
void gc_bump_fini(struct gc_heap *heap);
/* Through the thread's run; 0 when the limit or the space is exhausted. */
uintptr_t gc_bump_alloc(struct gc_thread *t, size_t bytes, bool force);
void gc_bump_flush(struct gc_thread *t);
/* World stopped: the other space becomes writable; afterwards spaces change places. */
void gc_bump_open(struct gc_heap *heap);
void gc_bump_flip(struct gc_heap *heap);
/* Set the live bits of the objects in the allocation space, for verification. */
void gc_bump_index(struct gc_heap *heap);
/* Return the other space's memory above its first @keep bytes to the system; returns bytes. */
size_t gc_bump_release(struct gc_heap *heap, size_t keep);
/* World stopped: the same for both spaces, but for what is in use. */
void gc_bump_keep(struct gc_heap *heap, size_t keep);
size_t gc_bump_footprint(const struct gc_heap *heap);

/* Bytes that max= still allows the spaces, however small they are */
size_t gc_bump_left(const struct gc_heap *heap);
/* Bytes that may still be allocated until the next collection */
size_t gc_bump_room(const struct gc_heap *heap);

static inline size_t gc_bump_used(const struct gc_bump *b)
{
	return __atomic_load_n(&b->top, __ATOMIC_RELAXED) - b->start[b->now];
}

/* In the space that mutators allocate in (while copying: in from-space) */
static inline bool gc_bump_has(const struct gc_bump *b, uintptr_t addr)
{
	return addr - b->start[b->now] < b->span;
}

static inline bool gc_bump_to(const struct gc_bump *b, uintptr_t addr)
{
	return addr - b->start[!b->now] < b->span;
}

#endif
