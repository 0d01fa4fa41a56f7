// SPDX-License-Identifier: MIT
#include "large-object.h"

#include "../space/large.h"
#include "../thread/safepoint.h"

/* Bytes that take long to clear: collections need not wait for the thread then. */
#define LONG (128u << 10)

uintptr_t gc_large_object(struct gc_thread *t, size_t bytes, bool force)
{
	struct gc_heap *heap = t->heap;
	size_t whole = gc_large_size(bytes);
	uintptr_t used;
	uint32_t page = gc_large_reserve(heap, bytes, force, &used);

	if (!page)
		return 0;
	if (whole < LONG) {
		gc_large_clear(heap, page, used, true);
		return gc_large_publish(heap, page);
	}
	/*
	 * A collection meanwhile sets the bytes in use to those of the live objects, which these are
	 * none of yet: take them out, and in again.
	 */
	__atomic_fetch_sub(&heap->budget.in_use, whole, __ATOMIC_RELAXED);
	t->clearing = page;
	gc_state_park(t);
	gc_large_clear(heap, page, used, true);
	gc_state_unpark(t);
	t->clearing = 0;
	__atomic_fetch_add(&heap->budget.in_use, whole, __ATOMIC_RELAXED);
	return gc_large_publish(heap, page);
}
