// SPDX-License-Identifier: MIT
/*
 * Stopping and resuming mutators.
 *
 * A collector sets a thread's poll word and then reads its state; the thread sets its
 * state and then reads its poll word. Both are sequentially consistent, so one of the
 * two sees the other: a thread that the collector found parked cannot run on without
 * seeing poll, and stops before it touches the heap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../heap/futex.h"
#include "../listener/phase.h"
#include "help.h"
#include "safepoint.h"
#include "stack.h"
#include "threads.h"

#define SPINS	       200
#define STALL_CHECK_NS 20000000 /* between checks for a stalled thread */

static void thread_arrive(struct gc_thread *t, uint32_t state)
{
	struct gc_heap *heap = t->heap;

	/* Atomic: gc_threads_ragged() may read it while a parked thread comes back and stops. */
	__atomic_store_n(&t->arrival,
			 __atomic_fetch_add(&heap->mutators.arrivals, 1, __ATOMIC_SEQ_CST),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&t->state, state, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP) {
		__atomic_fetch_add(&heap->mutators.arrivals, 1, __ATOMIC_SEQ_CST);
		gc_futex_wake(&heap->mutators.arrivals, 1);
	}
}

/* Wait until no collector wants this thread stopped; it is running then. */
static void stay_stopped(struct gc_thread *t)
{
	uint32_t poll;

	for (;;) {
		while ((poll = __atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST)) & GC_POLL_STOP) {
			if (!(poll & GC_POLL_HELP)) {
				gc_futex_wait(&t->m.poll, poll);
				continue;
			}
			/* Cleared first, so that the next call is not missed. */
			__atomic_fetch_and(&t->m.poll, ~GC_POLL_HELP, __ATOMIC_SEQ_CST);
			gc_help_join(t->heap, t);
		}
		__atomic_store_n(&t->state, GC_RUNNING, __ATOMIC_SEQ_CST);
		if (!(__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP))
			return;
		thread_arrive(t, GC_STOPPED);
	}
}

/*
 * Not when a parked thread comes back and stops: a collection may be reading what it had when it
 * parked, which includes all that it has since.
 */
static void thread_save(struct gc_thread *t)
{
	if (unlikely(t->stack))
		gc_stack_save(t->stack);
}

void gc_state_stop(struct gc_thread *t)
{
	thread_save(t);
	thread_arrive(t, GC_STOPPED);
	stay_stopped(t);
}

void gc_state_park(struct gc_thread *t)
{
	thread_save(t);
	thread_arrive(t, GC_PARKED);
}

void gc_state_unpark(struct gc_thread *t)
{
	__atomic_store_n(&t->state, GC_RUNNING, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP) {
		thread_arrive(t, GC_STOPPED);
		stay_stopped(t);
	}
}

static void thread_request_stop(struct gc_thread *t)
{
	__atomic_fetch_or(&t->m.poll, GC_POLL_STOP, __ATOMIC_SEQ_CST);
}

static void thread_release(struct gc_thread *t)
{
	__atomic_fetch_and(&t->m.poll, ~(GC_POLL_STOP | GC_POLL_HELP), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != GC_RUNNING)
		gc_futex_wake(&t->m.poll, 1);
}

static bool thread_halted(const struct gc_thread *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != GC_RUNNING;
}

static uint32_t thread_arrival(const struct gc_thread *t)
{
	return __atomic_load_n(&t->arrival, __ATOMIC_RELAXED);
}

/* struct wait - for mutators to stop: rounds so far, and when to report a stalled thread */
struct wait {
	unsigned int round;
	uint64_t report_ns;
};

static struct wait wait_begin(const struct gc_heap *heap)
{
	return (struct wait){ 0, heap->cycle.stop_ns + (uint64_t)heap->opt.stall * 1000000 };
}

/* Report @t as stalled after stall=, and again each time when it has taken twice as long. */
static void stall_report(struct gc_thread *t, struct wait *w)
{
	uint64_t now, since;

	if (!t->heap->opt.stall)
		return;
	now = gc_now();
	if (now < w->report_ns || thread_halted(t))
		return;
	since = now - t->heap->cycle.stop_ns;
	w->report_ns = now + since;
	gc_phase_stalled(t, since);
}

/*
 * Wait for the next arrival; @t is one that has not stopped. Dalvik's loop instead sleeps
 * 1 ms, then 2, 4, ...: its time to safepoint is a multiple of 1 ms unless all threads had
 * stopped already.
 */
static void wait_arrival(struct gc_thread *t, uint32_t seen, struct wait *w)
{
	struct gc_heap *heap = t->heap;
	struct timespec ts = { STALL_CHECK_NS / 1000000000, STALL_CHECK_NS % 1000000000 };
	unsigned int ms;

	if (heap->opt.safepoint == GC_WAIT_SLEEP) {
		ms = 1u << (w->round < 8 ? w->round : 8);
		w->round++;
		ts = (struct timespec){ ms / 1000, (long)(ms % 1000) * 1000000 };
		nanosleep(&ts, NULL);
	} else if (w->round++ < SPINS) {
		sched_yield();
		return;
	} else {
		gc_futex_wait_for(&heap->mutators.arrivals, seen, &ts);
	}
	stall_report(t, w);
}

void gc_world_stop(struct gc_heap *heap)
{
	struct gc_thread *self = heap->cycle.self;
	uint32_t before;
	bool reported = false;
	struct wait w;

	gc_phase_stop(heap, GC_EDGE(requesting_stop));
	w = wait_begin(heap);
	pthread_mutex_lock(&heap->mutators.lock);
	before = __atomic_load_n(&heap->mutators.arrivals, __ATOMIC_SEQ_CST);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		if (t != self)
			thread_request_stop(t);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next) {
		while (t != self && !thread_halted(t)) {
			uint32_t seen = __atomic_load_n(&heap->mutators.arrivals, __ATOMIC_SEQ_CST);

			if (thread_halted(t))
				break;
			if (seen != before && !reported) {
				reported = true;
				gc_phase_stop(heap, GC_EDGE(first_stopped));
			}
			wait_arrival(t, seen, &w);
		}
	}
	heap->mutators.stopping = true;
	gc_phase_stop(heap, GC_EDGE(stopped));
}

void gc_world_restart(struct gc_heap *heap)
{
	struct gc_thread *self = heap->cycle.self;

	gc_phase_stop(heap, GC_EDGE(restarting));
	heap->mutators.stopping = false;
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		if (t != self)
			thread_release(t);
	pthread_mutex_unlock(&heap->mutators.lock);
	gc_phase_stop(heap, GC_EDGE(restarted));
}

/*
 * On the fly: ask every thread to stop, scan each in the order in which they arrive
 * and let it go at once. mutators.lock keeps new threads out until all were scanned.
 */
void gc_threads_ragged(struct gc_heap *heap, void (*scan)(struct gc_heap *, struct gc_thread *))
{
	struct gc_thread *self = heap->cycle.self;
	size_t left = 0;
	struct wait w;

	gc_phase_stop(heap, GC_EDGE(requesting_stop));
	w = wait_begin(heap);
	pthread_mutex_lock(&heap->mutators.lock);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next) {
		t->scanned = t == self;
		if (t == self) {
			scan(heap, t);
			continue;
		}
		thread_request_stop(t);
		left++;
	}
	while (left) {
		uint32_t seen = __atomic_load_n(&heap->mutators.arrivals, __ATOMIC_SEQ_CST);
		struct gc_thread *first = NULL, *late = heap->mutators.first;

		for (struct gc_thread *t = heap->mutators.first; t; t = t->next) {
			if (t->scanned)
				continue;
			if (!thread_halted(t))
				late = t;
			else if (!first || (int32_t)(thread_arrival(t) - thread_arrival(first)) < 0)
				first = t;
		}
		if (!first) {
			wait_arrival(late, seen, &w);
			continue;
		}
		scan(heap, first);
		first->scanned = true;
		thread_release(first);
		left--;
	}
	pthread_mutex_unlock(&heap->mutators.lock);
	gc_phase_stop(heap, GC_EDGE(stopped));
	gc_phase_stop(heap, GC_EDGE(restarted));
}
