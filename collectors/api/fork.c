// SPDX-License-Identifier: MIT
/*
 * fork(2): the child has only the thread that called it. So fork() stops the world of every heap,
 * between two cycles and with all locks taken, and the child drops the mutators of the other
 * threads. The daemon and the GC workers start again in the child's next cycle.
 */
#include "fork.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../cycle/collect.h"
#include "../heap/plan.h"
#include "../space/large.h"
#include "../thread/help.h"
#include "../thread/safepoint.h"
#include "../thread/threads.h"
#include "../trace/mark.h"
#include "../trace/workers.h"

pthread_mutex_t gc_heaps_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gc_heap *heaps;

/* A fork on another thread holds the lock and stops the world: park while waiting for it. */
static void heaps_acquire(void)
{
	struct gc_thread *self = gc_mutator_self();

	if (!pthread_mutex_trylock(&gc_heaps_lock))
		return;
	if (self)
		gc_state_park(self);
	pthread_mutex_lock(&gc_heaps_lock);
	if (self)
		gc_state_unpark(self);
}

/* Whether the thread that forks could be canceled; protected by gc_heaps_lock */
static int cancel_state;

static void fork_prepare(void)
{
	struct gc_thread *self = gc_mutator_self();
	int state = gc_cancel_defer();

	heaps_acquire();
	cancel_state = state;
	for (struct gc_heap *heap = heaps; heap; heap = heap->next) {
		gc_cycle_acquire(heap, self && self->heap == heap ? self : NULL);
		gc_world_stop(heap);
		pthread_mutex_lock(&heap->space_lock);
		pthread_mutex_lock(&heap->roots.lock);
		if (heap->help)
			gc_help_lock(heap);
		if (heap->workers)
			gc_workers_lock(heap);
		pthread_mutex_lock(&heap->gc.lock);
	}
}

static void heap_release(struct gc_heap *heap)
{
	pthread_mutex_unlock(&heap->gc.lock);
	if (heap->workers)
		gc_workers_unlock(heap);
	if (heap->help)
		gc_help_unlock(heap);
	pthread_mutex_unlock(&heap->roots.lock);
	pthread_mutex_unlock(&heap->space_lock);
	gc_world_restart(heap);
	gc_cycle_release(heap);
}

/* A fork is done: what fork_prepare() began ends. */
static void heaps_release(void)
{
	int state = cancel_state;

	for (struct gc_heap *heap = heaps; heap; heap = heap->next)
		heap_release(heap);
	pthread_mutex_unlock(&gc_heaps_lock);
	gc_cancel_allow(state);
}

static void fork_parent(void)
{
	heaps_release();
}

/* Drop the mutators of threads that do not exist in the child. */
static void drop_threads(struct gc_heap *heap, struct gc_thread *self)
{
	struct gc_thread **link = &heap->mutators.first, *t;

	while ((t = *link)) {
		if (t == self) {
			t->tid = (int)syscall(SYS_gettid);
			link = &t->next;
			continue;
		}
		heap->plan->flush(t);
		if (t->clearing)
			gc_large_abandon(heap, t->clearing);
		*link = t->next;
		heap->mutators.count--;
		free(t->stack);
		free(t);
	}
}

static void fork_child(void)
{
	for (struct gc_heap *heap = heaps; heap; heap = heap->next) {
		drop_threads(heap, gc_mutator_of(heap));
		gc_cycle_forked(heap);
		gc_workers_forked(heap);
		gc_mark_order_init(heap);
	}
	heaps_release();
}

static int handlers_error;

static void handlers_add(void)
{
	handlers_error = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

int gc_fork_add(struct gc_heap *heap)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, handlers_add);
	if (handlers_error)
		return -handlers_error;
	heaps_acquire();
	heap->next = heaps;
	heaps = heap;
	pthread_mutex_unlock(&gc_heaps_lock);
	return 0;
}

void gc_fork_remove(struct gc_heap *heap)
{
	struct gc_heap **link = &heaps;

	heaps_acquire();
	while (*link && *link != heap)
		link = &(*link)->next;
	if (*link)
		*link = heap->next;
	pthread_mutex_unlock(&gc_heaps_lock);
}
