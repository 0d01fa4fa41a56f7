// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "workers.h"

#include <errno.h>
#include <stdlib.h>

#include "../thread/threads.h"
#include "copy.h"

static void *worker_main(void *arg)
{
	struct gc_workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	while (!workers->quit) {
		if (!workers->wanted) {
			pthread_cond_wait(&workers->call, &workers->lock);
			continue;
		}
		workers->wanted--;
		pthread_mutex_unlock(&workers->lock);
		gc_help_join(workers->heap, NULL);
		pthread_mutex_lock(&workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

static void workers_call(struct gc_workers *workers, unsigned int count)
{
	pthread_mutex_lock(&workers->lock);
	workers->wanted = count;
	while (count--)
		pthread_cond_signal(&workers->call);
	pthread_mutex_unlock(&workers->lock);
}

/* The copier of helper @i; number 0 is the collecting thread. */
static struct gc_copier *copier_create(struct gc_workers *workers, unsigned int i)
{
	struct gc_copier *c = calloc(1, sizeof(*c));
	struct gc_heap *heap = workers->heap;

	if (!c)
		return NULL;
	c->heap = c->own.heap = heap;
	c->own.fills = true;
	c->helper = heap->help ? gc_help_place(heap, i) : NULL;
	c->first = !i;
	c->rng = i ? &c->own_rng : &heap->rng;
	c->own_rng = (uint64_t)heap->opt.seed + i;
	c->stack = i ? c->helper->mark.stack : &heap->stack;
	return c;
}

static void workers_start(struct gc_workers *workers)
{
	/* The collector works with fewer threads, too: no error. */
	for (; workers->thread && workers->threads < workers->copiers - 1; workers->threads++) {
		pthread_t *t = &workers->thread[workers->threads];

		if (gc_thread_create(t, NULL, "gc-worker", worker_main, workers))
			break;
	}
	if (workers->heap->help)
		gc_help_set_workers(workers->heap, workers_call, workers->threads);
}

int gc_workers_init(struct gc_heap *heap)
{
	unsigned int count = heap->help ? gc_workers_max(&heap->opt) : 1;
	struct gc_workers *workers =
		calloc(1, sizeof(*workers) + count * sizeof(workers->copier[0]));

	if (!workers)
		return -ENOMEM;
	heap->workers = workers;
	workers->heap = heap;
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->call, NULL);
	for (; workers->copiers < count; workers->copiers++) {
		workers->copier[workers->copiers] = copier_create(workers, workers->copiers);
		if (!workers->copier[workers->copiers])
			return -ENOMEM;
	}
	workers->thread = calloc(count, sizeof(*workers->thread));
	workers_start(workers);
	return 0;
}

void gc_workers_lock(struct gc_heap *heap)
{
	pthread_mutex_lock(&heap->workers->lock);
}

void gc_workers_unlock(struct gc_heap *heap)
{
	pthread_mutex_unlock(&heap->workers->lock);
}

void gc_workers_forked(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;

	if (!workers)
		return;
	/* The threads that waited are still counted in the condition. */
	pthread_cond_init(&workers->call, NULL);
	workers->threads = workers->wanted = 0;
	workers->lost = true;
	if (heap->help)
		gc_help_set_workers(heap, workers_call, 0);
}

void gc_workers_restore(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;

	if (likely(!workers->lost))
		return;
	workers->lost = false;
	workers_start(workers);
}

void gc_workers_fini(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;

	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->quit = true;
	pthread_cond_broadcast(&workers->call);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned int i = 0; i < workers->threads; i++)
		pthread_join(workers->thread[i], NULL);
	for (unsigned int i = 0; i < workers->copiers; i++)
		free(workers->copier[i]);
	pthread_mutex_destroy(&workers->lock);
	pthread_cond_destroy(&workers->call);
	free(workers->thread);
	free(workers);
	heap->workers = NULL;
}
