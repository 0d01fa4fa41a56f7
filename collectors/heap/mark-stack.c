// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "mark-stack.h"

#include <errno.h>
#include <sys/mman.h>

#include "heap.h"

#define STEP (GC_PAGE / sizeof(void *))

int gc_mark_stack_init(struct gc_mark_stack *s, size_t bytes, int mode, size_t heap_bytes)
{
	void *p;

	memset(s, 0, sizeof(*s));
	/* Worst case: one entry for each granule, as an object is at least one granule. */
	if (mode == GC_OVERFLOW_RESERVE)
		bytes = heap_bytes / 8 * sizeof(void *);
	bytes = gc_align(bytes, GC_PAGE);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	s->base = s->top = p;
	s->end = s->base + bytes / sizeof(void *);
	s->limit = s->base + STEP;
	s->mapped = bytes;
	s->mode = mode;
	s->filter = mode == GC_OVERFLOW_CARD_FILTER;
	return 0;
}

void gc_mark_stack_fini(struct gc_mark_stack *s)
{
	if (s->base)
		munmap(s->base, s->mapped);
	s->base = NULL;
}

static bool stack_grow(struct gc_mark_stack *s)
{
	size_t used = (size_t)(s->top - s->base);
	void *p = mremap(s->base, s->mapped, 2 * s->mapped, MREMAP_MAYMOVE);

	if (p == MAP_FAILED)
		return false;
	s->base = p;
	__atomic_store_n(&s->mapped, 2 * s->mapped, __ATOMIC_RELAXED);
	s->top = s->base + used;
	s->end = s->base + s->mapped / sizeof(void *);
	s->limit = s->top + STEP;
	return true;
}

bool gc_mark_stack_full(struct gc_heap *heap, struct gc_mark_stack *s, void *obj)
{
	bool round = !s->on_cards && !s->dropped;

	if (s->limit < s->end) {
		s->limit += STEP;
		*s->top++ = obj;
		return true;
	}
	switch (s->mode) {
	case GC_OVERFLOW_GROW:
	case GC_OVERFLOW_RESERVE:
		/* Refused once, it is not tried again for each object of the same round. */
		if (!s->dropped && stack_grow(s)) {
			*s->top++ = obj;
			return true;
		}
		s->dropped = true;
		break;
	case GC_OVERFLOW_CARD_CLEAR:
		while (s->top > s->base)
			gc_card_dirty(heap, (uintptr_t) * --s->top);
		gc_card_dirty(heap, (uintptr_t)obj);
		s->on_cards = true;
		break;
	case GC_OVERFLOW_CARD:
	case GC_OVERFLOW_CARD_FILTER:
		if (GC_NEEDED(6))
			gc_card_dirty(heap, (uintptr_t)obj);
		s->on_cards = true;
		break;
	default:
		s->dropped = true;
		break;
	}
	s->lossy = true;
	gc_count(&heap->stats.overflow_rounds, round);
	gc_count(&heap->stats.overflows, 1);
	return false;
}

size_t gc_mark_stack_peak(const struct gc_mark_stack *s)
{
	return (size_t)((char *)s->limit - (char *)s->base);
}

void gc_mark_stack_rest(struct gc_mark_stack *s)
{
	size_t keep = 64 * 1024, peak = gc_mark_stack_peak(s);

	s->top = s->base;
	s->limit = s->base + STEP;
	if (peak > keep)
		madvise((char *)s->base + keep, peak - keep, MADV_DONTNEED);
}
