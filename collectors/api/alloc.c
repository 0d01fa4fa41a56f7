// SPDX-License-Identifier: MIT
/*
 * Allocation off the inline path: the budget of the soft limit, and what to do when it
 * is used up. Dalvik's ladder: allocate, collect (or wait for the collection under way),
 * allocate, grow, collect all, grow, fail.
 */
#include <errno.h>

#include "../cycle/adapt.h"
#include "../cycle/collect.h"
#include "../cycle/sizing.h"
#include "../heap/budget.h"
#include "../heap/futex.h"
#include "../heap/order.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../thread/safepoint.h"
#include "../thread/threads.h"
#include "../trace/trace.h"
#include "oom.h"

/* A mutator that waited may allocate this part of the room before it waits again. */
#define CREDIT 32

/* Do the bytes in use, plus 1/@credit of the room, exceed what the marking allows? */
static bool pace_exceeded(struct gc_heap *heap, unsigned int credit)
{
	struct gc_pace *p = &heap->budget.pace, now = {
		.on = __atomic_load_n(&p->on, __ATOMIC_ACQUIRE),
		.base = gc_load(&p->base),
		.room = gc_load(&p->room),
		.work = gc_load(&p->work),
		.most = gc_load(&p->most),
		.done = gc_load(&p->done),
	};
	uint64_t more = credit ? now.room / credit : 0;

	return now.on && gc_load(&heap->budget.in_use) + more > gc_pace_allowed(&now);
}

/* Wait for the marking if mutators are ahead of it: at most pace= and one wake-up latency. */
static void pace_wait(struct gc_thread *t)
{
	struct gc_heap *heap = t->heap;
	uint64_t slice, begin, end;
	struct timespec ts = { 0 };
	int state;

	if (!pace_exceeded(heap, 0))
		return;
	state = gc_cancel_defer();
	slice = gc_pace_slice((uint64_t)heap->opt.pace * 1000, gc_load(&heap->sizing.cycle_ns));
	ts.tv_nsec = (long)slice / 2;
	end = gc_now() + slice;
	gc_pause_begin(t, GC_PAUSE_PACED, &begin);
	gc_state_park(t);
	do {
		gc_futex_wait_for(&heap->budget.pace.on, 1, &ts);
	} while (gc_now() < end && pace_exceeded(heap, CREDIT));
	gc_state_unpark(t);
	gc_pause_end(t, GC_PAUSE_PACED, begin);
	gc_cancel_allow(state);
}

static bool trigger_due(struct gc_heap *heap, uint64_t *next, int64_t every)
{
	uint64_t now = gc_load(&heap->budget.granted), at = gc_load(next);

	if (now < at)
		return false;
	return __atomic_compare_exchange_n(next, &at, now + (uint64_t)every, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Collections that are triggered by options instead of by the heap's state. */
static void trigger_run(struct gc_thread *t)
{
	struct gc_heap *heap = t->heap;

	if (heap->opt.every_safepoint)
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, false, false);
	else if (heap->opt.stress && trigger_due(heap, &heap->budget.stress_next, heap->opt.stress))
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, !(gc_random(&t->rng) & 7), false);
	if (heap->opt.profiler && trigger_due(heap, &heap->budget.profile_next, heap->opt.profiler))
		gc_run_cycle(heap, t, GC_CAUSE_STRESS, true, false);
}

static bool daemon_only(const struct gc_heap *heap)
{
	return heap->opt.policy == GC_POLICY_BG && gc_daemon_up(heap);
}

/*
 * Other threads may allocate what a collection freed before this thread does. While they are
 * granted memory the heap is not full, but after this many attempts the allocation fails.
 */
#define PATIENCE 50

/*
 * A heap that was full counts as full until this part of max= was granted: a full collection
 * comes first then, without the cheaper steps.
 */
#define STILL_FULL(max) ((max) / 64)

static bool heap_still_full(const struct gc_heap *heap)
{
	uint64_t at = gc_load(&heap->budget.full_at);

	return at && gc_load(&heap->budget.granted) - at < STILL_FULL(gc_load(&heap->budget.most));
}

/* policy=bg: mutators wait for the daemon and may allocate beyond the soft limit. */
static uintptr_t alloc_by_daemon(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	uintptr_t obj;

	gc_order_daemon(heap, GC_CYCLE_PASSED);
	obj = heap->plan->alloc(t, bytes, true);
	for (int i = 0; !obj && i < 2; i++) {
		gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, true);
		obj = heap->plan->alloc(t, bytes, true);
	}
	return obj;
}

static uintptr_t alloc_by_cycles(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	const struct gc_plan *plan = heap->plan;
	uintptr_t obj = 0;

	if (heap->sizing.adapt && gc_adapt_grow(heap))
		obj = plan->alloc(t, bytes, false);
	for (int i = 0; !obj && i < PATIENCE; i++) {
		uint64_t granted = gc_load(&heap->budget.granted);
		bool mine = gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, false) == GC_COLLECTED;

		if (gc_collect_refuses(heap)) {
			t->refused = GC_REFUSED_OVERHEAD;
			return 0;
		}
		obj = plan->alloc(t, bytes, false);
		/* The next collection may promote what a minor one had to keep in the nursery. */
		if (mine && i >= heap->plan->generational &&
		    gc_load(&heap->budget.granted) <= granted)
			break;
	}
	if (!obj && gc_sizing_grow(heap, bytes))
		obj = plan->alloc(t, bytes, true);
	return obj;
}

static uintptr_t alloc_ladder(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	uintptr_t obj = 0;

	if (!heap_still_full(heap))
		obj = daemon_only(heap) ? alloc_by_daemon(t, bytes) : alloc_by_cycles(t, bytes);
	if (t->refused)
		return 0;
	for (int i = 0; !obj && i < PATIENCE; i++) {
		uint64_t granted = gc_load(&heap->budget.granted);

		gc_collect_all(heap, t);
		if (gc_collect_refuses(heap)) {
			t->refused = GC_REFUSED_OVERHEAD;
			return 0;
		}
		obj = heap->plan->alloc(t, bytes, true);
		if (gc_load(&heap->budget.granted) <= granted)
			break;
	}
	if (!obj) {
		__atomic_store_n(&heap->budget.full_at, gc_load(&heap->budget.granted),
				 __ATOMIC_RELAXED);
		t->refused = GC_REFUSED_FULL;
	}
	return obj;
}

static void *alloc_object(struct gc_mutator *m, uint64_t word, size_t bytes)
{
	struct gc_thread *t = gc_thread(m);
	struct gc_heap *heap = t->heap;
	uintptr_t obj;

	gc_oom_notice(t);
	gc_safepoint(m);
	if (unlikely(heap->opt.stress | heap->opt.every_safepoint | heap->opt.profiler))
		trigger_run(t);
	if (unlikely(__atomic_load_n(&heap->budget.pace.on, __ATOMIC_RELAXED)))
		pace_wait(t);
	t->refused = GC_REFUSED_NOT;
	if (unlikely(bytes > (size_t)heap->opt.max)) {
		t->refused = GC_REFUSED_SIZE;
		return NULL;
	}
	obj = heap->plan->alloc(t, bytes, false);
	if (unlikely(!obj))
		obj = alloc_ladder(t, bytes);
	for (int i = 0; unlikely(!obj) && i < GC_OOM_ATTEMPTS; i++) {
		if (!gc_oom_call(t, bytes))
			return NULL;
		/* The dropped objects became garbage after the collection: another one is worth it. */
		t->refused = GC_REFUSED_NOT;
		obj = alloc_ladder(t, bytes);
	}
	if (unlikely(!obj))
		return NULL;
	((struct gc_header *)obj)->word = word;
	return (void *)obj;
}

void gc_external_add(struct gc_mutator *m, int64_t bytes)
{
	struct gc_thread *t = gc_thread(m);
	struct gc_heap *heap = t->heap;

	gc_external_count(heap, bytes);
	if (bytes <= 0)
		return;
	gc_oom_notice(t);
	gc_safepoint(m);
	switch (gc_external_due(heap)) {
	case GC_EXTERNAL_FITS:
		break;
	case GC_EXTERNAL_STARTS:
		if (__atomic_load_n(&heap->gc.daemon_on, __ATOMIC_RELAXED))
			gc_order_daemon(heap, GC_CYCLE_PASSED);
		break;
	case GC_EXTERNAL_FULL:
		if (daemon_only(heap))
			gc_order_daemon(heap, GC_CYCLE_PASSED);
		else
			gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, false);
		break;
	case GC_EXTERNAL_MAJOR:
		gc_run_cycle(heap, t, GC_CAUSE_ALLOC, true, false);
		break;
	}
}

enum gc_refusal gc_refused(const struct gc_mutator *m)
{
	return ((const struct gc_thread *)m)->refused;
}

void *gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes)
{
	/* Another size would break the heap. Also true of 0, and of sizes that wrap to it. */
	if (unlikely(gc_align(bytes, 8) != gc_align(type->size, 8))) {
		gc_thread(m)->refused = GC_REFUSED_SIZE;
		return NULL;
	}
	return alloc_object(m, type->word, gc_align(bytes, 8));
}

void *gc_alloc_array(struct gc_mutator *m, const struct gc_type *type, uint32_t length)
{
	uint64_t word, bytes;

	/* Without a tail the length must be 0: gc_shape_granules() relies on it. */
	if (unlikely(!type->elem_size))
		length = 0;
	word = type->word | (uint64_t)length << 32;
	bytes = type->size + (uint64_t)type->elem_size * length;
	if (bytes > SIZE_MAX / 2) {
		gc_thread(m)->refused = GC_REFUSED_SIZE;
		return NULL;
	}
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
	return alloc_object(m, word, (size_t)bytes);
}

void *gc_weak_new(struct gc_mutator *m, void **target)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	void *weak = gc_alloc(m, heap->weak.weak_type);

	/* The allocation is a safepoint: *target is read after it. */
	if (weak)
		gc_init(gc_weak_slot(weak), *target);
	return weak;
}

void *gc_ephemeron_new(struct gc_mutator *m, void **key, void **value)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	void *ephemeron = gc_alloc(m, heap->weak.ephemeron_type), **slot;

	/* As in gc_weak_new() */
	if (ephemeron) {
		slot = gc_weak_slot(ephemeron);
		gc_init(&slot[0], *key);
		gc_init(&slot[1], *value);
	}
	return ephemeron;
}
