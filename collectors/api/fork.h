/* SPDX-License-Identifier: MIT */
/* The heaps of the process, which a fork leaves whole in the child. */
#ifndef GC_FORK_H
#define GC_FORK_H

#include "../heap/heap.h"

/* Protects the list of heaps; taken before all other locks, and held during a fork */
extern pthread_mutex_t gc_heaps_lock;

/* The calling thread's mutator, or NULL */
struct gc_thread *gc_mutator_self(void);
/* The calling thread's mutator of @heap, parked or not, or NULL */
struct gc_thread *gc_mutator_of(const struct gc_heap *heap);

/* A heap was created: 0 or -ENOMEM. */
int gc_fork_add(struct gc_heap *heap);
/* A heap is to be destroyed. */
void gc_fork_remove(struct gc_heap *heap);

#endif
