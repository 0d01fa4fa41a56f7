// SPDX-License-Identifier: MIT
/*
 * Immix's opportunistic defragmentation (Blackburn and McKinley, PLDI 2008): when memory
 * was short, the objects of the blocks with the most holes move to free blocks while they
 * are marked. An object that finds no room is marked in place.
 */
#include <errno.h>
#include <stdlib.h>

#include "../heap/forward.h"
#include "lines.h"

#define LINES (GC_LINES_BYTES / GC_LINE)
/* One page in so many of max= is kept free to move objects to, as in Immix. */
#define RESERVE 40
/*
 * Reasons to move. When pages run out, the bytes up to the limit are lost to holes. This is the
 * part of the room that may be lost.
 */
#define LOST 0.25
/* The heap is tight if its room is less than this part of the live bytes. */
#define TIGHT 0.5
/* Lines are sparse if the marked ones have this many times the bytes of their objects. */
#define SPARSE 2.0

static uint32_t defrag_reserve(const struct gc_heap *heap)
{
	if (heap->opt.defrag == GC_DEFRAG_NEVER)
		return 0;
	return heap->pages->most / RESERVE / GC_LINES_PAGES * GC_LINES_PAGES;
}

int gc_defrag_init(struct gc_heap *heap)
{
	struct gc_pages *p = heap->pages;

	p->reserve = defrag_reserve(heap);
	heap->lines->leaving = calloc(p->count / 64 + 1, sizeof(uint64_t));
	return heap->lines->leaving ? 0 : -ENOMEM;
}

void gc_defrag_fini(struct gc_heap *heap)
{
	if (heap->lines)
		free(heap->lines->leaving);
}

static void block_leave(struct gc_heap *heap, uint32_t page)
{
	for (uint32_t i = page; i < page + GC_LINES_PAGES; i++)
		heap->lines->leaving[i / 64] |= 1ULL << i % 64;
}

/*
 * The minimum of holes of the blocks that are emptied: the lowest number, at least @least, for
 * which the lines marked in them at the last collection fit into the free blocks. NONE: no block
 * is emptied.
 */
#define NONE ((int)GC_LINES_HOLES + 1)
static int fewest_holes(const struct gc_pages *p, int least)
{
	uint32_t room = p->most > p->used ? (p->most - p->used) / GC_LINES_PAGES * LINES : 0;
	uint32_t want = 0;
	uint32_t marked[GC_LINES_HOLES + 1] = { 0 };
	int holes = GC_LINES_HOLES;

	for (uint32_t i = 1; i < p->high; i++)
		if (p->table[i].kind == GC_PAGE_LINES)
			marked[p->table[i].holes] += LINES - p->table[i].cells;
	for (; holes >= least && want + marked[holes] <= room; holes--)
		want += marked[holes];
	return want ? holes + 1 : NONE;
}

static bool defrag_wanted(const struct gc_heap *heap)
{
	double limit = (double)gc_load(&heap->budget.soft_limit),
	       live = (double)heap->budget.live_bytes;
	double lost = limit - (double)gc_load(&heap->budget.in_use), room = limit - live;

	if (heap->opt.defrag != GC_DEFRAG_AUTO)
		return heap->opt.defrag == GC_DEFRAG_ALWAYS;
	if (heap->pages->starved && lost > room * LOST)
		return true;
	if (room < live * TIGHT && heap->pages->used > heap->pages->most / 8 * 7)
		return true;
	return heap->cycle.cause == GC_CAUSE_OOM || heap->lines->sparse;
}

void gc_defrag_begin(struct gc_heap *heap)
{
	struct gc_pages *p = heap->pages;
	int fewest = NONE;

	p->reserve = 0;
	/* With sparse lines, blocks without a hole are worth emptying, too. */
	if (defrag_wanted(heap))
		fewest = fewest_holes(p, heap->lines->sparse ? 0 : 1);
	if (fewest == NONE)
		return;
	for (uint32_t i = 1; i < p->high; i++)
		if (p->table[i].kind == GC_PAGE_LINES && p->table[i].holes >= fewest)
			block_leave(heap, i);
	heap->lines->moving = true;
}

void gc_defrag_found(struct gc_heap *heap, size_t lines, size_t objects)
{
	heap->lines->sparse = (double)lines > SPARSE * (double)objects;
}

/* After a collection for want of memory, mutators may allocate the reserve, too. */
void gc_defrag_end(struct gc_heap *heap)
{
	struct gc_lines *l = heap->lines;
	struct gc_pages *p = heap->pages;

	if (heap->cycle.cause != GC_CAUSE_OOM)
		p->reserve = defrag_reserve(heap);
	if (l->moving)
		memset(l->leaving, 0, (p->count / 64 + 1) * sizeof(uint64_t));
	l->moving = l->to_full = p->starved = false;
	l->to = l->to_limit = 0;
}

static bool next_block(struct gc_heap *heap)
{
	struct gc_lines *l = heap->lines;
	uint32_t page = 0;

	if (!l->to_full)
		page = gc_pages_alloc(heap, GC_LINES_PAGES, GC_PAGE_LINES);
	l->to_full = !page;
	if (!page)
		return false;
	l->to = gc_page_address(heap->pages, page);
	l->to_limit = l->to + GC_LINES_BYTES;
	memset(&l->marks[l->to >> GC_LINE_SHIFT], 0, LINES);
	return true;
}

void *gc_defrag_move(struct gc_heap *heap, void *obj, uint64_t word)
{
	size_t size = gc_size(gc_info(heap, word), word);
	struct gc_lines *l = heap->lines;
	void *to;

	if (l->to_limit - l->to < size && !next_block(heap))
		return NULL;
	to = (void *)l->to;
	l->to += size;
	gc_copy_words(to, obj, size);
	((struct gc_header *)obj)->word = (uintptr_t)to | GC_FORWARDED;
	gc_stat_add(&heap->stats.copied_bytes, size);
	return to;
}
