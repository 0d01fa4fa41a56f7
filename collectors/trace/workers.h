/* SPDX-License-Identifier: MIT */
/* GC worker threads, which copy where too few mutators wait that could help. */
#ifndef GC_WORKERS_H
#define GC_WORKERS_H

#include "../heap/heap.h"

struct gc_copier;

/**
 * struct gc_workers - the copiers of a heap and the threads that work for them
 * @lock: protects @wanted and @quit, which threads wait for with @call
 * @copiers: number of copier[], of which the first is the collecting thread's
 * @threads: number of thread[]
 * @wanted: threads that are to join the collection and have not woken up yet
 * @lost: the threads are to be started again: this is a forked child
 * @loop: copies until no object is grey
 */
struct gc_workers {
	struct gc_heap *heap;
	pthread_mutex_t lock;
	pthread_cond_t call;
	unsigned int copiers;
	unsigned int threads, wanted;
	bool quit, lost;
	void (*loop)(struct gc_copier *c);
	pthread_t *thread;
	struct gc_copier *copier[];
};

/* Create workers= copiers and the worker threads, after gc_help_init(); 0 or -ENOMEM */
int gc_workers_init(struct gc_heap *heap);
void gc_workers_fini(struct gc_heap *heap);
/* A fork is under way: keep the threads away from the state that they share. */
void gc_workers_lock(struct gc_heap *heap);
void gc_workers_unlock(struct gc_heap *heap);
/* In the child, with the lock: there are none until gc_workers_restore() starts them again. */
void gc_workers_forked(struct gc_heap *heap);
void gc_workers_restore(struct gc_heap *heap);

#endif
