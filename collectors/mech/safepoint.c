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

#include "futex.h"
#include "help.h"
#include "plan.h"
#include "trace.h"

/*
 * Bits of poll: the collector wants the thread to stop; collect at every safepoint; who is
 * stopped is wanted to help.
 */
#define POLL_STOP   1u
#define POLL_ALWAYS 2u
#define POLL_HELP   4u

#define SPINS 200

static void arrive(struct gc_thread *t, uint32_t state)
{
	struct gc_heap *heap = t->heap;

	/* gc_threads_ragged() may look at it while a parked thread comes back and stops. */
	__atomic_store_n(&t->arrival, __atomic_fetch_add(&heap->arrivals, 1, __ATOMIC_SEQ_CST),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&t->state, state, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & POLL_STOP) {
		__atomic_fetch_add(&heap->arrivals, 1, __ATOMIC_SEQ_CST);
		gc_futex_wake(&heap->arrivals, 1);
	}
}

/* Until no collector wants this thread stopped; leaves it running. */
static void stay_stopped(struct gc_thread *t)
{
	uint32_t poll;

	for (;;) {
		while ((poll = __atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST)) & POLL_STOP) {
			if (!(poll & POLL_HELP)) {
				gc_futex_wait(&t->m.poll, poll);
				continue;
			}
			/* Cleared first: the next call is not missed. */
			__atomic_fetch_and(&t->m.poll, ~POLL_HELP, __ATOMIC_SEQ_CST);
			gc_help_join(t->heap, t);
		}
		__atomic_store_n(&t->state, GC_RUNNING, __ATOMIC_SEQ_CST);
		if (!(__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & POLL_STOP))
			return;
		arrive(t, GC_STOPPED);
	}
}

void gc_state_park(struct gc_thread *t)
{
	arrive(t, GC_PARKED);
}

void gc_state_unpark(struct gc_thread *t)
{
	__atomic_store_n(&t->state, GC_RUNNING, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->m.poll, __ATOMIC_SEQ_CST) & POLL_STOP) {
		arrive(t, GC_STOPPED);
		stay_stopped(t);
	}
}

void gc_safepoint_slow(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);
	uint64_t begin;

	if (__atomic_load_n(&m->poll, __ATOMIC_SEQ_CST) & POLL_STOP) {
		gc_pause_begin(t, GC_PAUSE_SAFEPOINT, &begin);
		arrive(t, GC_STOPPED);
		stay_stopped(t);
		gc_pause_end(t, GC_PAUSE_SAFEPOINT, begin);
	}
	if (__atomic_load_n(&m->poll, __ATOMIC_RELAXED) & POLL_ALWAYS)
		gc_run_cycle(t->heap, t, GC_CAUSE_STRESS, false, false);
}

void gc_park(struct gc_mutator *m)
{
	gc_state_park(gc_thread(m));
}

void gc_unpark(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m);
	uint64_t begin;

	if (!(__atomic_load_n(&m->poll, __ATOMIC_SEQ_CST) & POLL_STOP)) {
		gc_state_unpark(t);
		return;
	}
	gc_pause_begin(t, GC_PAUSE_SAFEPOINT, &begin);
	gc_state_unpark(t);
	gc_pause_end(t, GC_PAUSE_SAFEPOINT, begin);
}

static void request(struct gc_thread *t)
{
	__atomic_fetch_or(&t->m.poll, POLL_STOP, __ATOMIC_SEQ_CST);
}

static void release(struct gc_thread *t)
{
	__atomic_fetch_and(&t->m.poll, ~(POLL_STOP | POLL_HELP), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != GC_RUNNING)
		gc_futex_wake(&t->m.poll, 1);
}

static bool halted(const struct gc_thread *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != GC_RUNNING;
}

static uint32_t arrival(const struct gc_thread *t)
{
	return __atomic_load_n(&t->arrival, __ATOMIC_RELAXED);
}

/*
 * Wait for the next arrival. Dalvik's loop instead sleeps 1 ms, then 2, 4, ...: its
 * time to safepoint is a multiple of 1 ms unless all threads had stopped already.
 */
static void await(struct gc_heap *heap, uint32_t seen, unsigned int *round)
{
	if (heap->opt.safepoint == GC_WAIT_SLEEP) {
		unsigned int ms = 1u << (*round < 8 ? *round : 8);
		struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

		(*round)++;
		nanosleep(&ts, NULL);
		return;
	}
	if ((*round)++ < SPINS) {
		sched_yield();
		return;
	}
	gc_futex_wait(&heap->arrivals, seen);
}

void gc_world_stop(struct gc_heap *heap)
{
	struct gc_thread *self = heap->cycle.self;
	unsigned int round = 0;

	gc_phase_stop(heap, GC_EDGE(requesting_stop));
	pthread_mutex_lock(&heap->threads_lock);
	for (struct gc_thread *t = heap->threads; t; t = t->next)
		if (t != self)
			request(t);
	for (struct gc_thread *t = heap->threads; t; t = t->next) {
		while (t != self && !halted(t)) {
			uint32_t seen = __atomic_load_n(&heap->arrivals, __ATOMIC_SEQ_CST);

			if (!halted(t))
				await(heap, seen, &round);
		}
	}
	heap->stopping = true;
	gc_phase_stop(heap, GC_EDGE(stopped));
}

void gc_world_restart(struct gc_heap *heap)
{
	struct gc_thread *self = heap->cycle.self;

	gc_phase_stop(heap, GC_EDGE(restarting));
	heap->stopping = false;
	for (struct gc_thread *t = heap->threads; t; t = t->next)
		if (t != self)
			release(t);
	pthread_mutex_unlock(&heap->threads_lock);
	gc_phase_stop(heap, GC_EDGE(restarted));
}

void gc_give_way(struct gc_heap *heap)
{
	struct timespec ts = { 0, (long)(gc_random(&heap->rng) % 100000) };

	if (heap->opt.stress)
		nanosleep(&ts, NULL);
}

static bool stopped(const struct gc_thread *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) == GC_STOPPED;
}

static uint32_t waiting(const struct gc_heap *heap)
{
	return __atomic_load_n(&heap->gc.waiting, __ATOMIC_SEQ_CST);
}

unsigned int gc_threads_wait(const struct gc_heap *heap)
{
	unsigned int n = waiting(heap);

	for (const struct gc_thread *t = heap->threads; t; t = t->next)
		n += t != heap->cycle.self && stopped(t);
	return n;
}

/* Who is parked may come back meanwhile and find the word. */
void gc_threads_call(struct gc_heap *heap, unsigned int most)
{
	for (struct gc_thread *t = heap->threads; t; t = t->next) {
		if (t == heap->cycle.self)
			continue;
		__atomic_fetch_or(&t->m.poll, POLL_HELP, __ATOMIC_SEQ_CST);
		if (!most || !stopped(t))
			continue;
		gc_futex_wake(&t->m.poll, 1);
		most--;
	}
	if (!most || !waiting(heap))
		return;
	pthread_mutex_lock(&heap->gc.lock);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
}

/*
 * On the fly: ask every thread to stop, scan each in the order in which they arrive
 * and let it go at once. threads_lock keeps newcomers out until all were scanned.
 */
void gc_threads_ragged(struct gc_heap *heap, void (*scan)(struct gc_heap *, struct gc_thread *))
{
	struct gc_thread *self = heap->cycle.self;
	unsigned int round = 0;
	size_t left = 0;

	gc_phase_stop(heap, GC_EDGE(requesting_stop));
	pthread_mutex_lock(&heap->threads_lock);
	for (struct gc_thread *t = heap->threads; t; t = t->next) {
		t->scanned = t == self;
		if (t == self) {
			scan(heap, t);
			continue;
		}
		request(t);
		left++;
	}
	while (left) {
		uint32_t seen = __atomic_load_n(&heap->arrivals, __ATOMIC_SEQ_CST);
		struct gc_thread *first = NULL;

		for (struct gc_thread *t = heap->threads; t; t = t->next)
			if (!t->scanned && halted(t) &&
			    (!first || (int32_t)(arrival(t) - arrival(first)) < 0))
				first = t;
		if (!first) {
			await(heap, seen, &round);
			continue;
		}
		scan(heap, first);
		first->scanned = true;
		release(first);
		left--;
	}
	pthread_mutex_unlock(&heap->threads_lock);
	gc_phase_stop(heap, GC_EDGE(stopped));
	gc_phase_stop(heap, GC_EDGE(restarted));
}

int gc_mutator_attach(struct gc_heap *heap, struct gc_mutator **out)
{
	struct gc_thread *t;

	if (posix_memalign((void **)&t, 64, sizeof(*t)))
		return -ENOMEM;
	memset(t, 0, sizeof(*t));
	t->heap = heap;
	t->m.cards = heap->cards;
	for (size_t i = 0; i <= GC_SMALL_MAX / 8; i++)
		t->m.run_for[i] = &t->m.run[heap->plan->bump ? 0 : i];
	t->m.poll = heap->opt.every_safepoint ? POLL_ALWAYS : 0;
	t->tid = (int)syscall(SYS_gettid);
	pthread_mutex_lock(&heap->threads_lock);
	t->rng = (uint64_t)heap->opt.seed +
		 __atomic_fetch_add(&heap->stats.threads_total, 1, __ATOMIC_RELAXED);
	t->next = heap->threads;
	heap->threads = t;
	__atomic_fetch_add(&heap->thread_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&heap->threads_lock);
	*out = &t->m;
	return 0;
}

void gc_mutator_detach(struct gc_mutator *m)
{
	struct gc_thread *t = gc_thread(m), **link;
	struct gc_heap *heap = t->heap;

	/* A collection may be waiting for this thread while it waits for the lock. */
	gc_state_park(t);
	pthread_mutex_lock(&heap->threads_lock);
	gc_space_lock(heap);
	heap->plan->flush(t);
	gc_space_unlock(heap);
	for (link = &heap->threads; *link != t; link = &(*link)->next)
		;
	*link = t->next;
	__atomic_fetch_sub(&heap->thread_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&heap->threads_lock);
	free(t);
}
