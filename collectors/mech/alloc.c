// SPDX-License-Identifier: MIT
/*
 * Allocation off the inline path: the budget of the soft limit, and what to do when it
 * is spent. Dalvik's ladder: allocate, collect (or wait for the collection under way),
 * allocate, grow, collect all, grow, give up.
 */
#include <errno.h>

#include "adapt.h"
#include "budget.h"
#include "collect.h"
#include "futex.h"
#include "order.h"
#include "phase.h"
#include "plan.h"
#include "safepoint.h"
#include "sizing.h"
#include "trace.h"

/* Who waited gets this part of the room before it waits again. */
#define CREDIT 32

/* Is what is in use, and 1/@credit of the room, more than the marking allows? */
static bool ahead(struct gc_heap *heap, unsigned int credit)
{
	struct gc_pace *p = &heap->pace, now = {
		.on = __atomic_load_n(&p->on, __ATOMIC_ACQUIRE),
		.base = gc_load(&p->base),
		.room = gc_load(&p->room),
		.work = gc_load(&p->work),
		.most = gc_load(&p->most),
		.done = gc_load(&p->done),
	};
	uint64_t more = credit ? now.room / credit : 0;

	return now.on && gc_load(&heap->in_use) + more > gc_pace_allowed(&now);
}

/* Wait for the marking if mutators are ahead of it: pace= and a wake-up at most. */
static void keep_pace(struct gc_thread *t)
{
	struct gc_heap *heap = t->heap;
	uint64_t slice, begin, end;
	struct timespec ts = { 0 };

	if (!ahead(heap, 0))
		return;
	slice = gc_pace_slice((uint64_t)heap->opt.pace * 1000, gc_load(&heap->cycle_ns));
	ts.tv_nsec = (long)slice / 2;
	end = gc_now() + slice;
	gc_pause_begin(t, GC_PAUSE_PACED, &begin);
	gc_state_park(t);
	do {
		gc_futex_wait_for(&heap->pace.on, 1, &ts);
	} while (gc_now() < end && ahead(heap, CREDIT));
	gc_state_unpark(t);
	gc_pause_end(t, GC_PAUSE_PACED, begin);
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

/*
 * A heap that was full stays so until this part of max= was granted: one collection of all
 * tells, with nothing tried before.
 */
#define STILL_FULL(max) ((max) / 64)

static bool still_full(const struct gc_heap *heap)
{
	uint64_t at = gc_load(&heap->full_at);

	return at && gc_load(&heap->granted) - at < STILL_FULL((uint64_t)heap->opt.max);
}

/* bg: mutators wait for the daemon, and go on beyond the limit. */
static uintptr_t by_daemon(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	uintptr_t obj;

	gc_order_daemon(heap, GC_TURN_PASSED);
	obj = heap->plan->alloc(t, bytes, true);
	for (int i = 0; !obj && i < 2; i++) {
		gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, true);
		obj = heap->plan->alloc(t, bytes, true);
	}
	return obj;
}

static uintptr_t by_turns(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	const struct gc_plan *plan = heap->plan;
	uintptr_t obj = 0;

	if (heap->adapt && gc_adapt_grow(heap))
		obj = plan->alloc(t, bytes, false);
	for (int i = 0; !obj && i < PATIENCE; i++) {
		uint64_t granted = gc_load(&heap->granted);
		bool mine = gc_run_cycle(heap, t, GC_CAUSE_ALLOC, false, false) == GC_COLLECTED;

		if (mine && gc_turn_refuses(heap)) {
			t->refused = GC_REFUSED_OVERHEAD;
			return 0;
		}
		obj = plan->alloc(t, bytes, false);
		/* What a minor collection kept young the next one may find room for elsewhere. */
		if (mine && i >= heap->plan->generational && gc_load(&heap->granted) <= granted)
			break;
	}
	if (!obj && gc_sizing_grow(heap, bytes))
		obj = plan->alloc(t, bytes, true);
	return obj;
}

static uintptr_t ladder(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	uintptr_t obj = 0;

	if (!still_full(heap))
		obj = daemon_only(heap) ? by_daemon(t, bytes) : by_turns(t, bytes);
	if (t->refused)
		return 0;
	for (int i = 0; !obj && i < PATIENCE; i++) {
		uint64_t granted = gc_load(&heap->granted);

		gc_collect_all(heap, t);
		if (gc_turn_refuses(heap)) {
			t->refused = GC_REFUSED_OVERHEAD;
			return 0;
		}
		obj = heap->plan->alloc(t, bytes, true);
		if (gc_load(&heap->granted) <= granted)
			break;
	}
	if (!obj) {
		__atomic_store_n(&heap->full_at, gc_load(&heap->granted), __ATOMIC_RELAXED);
		t->refused = GC_REFUSED_FULL;
	}
	return obj;
}

void gc_oom_callback(struct gc_heap *heap,
		     bool (*fn)(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg),
		     void *arg)
{
	pthread_mutex_lock(&heap->table_lock);
	heap->oom = fn;
	heap->oom_arg = arg;
	pthread_mutex_unlock(&heap->table_lock);
}

/* An allocation is about to be refused: does the embedder let go of something? */
static bool let_go(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	bool (*fn)(struct gc_mutator * m, size_t bytes, enum gc_refusal why, void *arg);
	enum gc_refusal why = t->refused;
	bool again;
	void *arg;

	pthread_mutex_lock(&heap->table_lock);
	fn = heap->oom;
	arg = heap->oom_arg;
	pthread_mutex_unlock(&heap->table_lock);
	if (!fn || t->in_oom)
		return false;
	t->in_oom = true;
	again = fn(&t->m, bytes, why, arg);
	t->in_oom = false;
	t->refused = why;
	return again;
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
		keep_pace(t);
	t->refused = GC_REFUSED_NOT;
	if (unlikely(bytes > (size_t)heap->opt.max)) {
		t->refused = GC_REFUSED_SIZE;
		return NULL;
	}
	obj = heap->plan->alloc(t, bytes, false);
	if (unlikely(!obj))
		obj = ladder(t, bytes);
	for (int i = 0; unlikely(!obj) && i < GC_OOM_ATTEMPTS; i++) {
		if (!let_go(t, bytes))
			return NULL;
		/* What was let go is garbage since the collection that found the heap full. */
		t->refused = GC_REFUSED_NOT;
		obj = ladder(t, bytes);
	}
	if (unlikely(!obj))
		return NULL;
	((struct gc_header *)obj)->word = word;
	return (void *)obj;
}

enum gc_refusal gc_refused(const struct gc_mutator *m)
{
	return ((const struct gc_thread *)m)->refused;
}

void *gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes)
{
	return allocate(m, type->word, gc_align(bytes, 8));
}

void *gc_alloc_array(struct gc_mutator *m, const struct gc_type *type, uint32_t length)
{
	uint64_t word, bytes;

	/* What has no tail has no length: above its size there is nothing (gc_shape_granules()). */
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
	return allocate(m, word, (size_t)bytes);
}

void *gc_weak_new(struct gc_mutator *m, void **target)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	void *weak = gc_alloc(m, heap->weak_type);

	/* The allocation is a safepoint: *target is read after it. */
	if (weak)
		gc_init(gc_weak_slot(weak), *target);
	return weak;
}

void *gc_ephemeron_new(struct gc_mutator *m, void **key, void **value)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	void *ephemeron = gc_alloc(m, heap->ephemeron_type), **slot;

	/* As above */
	if (ephemeron) {
		slot = gc_weak_slot(ephemeron);
		gc_init(&slot[0], *key);
		gc_init(&slot[1], *value);
	}
	return ephemeron;
}
