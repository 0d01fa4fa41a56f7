// SPDX-License-Identifier: MIT
/*
 * Weak references, ephemerons and finalizers. Every plan ends its tracing with
 * gc_weak_process() while the world is stopped:
 * - Keep values with live keys, and what they reach, until no more are found.
 * - Clear dead references of the weak objects and ephemerons that were found.
 * - Keep objects that are due for finalization for gc_finalizer_next(), and repeat both steps
 *   for what they reach.
 * After that, liveness and addresses are final.
 */
#include <errno.h>

#include "../heap/plan.h"
#include "../space/pages.h"
#include "hash.h"
#include "trace.h"
#include "weak.h"

static bool ref_is_young(const struct gc_heap *heap, const void *ref)
{
	return ref && !gc_in_pages(heap, (uintptr_t)ref);
}

static void clear_dead(struct gc_heap *heap, gc_alive_fn alive)
{
	for (size_t i = 0; i < heap->weaks.count; i++) {
		void **slot = gc_weak_slot(heap->weaks.items[i]);

		if (*slot && !alive(heap, slot)) {
			__atomic_store_n(slot, NULL, __ATOMIC_RELAXED);
			gc_stat_add(&heap->stats.weak_cleared, 1);
		} else if (GC_NEEDED(3) && heap->plan->generational && ref_is_young(heap, *slot)) {
			/* An old weak object must be found again while its referent may move. */
			gc_card_dirty(heap, (uintptr_t)slot - sizeof(struct gc_header));
		}
	}
}

enum settled {
	SETTLED, /* its key is alive and its value is kept, or it has no key */
	UNSETTLED, /* its key was not reached yet */
	GAVE_UP /* its value is kept, but the deadline passed before all it reaches was */
};

/* If the key of @obj is alive, keep its value; sets *@more if the value was not alive before. */
static enum settled ephemeron_settle(struct gc_heap *heap, void *obj, const struct gc_weak_ops *ops,
				     bool *more)
{
	void **key = gc_weak_slot(obj), **value = key + 1;
	bool drained = true;

	if (!*key) {
		__atomic_store_n(value, NULL, __ATOMIC_RELAXED);
		return SETTLED;
	}
	if (!ops->alive(heap, key))
		return UNSETTLED;
	if (GC_NEEDED(10) && *value && !ops->alive(heap, value)) {
		ops->keep(value, ops->arg);
		drained = ops->drain(heap, ops->drain_arg);
		*more = true;
	}
	/* An old ephemeron must be found again while its referents may move. */
	if (GC_NEEDED(11) && heap->plan->generational &&
	    (ref_is_young(heap, *key) || ref_is_young(heap, *value)))
		gc_card_dirty(heap, (uintptr_t)obj);
	return drained ? SETTLED : GAVE_UP;
}

/*
 * Repeat until only ephemerons with dead keys are left; newly found ones are appended. Every other
 * pass runs in reverse order, so that a chain in either order takes two passes. False: the deadline
 * passed.
 */
static bool ephemerons_settle(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	struct gc_vector *v = &heap->ephemerons;
	bool more = true, gave_up = false;

	while (more && v->count) {
		size_t left = 0;

		more = false;
		for (size_t i = 0; i < v->count; i++) {
			void *obj = v->items[i];
			enum settled settled =
				gave_up ? UNSETTLED : ephemeron_settle(heap, obj, ops, &more);

			if (settled == UNSETTLED)
				v->items[left++] = obj;
			gave_up |= settled == GAVE_UP;
		}
		v->count = left;
		if (gave_up)
			return false;
		for (size_t i = 0; i < left / 2; i++) {
			void *obj = v->items[i];

			v->items[i] = v->items[left - 1 - i];
			v->items[left - 1 - i] = obj;
		}
	}
	return true;
}

static void clear_ephemerons(struct gc_heap *heap)
{
	for (size_t i = 0; i < heap->ephemerons.count; i++) {
		void **key = gc_weak_slot(heap->ephemerons.items[i]);

		if (!*key)
			continue;
		__atomic_store_n(&key[0], NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&key[1], NULL, __ATOMIC_RELAXED);
		gc_stat_add(&heap->stats.weak_cleared, 1);
	}
	heap->ephemerons.count = 0;
}

/* Clear dead references of all that were found; false: the deadline passed. */
static bool weak_settle(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	if (!ephemerons_settle(heap, ops))
		return false;
	clear_dead(heap, ops->alive);
	clear_ephemerons(heap);
	return true;
}

int gc_weak_note(struct gc_heap *heap, void *obj)
{
	if (gc_info(heap, gc_word(obj))->weak == GC_WEAK)
		return gc_vector_push(&heap->weaks, obj);
	return GC_NEEDED(9) ? gc_vector_push(&heap->ephemerons, obj) : -ENOMEM;
}

/*
 * Sort the entry of a live object to be finalized, whose index is @kept or above: the first
 * finalizable_old are of objects that a minor collection neither moves nor frees.
 */
static void finalizable_keep(struct gc_heap *heap, size_t kept, void *obj)
{
	void **items = heap->finalizable.items;

	items[kept] = obj;
	if (!gc_in_pages(heap, (uintptr_t)obj))
		return;
	items[kept] = items[heap->finalizable_old];
	items[heap->finalizable_old++] = obj;
}

/* Keep objects that are due for finalization; true: there are any. */
static bool finalizables_keep(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	struct gc_vector *f = &heap->finalizable;
	bool minor = heap->cycle.kind == GC_KIND_MINOR;
	size_t kept, due = 0, held = 0;

	pthread_mutex_lock(&heap->table_lock);
	/* Drop fetched entries, so that the queue does not grow without bound. */
	if (heap->finalized_next) {
		heap->finalized.count -= heap->finalized_next;
		memmove(heap->finalized.items, heap->finalized.items + heap->finalized_next,
			heap->finalized.count * sizeof(void *));
		heap->finalized_next = 0;
	}
	if (!minor)
		heap->finalizable_old = 0;
	kept = heap->finalizable_old;
	for (size_t i = kept; i < f->count; i++) {
		void *obj = f->items[i];

		if (!ops->alive(heap, &obj)) {
			if (!gc_vector_push(&heap->finalized, obj)) {
				due++;
				continue;
			}
			/* No memory for the queue: the object stays registered and alive. */
			ops->keep(&obj, ops->arg);
			held++;
		}
		finalizable_keep(heap, kept++, obj);
	}
	f->count = kept;
	for (size_t i = heap->finalized.count - due; i < heap->finalized.count; i++)
		ops->keep(&heap->finalized.items[i], ops->arg);
	pthread_mutex_unlock(&heap->table_lock);
	gc_stat_add(&heap->stats.finalized, due);
	return due || held;
}

bool gc_weak_process(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	if (!weak_settle(heap, ops))
		return false;
	/*
	 * Objects that finalizable ones reach are alive again, and weak objects among them are noted
	 * as they are traced. References that were cleared stay cleared.
	 */
	if (finalizables_keep(heap, ops) &&
	    (!ops->drain(heap, ops->drain_arg) || !weak_settle(heap, ops)))
		return false;
	heap->weaks.count = heap->ephemerons.count = 0;
	gc_hash_update(heap, ops->alive);
	return true;
}
