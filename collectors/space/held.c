// SPDX-License-Identifier: MIT
#include "held.h"

size_t gc_held_shrunk(const struct gc_heap *heap, uintptr_t addr, size_t size)
{
	const struct gc_page *table = heap->pages->table, *pg;

	/* Lines and bump spaces have no cells: what an object left is free. */
	if (!gc_in_pages(heap, addr))
		return size;
	/* The run is the object's, which is alive, so its entries do not change. */
	pg = &table[gc_page_of(heap->pages, addr)];
	if (pg->kind == GC_PAGE_CONT)
		pg -= pg->count;
	if (pg->kind == GC_PAGE_LARGE)
		return gc_large_size(size);
	return pg->kind == GC_PAGE_BLOCK ? heap->blocks->size[pg->cls] : size;
}
