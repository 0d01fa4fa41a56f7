// SPDX-License-Identifier: MIT
#include "order.h"

void gc_order_locked(struct gc_heap *heap, enum gc_turn_event event)
{
	if (!heap->gc.daemon_up)
		return;
	if (event != GC_TURN_ASKED && heap->gc.turn.state == GC_TURN_IDLE)
		gc_pace_order(heap);
	gc_turn_step(&heap->gc.turn, event);
	pthread_cond_signal(&heap->gc.order);
}

void gc_order_daemon(struct gc_heap *heap, enum gc_turn_event event)
{
	pthread_mutex_lock(&heap->gc.lock);
	gc_order_locked(heap, event);
	pthread_mutex_unlock(&heap->gc.lock);
}

void gc_turn_usable(struct gc_heap *heap)
{
	heap->cycle.usable_ns = gc_now();
	heap->cycle.usable_cpu_ns = gc_cpu_now();
	gc_pace_end(heap);
	pthread_mutex_lock(&heap->gc.lock);
	gc_turn_step(&heap->gc.turn, GC_TURN_USABLE);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
}
