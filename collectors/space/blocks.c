// SPDX-License-Identifier: MIT
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "../heap/budget.h"

#define SWEEP_BATCH 64 /* pages swept while the lock is held once */
/*
 * A block is dense if it has fewer free bytes than this per live cell (plus one): finding and
 * clearing such holes takes longer than filling them. In a roomy heap, where at most ROOMY of the
 * limit is alive, dense blocks are passed over as long as there are others, up to PASSED of the
 * limit, so that this does not trigger the next concurrent cycle. An old space passes over none,
 * as it is to stay small.
 */
#define HOLE_LEAST 512
#define ROOMY(x)   ((x) / 8 * 3)
#define PASSED(x)  ((x) / 8)
#define LEFT(x)	   ((x) / 64) /* part of the limit that is reserved for large objects */

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
	for (c = 0; c < GC_CLASS_COUNT; c++)
		b->cells[c] = GC_BLOCK / b->size[c];
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

/* The run of class @c: up to GC_SMALL_MAX it is in the public part of the thread. */
static struct gc_run *run_of(struct gc_thread *t, unsigned int c)
{
	if (c >= GC_SMALL_MAX / 8)
		return &t->medium[c - GC_SMALL_MAX / 8];
	return &t->m.run[c + 1];
}

/* The bits of the cell at @at and of the following cells, in its word of a bitmap */
static uint64_t cells_from(const struct gc_blocks *b, unsigned int granules, uintptr_t at)
{
	unsigned int bit = at >> 3 & 63;

	return b->every[granules - 1][bit % granules] & ~0ULL << bit;
}

/* The bits of the cells in the next word; @mask: those in this word */
static uint64_t cells_next(const struct gc_blocks *b, unsigned int granules, uint64_t mask)
{
	return b->every[granules - 1][granules - 1 - (unsigned int)__builtin_clzll(mask)];
}

/* Set the live bits of the cells in [start, end), a word at a time for small cells. */
static void set_live(struct gc_heap *heap, uintptr_t start, uintptr_t end, size_t size)
{
	unsigned int granules = (unsigned int)size / 8;
	uint64_t *bits = heap->live, mask;
	size_t from, to;

	if (size > GC_SMALL_MAX) {
		for (; start < end; start += size)
			gc_bit_set(bits, start);
		return;
	}
	from = start >> GC_WORD_SHIFT;
	to = (end - size) >> GC_WORD_SHIFT; /* the word of the last cell */
	mask = cells_from(heap->blocks, granules, start);
	for (; from < to; from++) {
		bits[from] |= mask;
		mask = cells_next(heap->blocks, granules, mask);
	}
	bits[to] |= mask & ~0ULL >> (63 - ((end - size) >> 3 & 63));
}

/* The first free cell at or after the cell at @at and below @end, or @end. */
static uintptr_t first_free(const struct gc_heap *heap, uintptr_t at, uintptr_t end, size_t size)
{
	unsigned int granules = (unsigned int)size / 8;
	uint64_t mask, unused;
	uintptr_t i;

	if (size > GC_SMALL_MAX) {
		while (at < end && gc_bit_test(heap->live, at))
			at += size;
		return at;
	}
	if (at >= end)
		return end;
	i = at >> GC_WORD_SHIFT;
	mask = cells_from(heap->blocks, granules, at);
	while (!(unused = mask & ~heap->live[i])) {
		if (++i << GC_WORD_SHIFT >= end)
			return end;
		mask = cells_next(heap->blocks, granules, mask);
	}
	at = (i << GC_WORD_SHIFT) + ((uintptr_t)__builtin_ctzll(unused) << 3);
	return at < end ? at : end;
}

/*
 * Set the live bits of the objects that were allocated from the run, and count them. No lock: the
 * owner of a block also owns its words of the bitmap.
 */
static void run_note(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = run_of(t, c);
	struct gc_span *span = &t->span[c];
	size_t size = heap->blocks->size[c];

	if (run->cursor <= span->start)
		return;
	set_live(heap, span->start, run->cursor, size);
	t->objects += (uint32_t)(run->cursor - span->start) / (uint32_t)size;
	span->start = run->cursor;
}

static void run_retire(struct gc_thread *t, unsigned int c)
{
	struct gc_run *run = run_of(t, c);
	struct gc_span *span = &t->span[c];

	run_note(t, c);
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
	at = first_free(heap, at, end, size);
	if (at >= end)
		return false;
	stop = gc_bit_next(heap->live, at, end);
	grant = gc_budget_grant(heap, size);
	bytes = stop - at;
	if (bytes > grant)
		bytes = grant - (uint32_t)grant % (uint32_t)size;
	if (!gc_budget_spend(t, bytes, force)) {
		*refused = true;
		return false;
	}
	if (!t->fills)
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

	t->span[c].start = run->cursor = run->limit = start;
	t->span[c].end = start + t->heap->blocks->cells[c] * size;
}

/* Add @bytes, which may be negative, to those passed over. The caller holds space_lock. */
static void pass_over(struct gc_heap *heap, int64_t bytes)
{
	__atomic_store_n(&heap->budget.passed_over, heap->budget.passed_over + (uint64_t)bytes,
			 __ATOMIC_RELAXED);
}

/* Count a block's live cells, and free the pages of an empty block. */
static void count_block(struct gc_heap *heap, uint32_t page)
{
	struct gc_blocks *b = heap->blocks;
	struct gc_page *pg = &heap->pages->table[page];
	uintptr_t start = gc_page_address(heap->pages, page);
	size_t size = b->size[pg->cls], unused;
	uint32_t *list = b->partial;

	pg->cells = (uint32_t)gc_bit_count(heap->live, start, start + GC_BLOCK);
	if (!pg->cells) {
		gc_pages_free(heap, page);
		return;
	}
	if (unlikely(heap->opt.poison))
		for (uintptr_t at = start; at + size <= start + GC_BLOCK; at += size)
			if (!gc_bit_test(heap->live, at))
				memset((void *)at, 0xdb, size);
	pg->unswept = false;
	unused = (b->cells[pg->cls] - pg->cells) * size;
	if (!unused)
		return;
	if (b->roomy && unused < HOLE_LEAST * (pg->cells + 1) &&
	    heap->budget.passed_over + unused <= PASSED(gc_load(&heap->budget.soft_limit))) {
		list = b->dense;
		pass_over(heap, (int64_t)unused);
	}
	pg->next = list[pg->cls];
	list[pg->cls] = page;
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
		if (table[i].kind == GC_PAGE_BLOCK && table[i].unswept)
			count_block(heap, i);
	b->sweep_at = end;
	return (size_t)(end - begin) << GC_PAGE_SHIFT;
}

/* Own the first block of @list, which is of class @c. */
static bool own_first(struct gc_thread *t, unsigned int c, uint32_t *list)
{
	uint32_t page = *list;

	if (!page)
		return false;
	*list = t->heap->pages->table[page].next;
	set_block(t, c, page);
	return true;
}

/* Own a dense block of class @c. */
static bool own_dense(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_blocks *b = heap->blocks;
	uint32_t unused = (b->cells[c] - heap->pages->table[b->dense[c]].cells) * b->size[c];

	if (!own_first(t, c, &b->dense[c]))
		return false;
	pass_over(heap, -(int64_t)unused);
	return true;
}

/* Only while the pages held stay within the limit, so that the heap does not exceed it. */
static bool may_pass_over(const struct gc_heap *heap)
{
	uint64_t limit = gc_load(&heap->budget.soft_limit);

	return gc_pages_held(heap) + GC_BLOCK <= limit - LEFT(limit);
}

/* Own another block of class @c; space_lock is held. */
static bool own_block(struct gc_thread *t, unsigned int c)
{
	struct gc_heap *heap = t->heap;
	struct gc_blocks *b = heap->blocks;
	uint32_t page;

	while (!b->partial[c] && sweep_batch(heap))
		;
	if (own_first(t, c, &b->partial[c]) || (!may_pass_over(heap) && own_dense(t, c)))
		return true;
	page = gc_pages_alloc(heap, GC_BLOCK_PAGES, GC_PAGE_BLOCK);
	if (!page)
		return own_dense(t, c);
	heap->pages->table[page].cls = (uint8_t)c;
	set_block(t, c, page);
	return true;
}

static void block_disown(struct gc_thread *t, unsigned int c)
{
	struct gc_run *run = run_of(t, c);

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

	/* Medium classes have no inline path, so the run may have a free cell. */
	if (run->cursor + size > run->limit) {
		run_retire(t, c);
		while (!next_run(t, c, size, force, &refused)) {
			bool got;

			if (refused)
				return 0;
			gc_space_lock(heap);
			block_disown(t, c);
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
		run_retire(t, c);
		block_disown(t, c);
	}
	gc_budget_return(t);
}

void gc_blocks_note(struct gc_thread *t)
{
	for (unsigned int c = 0; c < GC_CLASS_COUNT; c++)
		if (t->span[c].end)
			run_note(t, c);
}

uintptr_t gc_blocks_around(struct gc_heap *heap, uint32_t page, uintptr_t addr)
{
	uintptr_t start = gc_page_address(heap->pages, page);
	uint32_t size = heap->blocks->size[heap->pages->table[page].cls];

	/* There is no live bit behind the last cell. */
	addr -= (uint32_t)(addr - start) % size;
	return gc_bit_test(heap->live, addr) ? addr : 0;
}

void gc_blocks_unsweep(struct gc_heap *heap)
{
	struct gc_blocks *b = heap->blocks;
	struct gc_pages *p = heap->pages;

	memset(b->partial, 0, sizeof(b->partial));
	memset(b->dense, 0, sizeof(b->dense));
	__atomic_store_n(&heap->budget.passed_over, 0, __ATOMIC_RELAXED);
	b->roomy =
		!heap->bump && heap->cycle.live_bytes <= ROOMY(gc_load(&heap->budget.soft_limit));
	for (uint32_t i = 1; i < p->high; i++)
		if (p->table[i].kind == GC_PAGE_BLOCK)
			p->table[i].unswept = true;
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
