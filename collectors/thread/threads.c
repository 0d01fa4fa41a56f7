// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "threads.h"

#include <signal.h>

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
	if (!heap->mutators.stopping)
		return n;
	for (const struct gc_thread *t = heap->mutators.first; t; t = t->next)
		n += t != heap->cycle.self && thread_stopped(t);
	return n;
}

/* Sets the bit for parked threads, too: they may come back during the stop and see it. */
void gc_threads_call(struct gc_heap *heap, unsigned int most)
{
	for (struct gc_thread *t = heap->mutators.stopping ? heap->mutators.first : NULL; t;
	     t = t->next) {
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

int gc_thread_create(pthread_t *thread, const pthread_attr_t *attr, const char *name,
		     void *(*fn)(void *), void *arg)
{
	static const int synchronous[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	sigset_t blocked, before;
	int ret;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(synchronous) / sizeof(synchronous[0]); i++)
		sigdelset(&blocked, synchronous[i]);
	/* The new thread inherits the mask, so it is never without. */
	pthread_sigmask(GC_NEEDED(14) ? SIG_SETMASK : SIG_UNBLOCK, &blocked, &before);
	ret = pthread_create(thread, attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_setname_np(*thread, name);
	return ret;
}
