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

struct gc_lines {
	uint8_t *marks; /* biased: marks[address >> GC_LINE_SHIFT] */
	void *map;
	size_t map_size;
	uint32_t recyclable; /* swept blocks with free lines, linked */
	uint32_t sweep_at, sweep_end;
};

int gc_lines_init(struct gc_heap *heap);
void gc_lines_fini(struct gc_heap *heap);
uintptr_t gc_lines_alloc(struct gc_thread *t, size_t bytes, bool force);
void gc_lines_flush(struct gc_thread *t);
/* World stopped: no line is marked. */
void gc_lines_clear(struct gc_heap *heap);
/* World stopped, after marking: all blocks are to be looked at anew; bytes on marked lines. */
size_t gc_lines_unsweep(struct gc_heap *heap);
/* Look at some more blocks; bytes, 0 when all are done. Takes space_lock. */
size_t gc_lines_sweep(struct gc_heap *heap);
bool gc_lines_holds(struct gc_heap *heap, uintptr_t addr);

/* Mark the lines of a large object too: harmless, and cheaper than to tell it apart. */
static inline void gc_lines_mark(struct gc_heap *heap, uintptr_t addr, size_t size)
{
	uint8_t *marks = heap->lines->marks;
	uintptr_t line = addr >> GC_LINE_SHIFT, last = (addr + size - 1) >> GC_LINE_SHIFT;

	for (; line <= last; line++)
		marks[line] = 1;
}

#endif
