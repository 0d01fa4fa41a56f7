// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "bump.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../heap/budget.h"
#include "pages.h"

int gc_bump_init(struct gc_heap *heap, uintptr_t start, size_t capacity)
{
	struct gc_bump *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->start[0] = b->high[0] = b->top = b->aged = start;
	b->capacity = capacity;
	b->span = gc_bump_span(capacity);
	b->start[1] = b->high[1] = start + b->span;
	b->indexed[0] = b->start[0];
	b->indexed[1] = b->start[1];
	heap->bump = b;
	return 0;
}

void gc_bump_fini(struct gc_heap *heap)
{
	free(heap->bump);
	heap->bump = NULL;
}

/*
 * Bytes of one space that max= allows: half of what pages leave, as objects are copied to the
 * other space, and as promoted ones need pages.
 */
static size_t bump_allowed(const struct gc_heap *heap)
{
	uint64_t held = gc_pages_held(heap) + heap->bump->promise,
		 max = gc_load(&heap->budget.most);

	return held < max ? (size_t)(max - held) / 2 : 0;
}

/* Bytes that may be allocated above @top */
static size_t bump_room(const struct gc_heap *heap, uintptr_t top)
{
	const struct gc_bump *b = heap->bump;
	size_t used = top - b->start[b->now], most = bump_allowed(heap);

	if (most > b->capacity)
		most = b->capacity;
	if (b->young && most > b->aged - b->start[b->now] + b->young)
		most = b->aged - b->start[b->now] + b->young;
	return used < most ? most - used : 0;
}

size_t gc_bump_left(const struct gc_heap *heap)
{
	size_t used = gc_bump_used(heap->bump), most = bump_allowed(heap);

	return used < most ? most - used : 0;
}

size_t gc_bump_room(const struct gc_heap *heap)
{
	return bump_room(heap, __atomic_load_n(&heap->bump->top, __ATOMIC_RELAXED));
}

/* Take @bytes from the space; 0: the space or the limit is exhausted. */
static uintptr_t bump_carve(struct gc_heap *heap, size_t bytes, bool force)
{
	struct gc_bump *b = heap->bump;
	uintptr_t top = __atomic_load_n(&b->top, __ATOMIC_RELAXED), end;

	do {
		if (bytes > bump_room(heap, top))
			return 0;
	} while (!__atomic_compare_exchange_n(&b->top, &top, top + bytes, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	if (gc_budget_take(heap, bytes, force))
		return top;
	/*
	 * Over the limit. Return it unless another thread has allocated above it; else leave a
	 * hole, which is cleared because it may hold data of dead objects.
	 */
	end = top + bytes;
	if (!__atomic_compare_exchange_n(&b->top, &end, top, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		memset((void *)top, 0, bytes);
	return 0;
}

uintptr_t gc_bump_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	struct gc_heap *heap = t->heap;
	struct gc_run *run = &t->m.run[0];
	size_t chunk = GC_CHUNK;
	uintptr_t obj = run->cursor;

	if (run->limit - obj >= bytes) {
		run->cursor += bytes;
		return obj;
	}
	if (heap->opt.stress || heap->opt.every_safepoint)
		chunk = gc_budget_grant(heap, bytes);
	/* A large object does not replace the chunk: it gets memory of its own. */
	if (bytes > chunk / 4 || chunk < bytes) {
		obj = bump_carve(heap, bytes, force);
		if (obj)
			memset((void *)obj, 0, bytes);
		return obj;
	}
	obj = bump_carve(heap, chunk, force);
	if (!obj)
		return 0;
	memset((void *)obj, 0, chunk);
	/* Adjacent chunks are joined to one run without a hole. */
	if (obj == run->limit) {
		obj = run->cursor;
		run->limit += chunk;
	} else {
		run->limit = obj + chunk;
	}
	run->cursor = obj + bytes;
	return obj;
}

void gc_bump_flush(struct gc_thread *t)
{
	t->m.run[0].cursor = t->m.run[0].limit = 0;
}

void gc_bump_open(struct gc_heap *heap)
{
	struct gc_bump *b = heap->bump;

	if (heap->opt.poison)
		mprotect((void *)b->start[!b->now], b->span, PROT_READ | PROT_WRITE);
	b->to = b->start[!b->now];
}

void gc_bump_flip(struct gc_heap *heap)
{
	struct gc_bump *b = heap->bump;

	if (heap->opt.poison) {
		memset((void *)b->start[b->now], 0xdb, b->top - b->start[b->now]);
		mprotect((void *)b->start[b->now], b->span, PROT_NONE);
	}
	/* gc_heap_stats() reads the footprint even while the world is stopped. */
	gc_space_lock(heap);
	if (b->top > b->high[b->now])
		b->high[b->now] = b->top;
	b->now = !b->now;
	b->top = b->aged = b->to;
	gc_space_unlock(heap);
}

void gc_bump_index(struct gc_heap *heap)
{
	struct gc_bump *b = heap->bump;
	uintptr_t at = b->start[b->now], top = b->top;
	uintptr_t *indexed = &b->indexed[b->now];
	size_t first = at >> GC_WORD_SHIFT, last, size;

	/* A space may be much larger than what was ever used of it. */
	if (top > *indexed)
		*indexed = top;
	last = gc_align(*indexed, 1u << GC_WORD_SHIFT) >> GC_WORD_SHIFT;
	memset(&heap->live[first], 0, (last - first) * sizeof(uint64_t));
	while (at < top) {
		if (!gc_word((void *)at)) {
			at += 8;
			continue;
		}
		gc_bit_set(heap->live, at);
		size = gc_object_size(heap, (void *)at);
		/* An unknown type has no size, and a wrong length leads out of the space. */
		if (!size || size > top - at)
			gc_die(heap, "%p is in use, but has a broken header: %#llx", (void *)at,
			       (unsigned long long)gc_word((void *)at));
		at += size;
	}
}

/* Return the memory of @space from @from on. */
static size_t space_release(struct gc_bump *b, int space, uintptr_t from)
{
	uintptr_t high = b->high[space];

	/* Refused for locked pages: the space still holds them. */
	if (high <= from || madvise((void *)from, gc_align(high - from, GC_PAGE), MADV_DONTNEED))
		return 0;
	b->high[space] = from;
	return high - from;
}

size_t gc_bump_release(struct gc_heap *heap, size_t keep)
{
	struct gc_bump *b = heap->bump;

	return space_release(b, !b->now, b->start[!b->now] + gc_align(keep, GC_PAGE));
}

void gc_bump_keep(struct gc_heap *heap, size_t keep)
{
	struct gc_bump *b = heap->bump;
	uintptr_t from = b->start[b->now] + gc_align(keep, GC_PAGE);

	gc_bump_release(heap, keep);
	space_release(b, b->now, b->top < from ? from : gc_align(b->top, GC_PAGE));
}

size_t gc_bump_footprint(const struct gc_heap *heap)
{
	const struct gc_bump *b = heap->bump;
	uintptr_t top = __atomic_load_n(&b->top, __ATOMIC_RELAXED);
	uintptr_t now = top > b->high[b->now] ? top : b->high[b->now];

	return gc_align(now - b->start[b->now], GC_PAGE) +
	       gc_align(b->high[!b->now] - b->start[!b->now], GC_PAGE);
}
