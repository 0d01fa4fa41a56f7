// SPDX-License-Identifier: MIT
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>

#define SWEEP_BATCH 64 /* pages looked at under one hold of the lock */

/* Above 256 bytes: steps of an eighth to a quarter, chosen to fill a block */
static const uint16_t medium[] = {
	288, 320,  352,	 384,  416,  448,  512,	 576,  640,  704,  768,
	896, 1024, 1168, 1360, 1632, 2048, 2336, 2728, 3272, 4096, 8192
};
_Static_assert(GC_SMALL_MAX / 8 + sizeof(medium) / sizeof(medium[0]) == GC_CLASS_COUNT,
	       "class c below 32 holds objects of 8 (c + 1) bytes");

int gc_blocks_init(struct gc_heap *heap)
{
	struct gc_blocks *b = calloc(1, sizeof(*b));
	unsigned int c = 0;

	if (!b)
		return -ENOMEM;
	for (; c < GC_SMALL_MAX / 8; c++)
		b->size[c] = 8 * (c + 1);
	for (; c < GC_CLASS_COUNT; c++)
		b->size[c] = medium[c - GC_SMALL_MAX / 8];
	c = 0;
	for (unsigned int g = 1; g <= GC_CLASS_LARGEST / 8; g++) {
		while (b->size[c] < 8 * g)
			c++;
		b->class_of[g] = (uint8_t)c;
	}
	for (unsigned int g = 1; g <= GC_SMALL_MAX / 8; g++)
		for (unsigned int bit = 0; bit < 64; bit++)
			b->every[g - 1][bit % g] |= 1ULL << bit;
	heap->blocks = b;
	return 0;
}

void gc_blocks_fini(struct gc_heap *heap)
{
	free(heap->blocks);
	heap->blocks = NULL;
}

/* The run of class @c: the public ones up to GC_SMALL_MAX, then the private. */
static struct gc_run *run_of(struct gc_thread *t, unsigned int c)
{
	if (c >= GC_SMALL_MAX / 8)
		return &t->medium[c - GC_SMALL_MAX / 8];
	return &t->m.run[c + 1];
}

/* Set the live bits of the cells in [start, end), a word at a time for small cells. */
static void set_live(struct gc_heap *heap, uintptr_t start, uintptr_t end, size_t size)
{
	uint64_t *bits = heap->live;
	size_t granules = size / 8, from, to;
	unsigned int at = start >> 3 & 63;

	if (size > GC_SMALL_MAX) {
		for (; start < end; start += size)
			gc_bit_set(bits, start);
		return;
	}
	from = start >> GC_WORD_SHIFT;
	to = (end - size) >> GC_WORD_SHIFT; /* the word of the last cell */
	for (; from < to; from++) {
		uint64_t mask = heap->blocks->every[granules - 1][at % granules] & ~0ULL << at;

		bits[from] |= mask;
		at = 63 - (unsigned int)__builtin_clzll(mask) + (unsigned int)granules - 64;
	}
	bits[to] |= heap->blocks->every[granules - 1][at % granules] & ~0ULL << at &
		    ~0ULL >> (63 - ((end - size) >> 3 & 63));
}

/*
 * What was allocated from the run gets its live bits; a block that a thread owns is
 * its own in the bitmap too, so no lock. Objects are counted here.
 */
static void retire(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = run_of(t, c);
	struct gc_span *span = &t->span[c];
	size_t size = heap->blocks->size[c];

	if (run->cursor > span->start) {
		set_live(heap, span->start, run->cursor, size);
		t->objects += (run->cursor - span->start) / size;
	}
	t->credit += run->limit - run->cursor;
	span->start = run->cursor = run->limit;
}

/* The next free cells of the block that the thread owns; false when it is full. */
static bool next_run(struct gc_thread *t, unsigned int c, size_t size, bool force, bool *refused)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = run_of(t, c);
	struct gc_span *span = &t->span[c];
	uintptr_t end = span->end, at = run->limit, stop;
	size_t bytes, grant;

	if (!end)
		return false;
	while (at + size <= end && gc_bit_test(heap->live, at))
		at += size;
	if (at + size > end)
		return false;
	stop = gc_bit_next(heap->live, at, end);
	grant = gc_budget_grant(heap, size);
	bytes = stop - at < grant ? stop - at : grant;
	bytes -= bytes % size;
	if (!gc_budget_spend(t, bytes, force)) {
		*refused = true;
		return false;
	}
	memset((void *)at, 0, bytes);
	span->start = run->cursor = at;
	run->limit = at + bytes;
	return true;
}

static void set_block(struct gc_thread *t, unsigned int c, uint32_t page)
{
	struct gc_run *run = run_of(t, c);
	uintptr_t start = gc_page_address(t->heap->pages, page);
	size_t size = t->heap->blocks->size[c];

	t->heap->pages->table[page].state = GC_BLOCK_OWNED;
	t->span[c].start = run->cursor = run->limit = start;
	t->span[c].end = start + GC_BLOCK / size * size;
}

/* Count a block's live cells; an empty block's pages are freed. */
static void count_block(struct gc_heap *heap, uint32_t page)
{
	struct gc_blocks *b = heap->blocks;
	struct gc_page *pg = &heap->pages->table[page];
	uintptr_t start = gc_page_address(heap->pages, page);
	size_t size = b->size[pg->cls];

	pg->cells = (uint32_t)gc_bit_count(heap->live, start, start + GC_BLOCK);
	if (!pg->cells) {
		gc_pages_free(heap, page);
		return;
	}
	if (unlikely(heap->opt.poison))
		for (uintptr_t at = start; at + size <= start + GC_BLOCK; at += size)
			if (!gc_bit_test(heap->live, at))
				memset((void *)at, 0xdb, size);
	pg->state = GC_BLOCK_FULL;
	if (pg->cells < GC_BLOCK / size) {
		pg->state = GC_BLOCK_PARTIAL;
		pg->next = b->partial[pg->cls];
		b->partial[pg->cls] = page;
	}
}

/* space_lock is held */
static size_t sweep_batch(struct gc_heap *heap)
{
	struct gc_blocks *b = heap->blocks;
	struct gc_page *table = heap->pages->table;
	uint32_t begin = b->sweep_at, end = begin + SWEEP_BATCH;

	if (end > b->sweep_end)
		end = b->sweep_end;
	for (uint32_t i = begin; i < end; i++)
		if (table[i].kind == GC_PAGE_BLOCK && table[i].state == GC_BLOCK_UNSWEPT)
			count_block(heap, i);
	b->sweep_at = end;
	return (size_t)(end - begin) << GC_PAGE_SHIFT;
}

/* Own another block of class @c; space_lock is held. */
static bool own_block(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_blocks *b = heap->blocks;
	uint32_t page;

	while (!b->partial[c] && sweep_batch(heap))
		;
	page = b->partial[c];
	if (page) {
		b->partial[c] = heap->pages->table[page].next;
		set_block(t, c, page);
		return true;
	}
	page = gc_pages_alloc(heap, GC_BLOCK_PAGES, GC_PAGE_BLOCK, NULL);
	if (!page)
		return false;
	heap->pages->table[page].cls = (uint8_t)c;
	set_block(t, c, page);
	return true;
}

static void disown(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = run_of(t, c);

	if (t->span[c].end) {
		uintptr_t last = t->span[c].end - 1;
		uint32_t page = gc_page_of(heap->pages, last);

		while (heap->pages->table[page].kind == GC_PAGE_CONT)
			page--;
		heap->pages->table[page].state = GC_BLOCK_FULL;
	}
	t->span[c].start = t->span[c].end = run->cursor = run->limit = 0;
}

uintptr_t gc_blocks_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	struct gc_heap *heap = t->heap;
	unsigned int c = heap->blocks->class_of[bytes / 8];
	size_t size = heap->blocks->size[c];
	struct gc_run *run = run_of(t, c);
	bool refused = false;
	uintptr_t obj;

	/* Medium classes have no inline path, so the run may still hold a cell. */
	if (run->cursor + size > run->limit) {
		retire(t, c);
		while (!next_run(t, c, size, force, &refused)) {
			bool got;

			if (refused)
				return 0;
			gc_space_lock(heap);
			disown(t, c);
			got = own_block(t, c);
			gc_space_unlock(heap);
			if (!got)
				return 0;
		}
	}
	obj = run->cursor;
	run->cursor += size;
	return obj;
}

void gc_blocks_flush(struct gc_thread *t)
{
	for (unsigned int c = 0; c < GC_CLASS_COUNT; c++) {
		if (!t->span[c].end)
			continue;
		retire(t, c);
		disown(t, c);
	}
	gc_budget_return(t);
}

void gc_blocks_unsweep(struct gc_heap *heap)
{
	struct gc_blocks *b = heap->blocks;
	struct gc_pages *p = heap->pages;

	memset(b->partial, 0, sizeof(b->partial));
	for (uint32_t i = 1; i < p->high; i++)
		if (p->table[i].kind == GC_PAGE_BLOCK)
			p->table[i].state = GC_BLOCK_UNSWEPT;
	b->sweep_at = 1;
	b->sweep_end = p->high;
}

size_t gc_blocks_sweep(struct gc_heap *heap)
{
	size_t bytes;

	gc_space_lock(heap);
	bytes = sweep_batch(heap);
	gc_space_unlock(heap);
	return bytes;
}

bool gc_blocks_holds(struct gc_heap *heap, uintptr_t addr)
{
	struct gc_pages *p = heap->pages;
	uint32_t page = gc_page_of(p, addr);
	uintptr_t start;
	size_t size;

	while (p->table[page].kind == GC_PAGE_CONT)
		page--;
	if (p->table[page].kind != GC_PAGE_BLOCK || !gc_bit_test(heap->live, addr))
		return false;
	start = gc_page_address(p, page);
	size = heap->blocks->size[p->table[page].cls];
	return (addr - start) % size == 0 && addr + size <= start + GC_BLOCK;
}
