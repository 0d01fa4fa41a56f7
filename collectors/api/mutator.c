// SPDX-License-Identifier: MIT
/* The functions that mutators call, except allocation. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../cycle/collect.h"
#include "../heap/order.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../thread/safepoint.h"
#include "../thread/stack.h"
#include "../thread/threads.h"
#include "../trace/trace.h"
#include "../trace/verify.h"
#include "fork.h"
#include "oom.h"

/*
 * The calling thread's mutators, one for a heap; at most one runs: a thread that waits for the
 * collection of one heap would keep the collections of another one waiting.
 */
static __thread struct gc_thread *attached;

struct gc_thread *gc_mutator_self(void)
{
	struct gc_thread *t = attached;

	while (t && __atomic_load_n(&t->state, __ATOMIC_RELAXED) != GC_RUNNING)
		t = t->other;
	return t;
}

struct gc_thread *gc_mutator_of(const struct gc_heap *heap)
{
	struct gc_thread *t = attached;

	while (t && t->heap != heap)
		t = t->other;
	return t;
}

/*
 * A thread that ends attached would keep all collections waiting, so it is detached then: in the
 * last round of destructors, because those of the program may still use its mutator or detach it.
 * Frames that it left behind are no roots: their functions are gone.
 */
static pthread_key_t ending_key;
static bool ending_noticed;

static void thread_ends(void *arg)
{
	struct gc_thread *t = arg, *other;

	if (++t->ending < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(ending_key, t))
		return;
	for (; t; t = other) {
		other = t->other;
		t->m.frames = NULL;
		t->roots = NULL;
		gc_mutator_detach(&t->m);
	}
}

static void ending_init(void)
{
	ending_noticed = !pthread_key_create(&ending_key, thread_ends);
}

int gc_mutator_attach(struct gc_heap *heap, struct gc_mutator **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct gc_stack *stack = NULL;
	struct gc_thread *t;
	int state, ret;

	if (gc_mutator_self() || gc_mutator_of(heap))
		return -EBUSY;
	if (heap->opt.stack == GC_STACK_CONSERVATIVE) {
		ret = gc_stack_create(&stack);
		if (ret)
			return ret;
	}
	if (posix_memalign((void **)&t, 64, sizeof(*t))) {
		free(stack);
		return -ENOMEM;
	}
	pthread_once(&once, ending_init);
	if (ending_noticed && pthread_setspecific(ending_key, t)) {
		free(stack);
		free(t);
		return -ENOMEM;
	}
	memset(t, 0, sizeof(*t));
	t->stack = stack;
	t->heap = heap;
	t->m.cards = heap->cards;
	for (size_t i = 0; i <= GC_SMALL_MAX / 8; i++)
		t->m.run_for[i] = &t->m.run[heap->plan->bump ? 0 : i];
	t->m.poll = heap->opt.every_safepoint ? GC_POLL_ALWAYS : 0;
	t->tid = (int)syscall(SYS_gettid);
	state = gc_cancel_defer();
	gc_phase_mutator(t, true);
	pthread_mutex_lock(&heap->mutators.lock);
	t->rng = (uint64_t)heap->opt.seed +
		 __atomic_fetch_add(&heap->stats.threads_total, 1, __ATOMIC_RELAXED);
	t->next = heap->mutators.first;
	heap->mutators.first = t;
	__atomic_fetch_add(&heap->mutators.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&heap->mutators.lock);
	t->other = attached;
	attached = t;
	*out = &t->m;
	gc_cancel_allow(state);
	return 0;
}

void gc_mutator_detach(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m), **link;
	struct gc_heap *heap = t->heap;
	int state = gc_cancel_defer();

	/* A collection may be waiting for this thread while it waits for the lock. */
	gc_state_park(t);
	pthread_mutex_lock(&heap->mutators.lock);
	gc_space_lock(heap);
	heap->plan->flush(t);
	gc_space_unlock(heap);
	for (link = &heap->mutators.first; *link != t; link = &(*link)->next)
		;
	*link = t->next;
	__atomic_fetch_sub(&heap->mutators.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&heap->mutators.lock);
	gc_phase_mutator(t, false);
	for (link = &attached; *link != t; link = &(*link)->other)
		;
	*link = t->other;
	if (ending_noticed)
		pthread_setspecific(ending_key, attached);
	free(t->stack);
	free(t);
	gc_cancel_allow(state);
}

void gc_safepoint_slow(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);
	uint64_t begin;

	gc_oom_notice(t);
	if (__atomic_load_n(&m->poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP) {
		int state = gc_cancel_defer();

		gc_pause_begin(t, GC_PAUSE_SAFEPOINT, &begin);
		gc_state_stop(t);
		gc_pause_end(t, GC_PAUSE_SAFEPOINT, begin);
		gc_cancel_allow(state);
	}
	if (__atomic_load_n(&m->poll, __ATOMIC_RELAXED) & GC_POLL_ALWAYS)
		gc_run_cycle(t->heap, t, GC_CAUSE_STRESS, false, false);
}

void gc_park(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);

	gc_oom_notice(t);
	__atomic_store_n(&t->away, true, __ATOMIC_RELAXED);
	gc_state_park(t);
}

void gc_unpark(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);
	uint64_t begin;
	int state = gc_cancel_defer();

	__atomic_store_n(&t->away, false, __ATOMIC_RELAXED);
	if (!(__atomic_load_n(&m->poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP)) {
		gc_state_unpark(t);
	} else {
		gc_pause_begin(t, GC_PAUSE_SAFEPOINT, &begin);
		gc_state_unpark(t);
		gc_pause_end(t, GC_PAUSE_SAFEPOINT, begin);
	}
	gc_cancel_allow(state);
}

void *gc_parked_call(struct gc_mutator *m, void *(*fn)(void *arg), void *arg)
{
	void *result;

	gc_park(m);
	result = fn(arg);
	gc_unpark(m);
	return result;
}

void gc_collect(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);
	struct gc_heap *heap = t->heap;

	gc_oom_notice(t);
	/* policy=bg: only the daemon collects. */
	if (heap->opt.policy == GC_POLICY_BG && gc_daemon_up(heap)) {
		gc_order_daemon(heap, GC_CYCLE_REQUESTED);
		gc_safepoint(m);
		return;
	}
	gc_run_cycle(heap, t, GC_CAUSE_EXPLICIT, false, false);
	gc_safepoint(m);
}

void gc_collect_full(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);

	gc_oom_notice(t);
	while (gc_run_cycle(t->heap, t, GC_CAUSE_EXPLICIT, true, false) == GC_WAITED)
		;
}

/* Verify, for @walk and @line that are not NULL */
static int world_verify(struct gc_mutator *m, gc_walk_fn walk,
			void (*line)(const char *text, void *arg), void *arg, struct gc_error *err)
{
	struct gc_thread *t = gc_thread(m);
	struct gc_heap *heap = t->heap;
	int code, state = gc_cancel_defer();

	gc_cycle_acquire(heap, t);
	heap->cycle.self = t;
	gc_world_stop(heap);
	if (walk)
		gc_verify_walk(heap, walk, arg);
	else if (line)
		gc_verify_dump(heap, line, arg);
	else
		gc_verify_now(heap);
	gc_world_restart(heap);
	code = heap->verification.error.code;
	if (err)
		*err = heap->verification.error;
	gc_cycle_release(heap);
	gc_cancel_allow(state);
	return code;
}

int gc_verify(struct gc_mutator *m, struct gc_error *err)
{
	return world_verify(m, NULL, NULL, NULL, err);
}

int gc_heap_walk(struct gc_mutator *m, gc_walk_fn fn, void *arg, struct gc_error *err)
{
	return world_verify(m, fn, NULL, arg, err);
}

int gc_heap_dump(struct gc_mutator *m, void (*line)(const char *text, void *arg), void *arg,
		 struct gc_error *err)
{
	return world_verify(m, NULL, line, arg, err);
}

/*
 * No barrier is needed during a concurrent cycle: the caller stores the referent in a root, and
 * the remark pause marks all roots before it clears weak references.
 */
void *gc_weak_get(struct gc_mutator *m, const void *weak)
{
	(void)m;
	return gc_slot_load((void **)((uintptr_t)weak + sizeof(struct gc_header)));
}

/* The same holds for keys and values of ephemerons. */
void *gc_ephemeron_key(struct gc_mutator *m, const void *ephemeron)
{
	return gc_weak_get(m, ephemeron);
}

void *gc_ephemeron_value(struct gc_mutator *m, const void *ephemeron)
{
	void **slot = (void **)((uintptr_t)ephemeron + sizeof(struct gc_header));

	(void)m;
	return gc_slot_load(&slot[0]) ? gc_slot_load(&slot[1]) : NULL;
}

int gc_finalizer_add_order(struct gc_mutator *m, void *obj, unsigned int order)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	int ret;

	if (!gc_is_ref(heap, obj) || order >= GC_FINALIZER_ORDERS)
		return -EINVAL;
	pthread_mutex_lock(&heap->roots.lock);
	ret = gc_vector_push(&heap->weak.finalizable[order].objects, obj);
	pthread_mutex_unlock(&heap->roots.lock);
	return ret;
}

int gc_finalizer_add(struct gc_mutator *m, void *obj)
{
	return gc_finalizer_add_order(m, obj, 0);
}

void gc_finalizer_callback(struct gc_heap *heap, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&heap->roots.lock);
	heap->weak.finalizer = fn;
	heap->weak.finalizer_arg = arg;
	pthread_mutex_unlock(&heap->roots.lock);
}

void *gc_finalizer_next(struct gc_mutator *m)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	void *obj = NULL;

	pthread_mutex_lock(&heap->roots.lock);
	if (heap->weak.finalized_next < heap->weak.finalized.count)
		obj = heap->weak.finalized.items[heap->weak.finalized_next++];
	pthread_mutex_unlock(&heap->roots.lock);
	return obj;
}
