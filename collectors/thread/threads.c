// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "threads.h"

#include "../heap/futex.h"

static bool thread_stopped(const struct gc_thread *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) == GC_STOPPED;
}

static uint32_t threads_waiting(const struct gc_heap *heap)
{
	return __atomic_load_n(&heap->gc.waiting, __ATOMIC_SEQ_CST);
}

unsigned int gc_threads_wait(const struct gc_heap *heap)
{
	unsigned int n = threads_waiting(heap);

	/* While mutators run, the list of threads may change. */
	if (!heap->stopping)
		return n;
	for (const struct gc_thread *t = heap->threads; t; t = t->next)
		n += t != heap->cycle.self && thread_stopped(t);
	return n;
}

/* Sets the bit for parked threads, too: they may come back during the stop and see it. */
void gc_threads_call(struct gc_heap *heap, unsigned int most)
{
	for (struct gc_thread *t = heap->stopping ? heap->threads : NULL; t; t = t->next) {
		if (t == heap->cycle.self)
			continue;
		__atomic_fetch_or(&t->m.poll, GC_POLL_HELP, __ATOMIC_SEQ_CST);
		if (!most || !thread_stopped(t))
			continue;
		gc_futex_wake(&t->m.poll, 1);
		most--;
	}
	if (!most || !threads_waiting(heap))
		return;
	pthread_mutex_lock(&heap->gc.lock);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
}

void gc_stress_sleep(struct gc_heap *heap)
{
	struct timespec ts = { 0, (long)(gc_random(&heap->rng) % 100000) };

	if (heap->opt.stress)
		nanosleep(&ts, NULL);
}
