/* SPDX-License-Identifier: MIT */
/*
 * Size-class blocks: 16 KiB of cells of one size. A cell is free when its live bit is
 * clear, so there are no free lists, and sweeping a block is counting its live bits.
 * A thread owns the block it allocates from, so it allocates cells without a lock.
 */
#ifndef GC_BLOCKS_H
#define GC_BLOCKS_H

#include "pages.h"

#define GC_BLOCK_PAGES 4
#define GC_BLOCK       (GC_BLOCK_PAGES * GC_PAGE)

struct gc_blocks {
	uint32_t partial[GC_CLASS_COUNT]; /* swept, with free cells: page of the first block */
	uint32_t dense[GC_CLASS_COUNT]; /* the same, but with small holes: used last */
	bool roomy; /* the heap is roomy: dense blocks may be passed over */
	uint32_t sweep_at, sweep_end; /* range of pages that are still to be swept */
	uint32_t size[GC_CLASS_COUNT], cells[GC_CLASS_COUNT]; /* of a cell, in a block */
	uint8_t class_of[GC_CLASS_LARGEST / 8 + 1];
	/* every[g - 1][o]: bits o, o + g, o + 2 g, ... of a word, for cells of g granules */
	uint64_t every[GC_SMALL_MAX / 8][GC_SMALL_MAX / 8];
};

int gc_blocks_init(struct gc_heap *heap);
void gc_blocks_fini(struct gc_heap *heap);
/* A zeroed object of @bytes (at most GC_CLASS_LARGEST) through the thread's runs, or 0. */
uintptr_t gc_blocks_alloc(struct gc_thread *t, size_t bytes, bool force);
/* Take back runs and set live bits; world stopped, or on the thread itself with mutators.lock. */
void gc_blocks_flush(struct gc_thread *t);
/* World stopped: set the live bits of what the thread allocated, which keeps its runs. */
void gc_blocks_note(struct gc_thread *t);
/* World stopped, runs noted: the object in the block at @page whose cell includes @addr, or 0 */
uintptr_t gc_blocks_around(struct gc_heap *heap, uint32_t page, uintptr_t addr);
/* World stopped, after the live bitmap was replaced: mark all blocks as unswept. */
void gc_blocks_unsweep(struct gc_heap *heap);
/*
 * Sweep a batch: count live cells of blocks and free empty ones. Returns the bytes swept, 0 when
 * all are. Takes space_lock per batch, as Dalvik's sweep takes the heap lock.
 */
size_t gc_blocks_sweep(struct gc_heap *heap);
/* Is @addr, in the pages, a live object of a block? */
bool gc_blocks_holds(struct gc_heap *heap, uintptr_t addr);

#endif
