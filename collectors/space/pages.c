// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../heap/plan.h"

int gc_pages_init(struct gc_heap *heap, uintptr_t base, size_t bytes)
{
	struct gc_pages *p = calloc(1, sizeof(*p));
	size_t table;

	if (!p)
		return -ENOMEM;
	heap->pages = p;
	p->base = base;
	p->count = (uint32_t)(bytes >> GC_PAGE_SHIFT);
	p->most = (uint32_t)(heap->budget.most >> GC_PAGE_SHIFT);
	p->high = 1;
	for (unsigned int k = 0; k < GC_PAGE_HINTS; k++)
		p->hint[k] = 1;
	table = p->count * sizeof(struct gc_page);
	p->table = mmap(NULL, table, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p->free_bits = calloc(p->count / 64 + 2, sizeof(uint64_t));
	p->stale_bits = calloc(p->count / 64 + 2, sizeof(uint64_t));
	if (p->table == MAP_FAILED || !p->free_bits || !p->stale_bits) {
		if (p->table == MAP_FAILED)
			p->table = NULL;
		return -ENOMEM;
	}
	/* Page 0 is never handed out. */
	memset(p->free_bits, 0xff, p->count / 64 * sizeof(uint64_t));
	for (uint32_t i = p->count / 64 * 64; i < p->count; i++)
		p->free_bits[i / 64] |= 1ULL << i % 64;
	p->free_bits[0] &= ~1ULL;
	return 0;
}

void gc_pages_fini(struct gc_heap *heap)
{
	struct gc_pages *p = heap->pages;

	if (!p)
		return;
	if (p->table)
		munmap(p->table, p->count * sizeof(struct gc_page));
	free(p->free_bits);
	free(p->stale_bits);
	free(p);
	heap->pages = NULL;
}

/* The first page in [@at, @end) whose bit is @value, or @end. */
static uint32_t next_bit(const uint64_t *bits, uint32_t at, uint32_t end, bool value)
{
	uint64_t flip = value ? 0 : ~0ULL, word;

	if (at >= end)
		return end;
	word = (bits[at / 64] ^ flip) & ~0ULL << at % 64;
	while (!word) {
		at = (at / 64 + 1) * 64;
		if (at >= end)
			return end;
		word = bits[at / 64] ^ flip;
	}
	at = at / 64 * 64 + (uint32_t)__builtin_ctzll(word);
	return at < end ? at : end;
}

/* The lowest free run of @count pages, or 0. The hints of shorter runs apply, too. */
static uint32_t first_fit(struct gc_pages *p, uint32_t count)
{
	uint32_t at = p->hint[0], end;

	for (unsigned int k = 1; k < count && k < GC_PAGE_HINTS; k++)
		if (p->hint[k] > at)
			at = p->hint[k];
	for (at = next_bit(p->free_bits, at, p->count, true);;
	     at = next_bit(p->free_bits, end, p->count, true)) {
		if (at >= p->count)
			return 0;
		/* No further than @count pages: a free run may be most of the heap. */
		end = count < p->count - at ? at + count : p->count;
		end = next_bit(p->free_bits, at, end, false);
		if (end - at >= count)
			break;
	}
	/* Longer runs cannot begin at a lower address. */
	for (unsigned int k = count - 1; k < GC_PAGE_HINTS && p->hint[k] < at; k++)
		p->hint[k] = at;
	return at;
}

/*
 * A new run of k + 1 free pages includes @page, which was freed, so it begins at most k pages
 * below it.
 */
static void lower_hints(struct gc_pages *p, uint32_t page)
{
	for (unsigned int k = 0; k < GC_PAGE_HINTS; k++) {
		uint32_t low = page > k ? page - k : 1;

		if (low < p->hint[k])
			p->hint[k] = low;
	}
}

uint32_t gc_pages_alloc(struct gc_heap *heap, uint32_t count, enum gc_page_kind kind)
{
	struct gc_pages *p = heap->pages;
	/* limit=cgroup: the limit may have been lowered. */
	uint32_t at, most = p->most > p->reserve ? p->most - p->reserve : 0;

	/* max= bounds the sum of pages and bump spaces. */
	if (heap->bump) {
		uint64_t others = heap->plan->footprint(heap) - gc_pages_held(heap);
		uint32_t bump = (uint32_t)(others >> GC_PAGE_SHIFT);

		most = most > bump ? most - bump : 0;
	}
	at = count <= most && p->used <= most - count ? first_fit(p, count) : 0;
	p->starved |= !at;
	if (!at)
		return 0;
	for (uint32_t i = at; i < at + count; i++) {
		p->free_bits[i / 64] &= ~(1ULL << i % 64);
		p->table[i] = (struct gc_page){ .kind = GC_PAGE_CONT, .count = i - at };
	}
	p->table[at] = (struct gc_page){ .kind = (uint8_t)kind, .count = count };
	if (at + count > p->high)
		__atomic_store_n(&p->high, at + count, __ATOMIC_RELAXED);
	__atomic_store_n(&p->used, p->used + count, __ATOMIC_RELAXED);
	gc_stat_max(&heap->stats.peak_footprint_bytes, p->used * (uint64_t)GC_PAGE);
	return at;
}

static void pages_free(struct gc_heap *heap, uint32_t page, uint32_t count)
{
	struct gc_pages *p = heap->pages;

	if (heap->opt.poison)
		memset((void *)gc_page_address(p, page), 0xdb, (size_t)count << GC_PAGE_SHIFT);
	for (uint32_t i = page; i < page + count; i++) {
		p->free_bits[i / 64] |= 1ULL << i % 64;
		p->stale_bits[i / 64] |= 1ULL << i % 64;
		p->table[i] = (struct gc_page){ .kind = GC_PAGE_FREE };
	}
	__atomic_store_n(&p->used, p->used - count, __ATOMIC_RELAXED);
	lower_hints(p, page);
}

void gc_pages_free(struct gc_heap *heap, uint32_t page)
{
	pages_free(heap, page, heap->pages->table[page].count);
}

void gc_pages_trim(struct gc_heap *heap, uint32_t page, uint32_t count)
{
	struct gc_page *pg = &heap->pages->table[page];

	if (count >= pg->count)
		return;
	pages_free(heap, page + count, pg->count - count);
	pg->count = count;
}

/* Shorter regions are likely in the cache, and cheaper to clear than to fault in again. */
#define RETURN_LEAST (4u << 20)

static void region_clear(void *at, size_t bytes)
{
	/* Refused for locked pages. */
	if (bytes < RETURN_LEAST || madvise(at, bytes, MADV_DONTNEED))
		memset(at, 0, bytes);
}

void gc_pages_clear(struct gc_heap *heap, uint32_t page)
{
	struct gc_pages *p = heap->pages;
	uint32_t end = page + p->table[page].count, stop;

	for (; page < end; page = stop) {
		gc_space_lock(heap);
		page = next_bit(p->stale_bits, page, end, true);
		stop = next_bit(p->stale_bits, page, end, false);
		gc_space_unlock(heap);
		region_clear((void *)gc_page_address(p, page), (size_t)(stop - page)
								       << GC_PAGE_SHIFT);
	}
}

size_t gc_pages_release(struct gc_heap *heap)
{
	struct gc_pages *p = heap->pages;
	size_t bytes = 0, run;
	uint32_t at, end;

	for (at = 1; at < p->high; at = end) {
		end = next_bit(p->stale_bits, at, p->high, true);
		if (end == at)
			end = next_bit(p->free_bits, at, p->high, true);
		if (end > at)
			continue;
		end = next_bit(p->stale_bits, at, p->high, false);
		end = next_bit(p->free_bits, at, end, false);
		run = (size_t)(end - at) << GC_PAGE_SHIFT;
		/* Refused for locked pages: they keep their contents. */
		if (madvise((void *)gc_page_address(p, at), run, MADV_DONTNEED))
			continue;
		for (; at < end; at++)
			p->stale_bits[at / 64] &= ~(1ULL << at % 64);
		bytes += run;
	}
	return bytes;
}
