/* SPDX-License-Identifier: MIT */
/*
 * Blocks of 32 KiB divided into lines of 256 bytes (Immix, with MMTk's sizes). A line is
 * free when no marked object lies on it; threads bump through runs of free lines.
 */
#ifndef GC_LINES_H
#define GC_LINES_H

#include "pages.h"

#define GC_LINE_SHIFT  8
#define GC_LINE	       (1u << GC_LINE_SHIFT)
#define GC_LINES_PAGES 8
#define GC_LINES_BYTES (GC_LINES_PAGES * GC_PAGE)

#define GC_LINES_HOLES (GC_LINES_BYTES / GC_LINE / 2) /* runs of free lines in a block, at most */

struct gc_lines {
	/* With stack=conservative, by page: lines that were handed out since the last collection */
	uint16_t *fresh;
	uint8_t *marks; /* biased: marks[address >> GC_LINE_SHIFT] */
	void *map;
	size_t map_size;
	uint32_t recyclable; /* swept blocks with free lines, linked */
	uint32_t sweep_at, sweep_end;
	bool sparse; /* the lines that the last major collection marked are half empty */
	/* space/defrag.c; all of it is zero unless a collection moves objects */
	bool moving;
	uint64_t *leaving; /* one bit per page: objects in it are to move */
	uintptr_t to, to_limit; /* rest of the free block that they move to */
	bool to_full; /* there is no other free block */
};

int gc_lines_init(struct gc_heap *heap);
void gc_lines_fini(struct gc_heap *heap);
uintptr_t gc_lines_alloc(struct gc_thread *t, size_t bytes, bool force);
void gc_lines_flush(struct gc_thread *t);
/* World stopped: unmark all lines. */
void gc_lines_clear(struct gc_heap *heap);
/* World stopped, after marking: set all blocks to unswept; returns bytes on marked lines. */
size_t gc_lines_unsweep(struct gc_heap *heap);
/* Sweep a batch of blocks; returns bytes, 0 when all are swept. Takes space_lock. */
size_t gc_lines_sweep(struct gc_heap *heap);
/*
 * World stopped: the object in the block at @page that includes @addr, or 0. @starts: bitmap of the
 * objects that the last collection left.
 */
uintptr_t gc_lines_around(struct gc_heap *heap, uint32_t page, uintptr_t addr,
			  const uint64_t *starts);
bool gc_lines_holds(struct gc_heap *heap, uintptr_t addr);

/*
 * space/defrag.c: move objects out of blocks with many holes, as Immix does when memory is
 * short, so that whole blocks become free. World stopped; objects move as they are marked.
 */
int gc_defrag_init(struct gc_heap *heap);
void gc_defrag_fini(struct gc_heap *heap);
/*
 * A collection of the whole heap begins, and all blocks are swept: choose blocks to empty. Until
 * gc_defrag_end() the reserve of free pages is available.
 */
void gc_defrag_begin(struct gc_heap *heap);
void gc_defrag_end(struct gc_heap *heap);
/* After a collection of the whole heap: bytes on marked lines and bytes of their objects */
void gc_defrag_found(struct gc_heap *heap, size_t lines, size_t objects);
/* Move the object, whose header is @word; returns its new address, or NULL if there is no room. */
void *gc_defrag_move(struct gc_heap *heap, void *obj, uint64_t word);

/* Do objects move as they are marked? */
static inline bool gc_lines_move(const struct gc_heap *heap)
{
	return heap->lines && heap->lines->moving;
}

/* Is the object at @addr to move? */
static inline bool gc_lines_leaves(const struct gc_heap *heap, uintptr_t addr)
{
	uint32_t page = gc_page_of(heap->pages, addr);

	return heap->lines->leaving[page / 64] >> page % 64 & 1;
}

/* Marks lines of large objects, too: that is harmless, and cheaper than a check. */
static inline void gc_lines_mark(struct gc_heap *heap, uintptr_t addr, size_t size)
{
	uint8_t *marks = heap->lines->marks;
	uintptr_t line = addr >> GC_LINE_SHIFT, last = (addr + size - 1) >> GC_LINE_SHIFT;

	/* A loop alone becomes a call of memset(). */
	marks[line] = marks[last] = 1;
	while (unlikely(++line < last))
		marks[line] = 1;
}

/* The same for several markers: most lines are marked already, so load first and avoid stores. */
static inline void gc_lines_mark_shared(struct gc_heap *heap, uintptr_t addr, size_t size)
{
	uint8_t *marks = heap->lines->marks;
	uintptr_t line = addr >> GC_LINE_SHIFT, last = (addr + size - 1) >> GC_LINE_SHIFT;

	for (; line <= last; line++)
		if (!__atomic_load_n(&marks[line], __ATOMIC_RELAXED))
			__atomic_store_n(&marks[line], 1, __ATOMIC_RELAXED);
}

#endif
