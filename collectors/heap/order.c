// SPDX-License-Identifier: MIT
#include "order.h"

void gc_order_locked(struct gc_heap *heap, enum gc_cycle_event event)
{
	if (!gc_daemon_up(heap))
		return;
	if (event != GC_CYCLE_REQUESTED && heap->gc.control.state == GC_CYCLE_IDLE)
		gc_pace_order(heap);
	gc_cycle_step(&heap->gc.control, event);
	pthread_cond_signal(&heap->gc.order);
}

void gc_order_daemon(struct gc_heap *heap, enum gc_cycle_event event)
{
	pthread_mutex_lock(&heap->gc.lock);
	gc_order_locked(heap, event);
	pthread_mutex_unlock(&heap->gc.lock);
}

void gc_cycle_usable(struct gc_heap *heap)
{
	heap->cycle.usable_ns = gc_now();
	heap->cycle.usable_cpu_ns = gc_cpu_now();
	gc_pace_end(heap);
	pthread_mutex_lock(&heap->gc.lock);
	gc_cycle_step(&heap->gc.control, GC_CYCLE_USABLE);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
}
