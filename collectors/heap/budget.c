// SPDX-License-Identifier: MIT
#include "budget.h"

#include "order.h"

#define GRANT (8 * 1024)

size_t gc_budget_grant(const struct gc_heap *heap, size_t want)
{
	uint64_t most = GRANT;

	if (heap->opt.every_safepoint)
		most = want;
	else if (heap->opt.stress && (uint64_t)heap->opt.stress < most)
		most = (uint64_t)heap->opt.stress;
	return most < want ? want : (size_t)most;
}

bool gc_budget_take(struct gc_heap *heap, size_t bytes, bool force)
{
	uint64_t used = __atomic_add_fetch(&heap->budget.in_use, bytes, __ATOMIC_RELAXED);

	if (unlikely(used > gc_load(&heap->budget.soft_limit) && !force)) {
		__atomic_fetch_sub(&heap->budget.in_use, bytes, __ATOMIC_RELAXED);
		return false;
	}
	gc_count(&heap->budget.granted, bytes);
	/* Cells that are passed over are free, but may not be allocated during the cycle. */
	if (unlikely(used + gc_load(&heap->budget.passed_over) >
		     gc_load(&heap->budget.concurrent_start)) &&
	    __atomic_load_n(&heap->gc.daemon_on, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&heap->gc.control.state, __ATOMIC_RELAXED) == GC_CYCLE_IDLE)
		gc_order_daemon(heap, GC_CYCLE_PASSED);
	return true;
}

bool gc_budget_spend(struct gc_thread *t, size_t bytes, bool force)
{
	size_t more;

	if (unlikely(t->credit < bytes)) {
		/* A whole grant if the limit allows it, else only what the run needs. */
		more = gc_budget_grant(t->heap, bytes);
		if (!gc_budget_take(t->heap, more, false)) {
			more = bytes - t->credit;
			if (!gc_budget_take(t->heap, more, force))
				return false;
		}
		t->credit += more;
	}
	t->credit -= bytes;
	return true;
}

void gc_budget_return(struct gc_thread *t)
{
	struct gc_heap *heap = t->heap;

	if (t->credit) {
		__atomic_fetch_sub(&heap->budget.in_use, t->credit, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&heap->budget.granted, t->credit, __ATOMIC_RELAXED);
	}
	if (t->objects)
		gc_count(&heap->stats.allocated_objects, t->objects);
	t->credit = t->objects = 0;
}

static void external_lower(uint64_t *last, uint64_t external)
{
	if (gc_load(last) > external)
		__atomic_store_n(last, external, __ATOMIC_RELAXED);
}

void gc_external_count(struct gc_heap *heap, int64_t bytes)
{
	struct gc_budget *b = &heap->budget;
	uint64_t now = __atomic_add_fetch(&b->external, (uint64_t)bytes, __ATOMIC_RELAXED);

	if (bytes >= 0)
		return;
	/* What finalizers free after a collection was garbage in it. */
	external_lower(&b->external_last, now);
	external_lower(&b->external_major, now);
}

enum gc_external gc_external_due(const struct gc_heap *heap)
{
	const struct gc_budget *b = &heap->budget;
	uint64_t external = gc_load(&b->external), last = gc_load(&b->external_last);
	uint64_t major = gc_load(&b->external_major), limit = gc_load(&b->soft_limit);
	uint64_t used = gc_load(&b->in_use) + external - last;

	/* Minor collections may have been many since then. */
	if (external > limit + 2 * major)
		return GC_EXTERNAL_MAJOR;
	if (external <= last)
		return GC_EXTERNAL_FITS;
	if (used > limit + last)
		return GC_EXTERNAL_FULL;
	if (used > gc_load(&b->concurrent_start) + last)
		return GC_EXTERNAL_STARTS;
	return GC_EXTERNAL_FITS;
}

void gc_external_collected(struct gc_heap *heap)
{
	uint64_t external = gc_load(&heap->budget.external);

	__atomic_store_n(&heap->budget.external_last, external, __ATOMIC_RELAXED);
	if (heap->cycle.kind == GC_KIND_MAJOR)
		__atomic_store_n(&heap->budget.external_major, external, __ATOMIC_RELAXED);
}
