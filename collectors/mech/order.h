/* SPDX-License-Identifier: MIT */
/* What is told to who waits for a cycle, and ordered of the daemon. */
#ifndef GC_ORDER_H
#define GC_ORDER_H

#include "heap.h"

/* Nothing happens where there is no daemon. */
void gc_order_daemon(struct gc_heap *heap, enum gc_turn_event event);
/* The same with gc.lock held */
void gc_order_locked(struct gc_heap *heap, enum gc_turn_event event);
/* The cycle goes on, but what it freed may be allocated: those who wait need not any more. */
void gc_turn_usable(struct gc_heap *heap);

#endif
