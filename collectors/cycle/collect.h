/* SPDX-License-Identifier: MIT */
/* Running cycles, on a mutator or on the daemon. */
#ifndef GC_COLLECT_H
#define GC_COLLECT_H

#include "../heap/heap.h"

enum gc_outcome {
	GC_COLLECTED,
	GC_WAITED
};
enum gc_outcome gc_run_cycle(struct gc_heap *heap, struct gc_thread *self, enum gc_cause cause,
			     bool full, bool wait_only);
/* Returns after a full collection that began after this call, on this thread or another. */
void gc_collect_all(struct gc_heap *heap, struct gc_thread *self);
/* Is an allocation to be refused because collecting exceeds the overhead limit? */
bool gc_collect_refuses(struct gc_heap *heap);
void gc_cycle_acquire(struct gc_heap *heap, struct gc_thread *self);
void gc_cycle_release(struct gc_heap *heap);
/* The conditions that threads wait for cycles on, for a new heap and for a forked child */
void gc_cycle_init(struct gc_heap *heap);
/* In a forked child, with all locks: no other thread waits, and the daemon is gone. */
void gc_cycle_forked(struct gc_heap *heap);
int gc_daemon_start(struct gc_heap *heap, struct gc_error *err);
void gc_daemon_stop(struct gc_heap *heap);

#endif
