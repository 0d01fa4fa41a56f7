// SPDX-License-Identifier: MIT
/* What a program asks about an object, or about the addresses of objects. */
#include <errno.h>

#include "../cycle/collect.h"
#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../options/options.h"
#include "../space/pages.h"
#include "../thread/threads.h"
#include "../trace/ambiguous.h"
#include "../trace/trace.h"

/* From now on words are mixed: false if a thread may have objects, or be about to make some. */
static bool words_mix(struct gc_heap *heap)
{
	int state = gc_cancel_defer();
	bool mixed;

	/* The daemon's cycle goes by what words were when it began. */
	gc_cycle_acquire(heap, NULL);
	pthread_mutex_lock(&heap->mutators.lock);
	mixed = heap->roots.mixed || !heap->stats.threads_total;
	heap->roots.mixed = mixed;
	pthread_mutex_unlock(&heap->mutators.lock);
	gc_cycle_release(heap);
	gc_cancel_allow(state);
	return mixed;
}

const struct gc_type *gc_type_register(struct gc_heap *heap, const struct gc_type_desc *desc,
				       struct gc_error *err)
{
	if (desc->mixed && !__atomic_load_n(&heap->roots.mixed, __ATOMIC_RELAXED) &&
	    !words_mix(heap)) {
		gc_fail(err, -EBUSY,
			"type %s: register the first mixed type before a thread attaches",
			desc->name ? desc->name : "?");
		return NULL;
	}
	return gc_type_add(heap, desc, err);
}

const struct gc_type *gc_type_of(const struct gc_heap *heap, const void *obj)
{
	return &gc_info(heap, gc_word(obj))->pub;
}

/* The second half of gc_write_element() for a long array */
void gc_write_slow(struct gc_mutator *m, void *array, size_t i)
{
	uintptr_t slot = (uintptr_t)&gc_array_slots(gc_thread(m)->heap, array)[i];

	if (slot - (uintptr_t)array >= GC_CARD)
		__atomic_store_n(&m->cards[slot >> GC_CARD_SHIFT], GC_CARD_ELEMENT,
				 __ATOMIC_RELAXED);
	else
		gc_write_barrier(m, array);
}

bool gc_heap_contains(const struct gc_heap *heap, const void *address)
{
	return (uintptr_t)address - heap->base < heap->end - heap->base;
}

bool gc_heap_moves(const struct gc_heap *heap)
{
	return heap->bump || (heap->lines && heap->opt.defrag != GC_DEFRAG_NEVER);
}

bool gc_heap_pins(const struct gc_heap *heap)
{
	return heap->plan->pins;
}

int gc_object_pin(struct gc_mutator *m, void *obj)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	int ret;

	if (!gc_is_ref(heap, obj))
		return -EINVAL;
	/* Objects in the pages stay where they are under all plans that do not pin. */
	if (!heap->plan->pins && !gc_in_pages(heap, (uintptr_t)obj))
		return -EOPNOTSUPP;
	pthread_mutex_lock(&heap->roots.lock);
	ret = gc_pinned_add(heap, obj);
	pthread_mutex_unlock(&heap->roots.lock);
	return ret;
}

int gc_object_unpin(struct gc_mutator *m, void *obj)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	int ret;

	pthread_mutex_lock(&heap->roots.lock);
	ret = gc_pinned_remove(heap, obj);
	pthread_mutex_unlock(&heap->roots.lock);
	return ret;
}
