// SPDX-License-Identifier: MIT
#include "large.h"

#include <errno.h>
#include <stdlib.h>

#include "../heap/budget.h"

int gc_large_init(struct gc_heap *heap)
{
	heap->large = calloc(1, sizeof(*heap->large));
	return heap->large ? 0 : -ENOMEM;
}

void gc_large_fini(struct gc_heap *heap)
{
	if (heap->large)
		free(heap->large->pages);
	free(heap->large);
	heap->large = NULL;
}

uint32_t gc_large_reserve(struct gc_heap *heap, size_t bytes, bool force, uintptr_t *used)
{
	struct gc_large *l = heap->large;
	size_t whole = gc_large_size(bytes);
	uint32_t page = 0;

	if (!gc_budget_take(heap, whole, force))
		return 0;
	gc_space_lock(heap);
	if (l->count + l->pending == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		uint32_t *pages = realloc(l->pages, room * sizeof(*pages));

		if (pages) {
			l->pages = pages;
			l->room = room;
		}
	}
	*used = gc_high(heap);
	if (l->count + l->pending < l->room)
		page = gc_pages_alloc(heap, (uint32_t)(whole >> GC_PAGE_SHIFT), GC_PAGE_LARGE);
	l->pending += page != 0;
	gc_space_unlock(heap);
	if (!page) {
		__atomic_fetch_sub(&heap->budget.in_use, whole, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&heap->budget.granted, whole, __ATOMIC_RELAXED);
	}
	return page;
}

void gc_large_clear(struct gc_heap *heap, uint32_t page, uintptr_t used, bool zero)
{
	uintptr_t at = gc_page_address(heap->pages, page);
	uintptr_t end = at + ((uintptr_t)heap->pages->table[page].count << GC_PAGE_SHIFT);

	if (zero)
		gc_pages_clear(heap, page);
	/* What was stored to earlier objects there: GC_CARD_ELEMENT alone is expected from here on. */
	for (end = end < used ? end : used; at < end; at += GC_CARD)
		if (__atomic_load_n(gc_card(heap, at), __ATOMIC_RELAXED))
			__atomic_store_n(gc_card(heap, at), 0, __ATOMIC_RELAXED);
}

uintptr_t gc_large_publish(struct gc_heap *heap, uint32_t page)
{
	uintptr_t obj = gc_page_address(heap->pages, page);
	struct gc_large *l = heap->large;

	gc_space_lock(heap);
	l->pending--;
	l->pages[l->count++] = page;
	l->bytes += (uint64_t)heap->pages->table[page].count << GC_PAGE_SHIFT;
	gc_bit_set(heap->live, obj);
	gc_space_unlock(heap);
	gc_count(&heap->stats.allocated_objects, 1);
	if (GC_NEEDED(1))
		gc_card_dirty(heap, obj);
	return obj;
}

void gc_large_abandon(struct gc_heap *heap, uint32_t page)
{
	heap->large->pending--;
	gc_pages_free(heap, page);
}

void gc_large_shrunk(struct gc_heap *heap, uintptr_t addr)
{
	struct gc_page *pg = &heap->pages->table[gc_page_of(heap->pages, addr)];

	/* Not now: a marker that read the former length may be scanning the elements. */
	gc_space_lock(heap);
	if (pg->kind == GC_PAGE_LARGE)
		pg->unswept = true;
	gc_space_unlock(heap);
}

/* Free the pages behind an object that was shrunk; returns their bytes. */
static size_t large_trim(struct gc_heap *heap, uint32_t page)
{
	struct gc_page *pg = &heap->pages->table[page];
	void *obj = (void *)gc_page_address(heap->pages, page);
	uint32_t before = pg->count;

	if (!pg->unswept)
		return 0;
	pg->unswept = false;
	gc_pages_trim(heap, page,
		      (uint32_t)(gc_large_size(gc_object_size(heap, obj)) >> GC_PAGE_SHIFT));
	return (size_t)(before - pg->count) << GC_PAGE_SHIFT;
}

size_t gc_large_sweep(struct gc_heap *heap)
{
	struct gc_large *l = heap->large;
	size_t kept = 0;
	uint64_t bytes;

	gc_space_lock(heap);
	bytes = l->bytes;
	for (size_t i = 0; i < l->count; i++) {
		uint32_t page = l->pages[i];

		if (gc_bit_test(heap->live, gc_page_address(heap->pages, page))) {
			l->pages[kept++] = page;
			l->bytes -= large_trim(heap, page);
			continue;
		}
		l->bytes -= (uint64_t)heap->pages->table[page].count << GC_PAGE_SHIFT;
		gc_pages_free(heap, page);
	}
	l->count = kept;
	gc_space_unlock(heap);
	return bytes;
}

uintptr_t gc_large_around(struct gc_heap *heap, uintptr_t addr)
{
	struct gc_pages *p = heap->pages;
	uint32_t page = gc_page_of(p, addr);
	bool stopped = heap->mutators.stopping, large;

	if (!stopped)
		gc_space_lock(heap);
	if (p->table[page].kind == GC_PAGE_CONT)
		page -= p->table[page].count;
	large = p->table[page].kind == GC_PAGE_LARGE;
	if (!stopped)
		gc_space_unlock(heap);
	return large ? gc_page_address(p, page) : 0;
}

bool gc_large_valid(struct gc_heap *heap, uintptr_t addr)
{
	uint32_t page = gc_page_of(heap->pages, addr);

	return addr % GC_PAGE == 0 && heap->pages->table[page].kind == GC_PAGE_LARGE &&
	       gc_bit_test(heap->live, addr);
}
