/* SPDX-License-Identifier: MIT */
/* Stopping and resuming mutators. */
#ifndef GC_SAFEPOINT_H
#define GC_SAFEPOINT_H

#include "../heap/heap.h"

void gc_world_stop(struct gc_heap *heap);
void gc_world_restart(struct gc_heap *heap);
/* Stop each thread, @scan it and let it go, in the order in which they stop. */
void gc_threads_ragged(struct gc_heap *heap, void (*scan)(struct gc_heap *, struct gc_thread *));
/* The calling thread stops until no collector wants it stopped. */
void gc_state_stop(struct gc_thread *t);
void gc_state_park(struct gc_thread *t);
void gc_state_unpark(struct gc_thread *t);

#endif
