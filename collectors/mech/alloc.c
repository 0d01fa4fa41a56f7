// SPDX-License-Identifier: MIT
/*
 * Allocation off the inline path: the budget of the soft limit, and what to do when it
 * is spent. Dalvik's ladder: allocate, collect (or wait for the collection under way),
 * allocate, grow, collect all, grow, give up.
 */
#include <errno.h>

#include "plan.h"
#include "trace.h"

#define GRANT	   (8 * 1024)
#define LOCK_SPINS 1000

/* Bytes of a run worth granting now: small under stress, so that triggers are exact. */
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
	uint64_t used = __atomic_add_fetch(&heap->in_use, bytes, __ATOMIC_RELAXED);

	if (unlikely(used > gc_load(&heap->soft_limit) && !force)) {
		__atomic_fetch_sub(&heap->in_use, bytes, __ATOMIC_RELAXED);
		return false;
	}
	gc_count(&heap->granted, bytes);
	/* What is passed over is free, but not to be counted on while the cycle runs. */
	if (unlikely(used + gc_load(&heap->passed_over) > gc_load(&heap->concurrent_start)) &&
	    __atomic_load_n(&heap->gc.daemon_on, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&heap->gc.ordered, __ATOMIC_RELAXED))
		gc_order_daemon(heap, false);
	return true;
}

bool gc_budget_spend(struct gc_thread *t, size_t bytes, bool force)
{
	size_t more;

	if (unlikely(t->credit < bytes)) {
		/* all of a grant if the limit allows, else what the run needs */
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
		__atomic_fetch_sub(&heap->in_use, t->credit, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&heap->granted, t->credit, __ATOMIC_RELAXED);
	}
	if (t->objects)
		gc_count(&heap->stats.allocated_objects, t->objects);
	t->credit = t->objects = 0;
}

void gc_space_lock(struct gc_heap *heap)
{
	bool got = false;
	uint64_t begin;

	if (likely(!pthread_mutex_trylock(&heap->space_lock)))
		return;
	begin = gc_now();
	/* It is held for microseconds: to sleep and be woken takes longer. */
	for (int i = 0; i < LOCK_SPINS && !got; i++) {
		gc_relax();
		got = !pthread_mutex_trylock(&heap->space_lock);
	}
	if (!got)
		pthread_mutex_lock(&heap->space_lock);
	gc_count(&heap->stats.contentions, 1);
	gc_count(&heap->stats.contention_ns, gc_now() - begin);
}

static bool due(struct gc_heap *heap, uint64_t *next, int64_t every)
{
	uint64_t now = gc_load(&heap->granted), at = gc_load(next);

	if (now < at)
		return false;
	return __atomic_compare_exchange_n(next, &at, now + (uint64_t)every, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Collections that options ask for, not the heap's state. */
static void studied(struct gc_thread *t)
{
	struct gc_heap *heap = t->heap;

	if (heap->opt.every_safepoint)
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, false, false);
	else if (heap->opt.stress && due(heap, &heap->stress_next, heap->opt.stress))
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, !(gc_random(&t->rng) & 7), false);
	if (heap->opt.profiler && due(heap, &heap->profile_next, heap->opt.profiler))
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, true, false);
}

static bool daemon_only(const struct gc_heap *heap)
{
	return heap->opt.policy == GC_POLICY_BG && heap->gc.daemon_up;
}

/*
 * What a collection freed others may take first. A heap from which they are granted
 * something is not full; a thread that finds nothing so often in a row is told that it is.
 */
#define PATIENCE 50

static uintptr_t ladder(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	const struct gc_plan *plan = heap->plan;
	uintptr_t obj;

	if (daemon_only(heap)) {
		gc_order_daemon(heap, false);
		obj = plan->alloc(t, bytes, true);
		for (int i = 0; !obj && i < 2; i++) {
			gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, true);
			obj = plan->alloc(t, bytes, true);
		}
	} else {
		if (heap->adapt && gc_adapt_grow(heap)) {
			obj = plan->alloc(t, bytes, false);
			if (obj)
				return obj;
		}
		for (int i = 0; i < PATIENCE; i++) {
			uint64_t granted = gc_load(&heap->granted);

			gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, false);
			obj = plan->alloc(t, bytes, false);
			if (obj)
				return obj;
			if (i >= 2 && gc_load(&heap->granted) <= granted)
				break;
		}
		if (gc_sizing_grow(heap, bytes))
			obj = plan->alloc(t, bytes, true);
	}
	for (int i = 0; !obj && i < PATIENCE; i++) {
		uint64_t granted = gc_load(&heap->granted);

		while (gc_run_cycle(heap, t, GC_CAUSE_OOM, true, false) == GC_WAITED)
			;
		obj = plan->alloc(t, bytes, true);
		if (i && gc_load(&heap->granted) <= granted)
			break;
	}
	return obj;
}

static void *allocate(struct gc_mutator *m, uint64_t word, size_t bytes)
{
	struct gc_thread *t = gc_thread(m);
	struct gc_heap *heap = t->heap;
	uintptr_t obj;

	gc_safepoint(m);
	if (unlikely(heap->opt.stress | heap->opt.every_safepoint | heap->opt.profiler))
		studied(t);
	if (unlikely(__atomic_load_n(&heap->pace.on, __ATOMIC_RELAXED)))
		gc_pace_wait(t);
	if (unlikely(bytes > (size_t)heap->opt.max))
		return NULL;
	obj = heap->plan->alloc(t, bytes, false);
	if (unlikely(!obj))
		obj = ladder(t, bytes);
	if (unlikely(!obj))
		return NULL;
	((struct gc_header *)obj)->word = word;
	return (void *)obj;
}

void *gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes)
{
	return allocate(m, type->word, gc_align(bytes, 8));
}

void *gc_alloc_array(struct gc_mutator *m, const struct gc_type *type, uint32_t length)
{
	uint64_t word = type->word | (uint64_t)length << 32;
	uint64_t bytes = type->size + (uint64_t)type->elem_size * length;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = gc_align((size_t)bytes, 8);
	if (bytes <= GC_SMALL_MAX) {
		struct gc_run *run = m->run_for[bytes / 8];
		uintptr_t obj = run->cursor;

		if (likely(obj + bytes <= run->limit)) {
			run->cursor = obj + bytes;
			((struct gc_header *)obj)->word = word;
			return (void *)obj;
		}
	}
	return allocate(m, word, (size_t)bytes);
}
