/* SPDX-License-Identifier: MIT */
/* Orders to the daemon, and wake-ups of threads that wait for a cycle. */
#ifndef GC_ORDER_H
#define GC_ORDER_H

#include "heap.h"

/* Does nothing where there is no daemon. */
void gc_order_daemon(struct gc_heap *heap, enum gc_cycle_event event);
/* The same with gc.lock held */
void gc_order_locked(struct gc_heap *heap, enum gc_cycle_event event);
/* The cycle goes on, but the memory that it freed may be allocated: wake up waiting threads. */
void gc_cycle_usable(struct gc_heap *heap);

#endif
