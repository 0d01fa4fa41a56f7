/* SPDX-License-Identifier: MIT */
/*
 * Pages of 4 KiB: which are free, and the use of the others. Callers hold space_lock
 * unless the world is stopped.
 */
#ifndef GC_PAGES_H
#define GC_PAGES_H

#include "../heap/heap.h"

enum gc_page_kind {
	GC_PAGE_FREE,
	GC_PAGE_BLOCK,
	GC_PAGE_LARGE,
	GC_PAGE_LINES,
	GC_PAGE_CONT
};

/* struct gc_page - of a run's first page; the others are GC_PAGE_CONT, and have no more */
struct gc_page {
	uint8_t kind;
	uint8_t cls; /* size class of a block */
	/* blocks: a collection ended since the cells were counted; large: the object was shrunk */
	bool unswept;
	uint8_t holes; /* lines: runs of free lines when last counted */
	uint32_t count; /* pages of the run; of GC_PAGE_CONT: those before it in the run */
	uint32_t next; /* list link: page index, 0 ends (page 0 is never handed out) */
	uint32_t cells; /* blocks: live cells when last counted; lines: free lines */
};

#define GC_PAGE_HINTS 32

struct gc_pages {
	uintptr_t base;
	uint32_t count; /* pages of the reservation, page 0 included */
	uint32_t used, most; /* pages handed out; limit from max= */
	uint32_t reserve; /* of these, kept from mutators for a collection that moves objects */
	bool starved; /* an allocation of pages failed since the last collection */
	uint32_t high; /* no page from here on was ever handed out */
	uint32_t hint[GC_PAGE_HINTS]; /* [k]: no run of k + 1 pages is free below this page */
	uint64_t *free_bits; /* 1: free */
	/* 0: free and zero, never used or returned to the system; otherwise it may be either */
	uint64_t *stale_bits;
	struct gc_page *table;
};

int gc_pages_init(struct gc_heap *heap, uintptr_t base, size_t bytes);
void gc_pages_fini(struct gc_heap *heap);
/* A run of @count pages, or 0. Not cleared. */
uint32_t gc_pages_alloc(struct gc_heap *heap, uint32_t count, enum gc_page_kind kind);
/*
 * Clear the run of @page, which was handed out and not used yet: only pages that were used before,
 * and long runs of those by the system, so that they become resident when they are used. Takes
 * space_lock, also in a stopped world.
 */
void gc_pages_clear(struct gc_heap *heap, uint32_t page);
void gc_pages_free(struct gc_heap *heap, uint32_t page);
/* Free the pages of the run at @page but for the first @count. */
void gc_pages_trim(struct gc_heap *heap, uint32_t page, uint32_t count);
/* Return every free page to the system; returns bytes. */
size_t gc_pages_release(struct gc_heap *heap);

/* Bytes of the pages handed out; without space_lock a recent value */
static inline uint64_t gc_pages_held(const struct gc_heap *heap)
{
	return (uint64_t)__atomic_load_n(&heap->pages->used, __ATOMIC_RELAXED) << GC_PAGE_SHIFT;
}

static inline uintptr_t gc_page_address(const struct gc_pages *p, uint32_t page)
{
	return p->base + ((uintptr_t)page << GC_PAGE_SHIFT);
}

/* End of the pages that were ever used, where walks over the heap stop */
static inline uintptr_t gc_high(const struct gc_heap *heap)
{
	return gc_page_address(heap->pages, __atomic_load_n(&heap->pages->high, __ATOMIC_RELAXED));
}

static inline uint32_t gc_page_of(const struct gc_pages *p, uintptr_t addr)
{
	return (uint32_t)((addr - p->base) >> GC_PAGE_SHIFT);
}

static inline bool gc_in_pages(const struct gc_heap *heap, uintptr_t addr)
{
	return addr - heap->base < heap->pages_end - heap->base;
}

#endif
