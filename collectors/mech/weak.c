// SPDX-License-Identifier: MIT
/*
 * Weak references and finalizers. Every plan ends its tracing with gc_weak_process(),
 * world stopped: weak objects that were found drop dead referents; then objects that
 * are due for finalization are kept, with what they reach, for gc_finalizer_next().
 */
#include "plan.h"
#include "trace.h"
#include "weak.h"

static void clear_dead(struct gc_heap *heap, gc_alive_fn alive)
{
	for (size_t i = 0; i < heap->weaks.count; i++) {
		void **slot = gc_weak_slot(heap->weaks.items[i]);

		if (*slot && !alive(heap, slot)) {
			__atomic_store_n(slot, NULL, __ATOMIC_RELAXED);
			gc_tally(&heap->stats.weak_cleared, 1);
		} else if (GC_NEEDED(3) && *slot && heap->plan->generational) {
			/* an old weak object is looked at again while its referent may move */
			gc_card_dirty(heap, (uintptr_t)slot - sizeof(struct gc_header));
		}
	}
}

void gc_weak_process(struct gc_heap *heap, gc_alive_fn alive, gc_visit_fn keep, void *keep_arg,
		     void (*drain)(struct gc_heap *))
{
	struct gc_vector *f = &heap->finalizable;
	size_t kept = 0, due = 0;

	clear_dead(heap, alive);
	pthread_mutex_lock(&heap->table_lock);
	/* fetched entries go, so that the queue does not grow for ever */
	if (heap->finalized_next) {
		heap->finalized.count -= heap->finalized_next;
		memmove(heap->finalized.items, heap->finalized.items + heap->finalized_next,
			heap->finalized.count * sizeof(void *));
		heap->finalized_next = 0;
	}
	for (size_t i = 0; i < f->count; i++) {
		void *obj = f->items[i];

		if (alive(heap, &obj)) {
			f->items[kept++] = obj;
			continue;
		}
		if (gc_vector_push(&heap->finalized, obj)) {
			/* no memory for the queue: it stays registered and alive */
			keep(&obj, keep_arg);
			f->items[kept++] = obj;
			continue;
		}
		due++;
	}
	f->count = kept;
	for (size_t i = heap->finalized.count - due; i < heap->finalized.count; i++)
		keep(&heap->finalized.items[i], keep_arg);
	pthread_mutex_unlock(&heap->table_lock);
	if (due) {
		gc_tally(&heap->stats.finalized, due);
		drain(heap);
		/*
		 * What the dead reach is alive again, and weak objects among it were noted
		 * just now; a referent that died stays cleared in all that were alive.
		 */
		clear_dead(heap, alive);
	} else {
		drain(heap);
	}
	heap->weaks.count = 0;
}
