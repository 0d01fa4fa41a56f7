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
