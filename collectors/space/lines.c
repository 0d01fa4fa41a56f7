// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../heap/budget.h"

#define SWEEP_BATCH 64 /* pages */
#define GRANT	    (16u * 1024)

/* The threads' spans: one for objects that fit a line, one in free blocks for others */
#define SMALL  0
#define MEDIUM 1

int gc_lines_init(struct gc_heap *heap)
{
	struct gc_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	heap->lines = l;
	l->map_size = gc_align((heap->pages_end - heap->base) >> GC_LINE_SHIFT, GC_PAGE);
	l->map = mmap(NULL, l->map_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (l->map == MAP_FAILED) {
		l->map = NULL;
		return -ENOMEM;
	}
	l->fresh = heap->opt.stack == GC_STACK_CONSERVATIVE ?
			   calloc(heap->pages->count, sizeof(*l->fresh)) :
			   NULL;
	if (heap->opt.stack == GC_STACK_CONSERVATIVE && !l->fresh)
		return -ENOMEM;
	l->marks = (uint8_t *)l->map - (heap->base >> GC_LINE_SHIFT);
	return 0;
}

void gc_lines_fini(struct gc_heap *heap)
{
	if (heap->lines && heap->lines->map)
		munmap(heap->lines->map, heap->lines->map_size);
	if (heap->lines)
		free(heap->lines->fresh);
	free(heap->lines);
	heap->lines = NULL;
}

static size_t high_line(struct gc_heap *heap)
{
	return gc_high(heap) >> GC_LINE_SHIFT;
}

void gc_lines_clear(struct gc_heap *heap)
{
	size_t first = heap->base >> GC_LINE_SHIFT;

	memset(&heap->lines->marks[first], 0, high_line(heap) - first);
}

static struct gc_run *run_of(struct gc_thread *t, int kind)
{
	return kind == SMALL ? &t->m.run[0] : &t->medium[MEDIUM];
}

#define PAGE_LINES (GC_PAGE / GC_LINE)

static bool line_is_fresh(const struct gc_heap *heap, uintptr_t addr)
{
	uint16_t lines = heap->lines->fresh[gc_page_of(heap->pages, addr)];

	return lines >> (addr >> GC_LINE_SHIFT) % PAGE_LINES & 1;
}

/* The lines of the block, which the thread owns, are handed out. */
static void lines_hand_out(struct gc_heap *heap, uintptr_t at, uintptr_t end)
{
	for (; at < end; at += GC_LINE)
		heap->lines->fresh[gc_page_of(heap->pages, at)] |=
			(uint16_t)(1u << (at >> GC_LINE_SHIFT) % PAGE_LINES);
}

/* The next hole of at least @bytes in the thread's block. */
static bool next_hole(struct gc_thread *t, int kind, size_t bytes, bool force, bool *refused)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = run_of(t, kind);
	uint8_t *marks = heap->lines->marks;
	uintptr_t line = run->limit >> GC_LINE_SHIFT, end = t->span[kind].end >> GC_LINE_SHIFT;
	size_t most = (heap->opt.stress || heap->opt.every_safepoint) ?
			      gc_align(gc_budget_grant(heap, bytes), GC_LINE) :
			      GRANT;
	uintptr_t stop;

	if (most < bytes)
		most = gc_align(bytes, GC_LINE);
	while (line < end) {
		while (line < end && marks[line])
			line++;
		stop = line;
		while (stop < end && !marks[stop] && (stop - line) << GC_LINE_SHIFT < most)
			stop++;
		if ((stop - line) << GC_LINE_SHIFT >= bytes && stop > line)
			break;
		line = stop;
	}
	if (line >= end)
		return false;
	if (!gc_budget_spend(t, (stop - line) << GC_LINE_SHIFT, force)) {
		*refused = true;
		return false;
	}
	/* Lines that follow the run extend it. */
	if (run->limit != line << GC_LINE_SHIFT || !run->limit)
		run->cursor = line << GC_LINE_SHIFT;
	run->limit = stop << GC_LINE_SHIFT;
	if (unlikely(heap->lines->fresh))
		lines_hand_out(heap, line << GC_LINE_SHIFT, stop << GC_LINE_SHIFT);
	memset((void *)(line << GC_LINE_SHIFT), 0, (stop - line) << GC_LINE_SHIFT);
	return true;
}

static void count_lines(struct gc_heap *heap, uint32_t page)
{
	struct gc_lines *l = heap->lines;
	struct gc_page *pg = &heap->pages->table[page];
	uintptr_t start = gc_page_address(heap->pages, page);
	uint8_t *marks = &l->marks[start >> GC_LINE_SHIFT];
	uint32_t free_lines = 0, holes = 0;

	for (uint32_t i = 0; i < GC_LINES_BYTES / GC_LINE; i++) {
		free_lines += !marks[i];
		holes += !marks[i] && (!i || marks[i - 1]);
		if (unlikely(heap->opt.poison) && !marks[i])
			memset((void *)(start + i * GC_LINE), 0xdb, GC_LINE);
	}
	if (free_lines == GC_LINES_BYTES / GC_LINE) {
		gc_pages_free(heap, page);
		return;
	}
	pg->cells = free_lines;
	pg->holes = (uint8_t)holes;
	pg->unswept = false;
	if (free_lines) {
		pg->next = l->recyclable;
		l->recyclable = page;
	}
}

/* space_lock is held */
static size_t sweep_batch(struct gc_heap *heap)
{
	struct gc_lines *l = heap->lines;
	struct gc_page *table = heap->pages->table;
	uint32_t begin = l->sweep_at, end = begin + SWEEP_BATCH;

	if (end > l->sweep_end)
		end = l->sweep_end;
	for (uint32_t i = begin; i < end; i++)
		if (table[i].kind == GC_PAGE_LINES && table[i].unswept)
			count_lines(heap, i);
	l->sweep_at = end;
	return (size_t)(end - begin) << GC_PAGE_SHIFT;
}

static bool own_block(struct gc_thread *t, int kind)
{
	struct gc_heap *heap = t->heap;
	struct gc_lines *l = heap->lines;
	struct gc_run *run = run_of(t, kind);
	uint32_t page = 0;
	uintptr_t start;

	if (kind == SMALL) {
		while (!l->recyclable && sweep_batch(heap))
			;
		page = l->recyclable;
	} else {
		/* Sweeping frees whole blocks; recyclable ones are left to small objects. */
		while (sweep_batch(heap))
			;
	}
	if (page) {
		l->recyclable = heap->pages->table[page].next;
	} else {
		page = gc_pages_alloc(heap, GC_LINES_PAGES, GC_PAGE_LINES);
		if (!page)
			return false;
		start = gc_page_address(heap->pages, page);
		memset(&l->marks[start >> GC_LINE_SHIFT], 0, GC_LINES_BYTES / GC_LINE);
	}
	start = gc_page_address(heap->pages, page);
	run->cursor = run->limit = start;
	t->span[kind].end = start + GC_LINES_BYTES;
	return true;
}

uintptr_t gc_lines_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	struct gc_heap *heap = t->heap;
	int kind = SMALL;
	struct gc_run *run = run_of(t, kind);
	bool refused = false;
	uintptr_t obj;

	if (run->limit - run->cursor < bytes && bytes > GC_LINE) {
		kind = MEDIUM;
		run = run_of(t, kind);
	}
	while (run->limit - run->cursor < bytes) {
		bool got;

		if (t->span[kind].end && next_hole(t, kind, bytes, force, &refused))
			continue;
		if (refused)
			return 0;
		gc_space_lock(heap);
		got = own_block(t, kind);
		gc_space_unlock(heap);
		if (!got)
			return 0;
	}
	obj = run->cursor;
	run->cursor += bytes;
	return obj;
}

void gc_lines_flush(struct gc_thread *t)
{
	for (int kind = SMALL; kind <= MEDIUM; kind++) {
		struct gc_run *run = run_of(t, kind);

		t->credit += run->limit - run->cursor;
		run->cursor = run->limit = t->span[kind].end = 0;
	}
	gc_budget_return(t);
}

size_t gc_lines_unsweep(struct gc_heap *heap)
{
	struct gc_lines *l = heap->lines;
	struct gc_pages *p = heap->pages;
	size_t lines = 0;

	for (uint32_t i = 1; i < p->high; i++) {
		const uint8_t *marks = &l->marks[gc_page_address(p, i) >> GC_LINE_SHIFT];

		if (p->table[i].kind != GC_PAGE_LINES)
			continue;
		p->table[i].unswept = true;
		for (uint32_t n = 0; n < GC_LINES_BYTES / GC_LINE; n++)
			lines += marks[n];
	}
	if (l->fresh)
		memset(l->fresh, 0, p->high * sizeof(*l->fresh));
	l->recyclable = 0;
	l->sweep_at = 1;
	l->sweep_end = p->high;
	return lines << GC_LINE_SHIFT;
}

size_t gc_lines_sweep(struct gc_heap *heap)
{
	size_t bytes;

	gc_space_lock(heap);
	bytes = sweep_batch(heap);
	gc_space_unlock(heap);
	return bytes;
}

/* The last object that starts at or below @addr and not below @start, by @starts, or 0 */
static uintptr_t start_before(const uint64_t *starts, uintptr_t addr, uintptr_t start)
{
	uintptr_t i = addr >> GC_WORD_SHIFT;
	uint64_t word = starts[i] & ~0ULL >> (63 - (addr >> 3 & 63));

	while (!word) {
		if (i << GC_WORD_SHIFT <= start)
			return 0;
		word = starts[--i];
	}
	return (i << GC_WORD_SHIFT) + ((63 - (uintptr_t)__builtin_clzll(word)) << 3);
}

uintptr_t gc_lines_around(struct gc_heap *heap, uint32_t page, uintptr_t addr,
			  const uint64_t *starts)
{
	uintptr_t start = gc_page_address(heap->pages, page), at;

	if (!line_is_fresh(heap, addr)) {
		at = start_before(starts, addr, start);
		return at && addr < at + gc_object_size(heap, (void *)at) ? at : 0;
	}
	/* Objects follow each other from where the fresh lines begin; between runs there are zeroes. */
	for (at = addr & ~(uintptr_t)(GC_LINE - 1); at > start && line_is_fresh(heap, at - 1);)
		at -= GC_LINE;
	while (at <= addr) {
		size_t size = gc_word((void *)at) ? gc_object_size(heap, (void *)at) : 8;

		if (unlikely(!size))
			gc_die(heap, "object %p has no size: its header was overwritten",
			       (void *)at);
		if (addr < at + size)
			return gc_word((void *)at) ? at : 0;
		at += size;
	}
	return 0;
}

bool gc_lines_holds(struct gc_heap *heap, uintptr_t addr)
{
	struct gc_pages *p = heap->pages;
	uint32_t page = gc_page_of(p, addr);

	while (p->table[page].kind == GC_PAGE_CONT)
		page--;
	return p->table[page].kind == GC_PAGE_LINES;
}
