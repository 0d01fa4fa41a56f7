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
#include <stdlib.h>

#include "../heap/forward.h"
#include "../heap/plan.h"
#include "../space/pages.h"
#include "../thread/help.h"
#include "hash.h"
#include "trace.h"
#include "weak.h"

static bool ref_is_young(const struct gc_heap *heap, const void *ref)
{
	return gc_is_ref(heap, ref) && !gc_in_pages(heap, (uintptr_t)ref);
}

/* What is no object of the heap does not die. */
static bool word_is_alive(struct gc_heap *heap, gc_alive_fn alive, void **slot)
{
	return !gc_is_ref(heap, *slot) || alive(heap, slot);
}

static void clear_dead(struct gc_heap *heap, gc_alive_fn alive)
{
	for (size_t i = 0; i < heap->weak.weaks.count; i++) {
		void **slot = gc_weak_slot(heap->weak.weaks.items[i]);

		if (!word_is_alive(heap, alive, slot)) {
			__atomic_store_n(slot, NULL, __ATOMIC_RELAXED);
			gc_stat_add(&heap->stats.weak_cleared, 1);
		} else if (GC_NEEDED(3) && heap->plan->generational && ref_is_young(heap, *slot)) {
			/* An old weak object must be found again while its referent may move. */
			gc_card_dirty(heap, (uintptr_t)slot - sizeof(struct gc_header));
		}
	}
}

/*
 * Ephemerons whose keys were not reached yet, by the key: heads and links of chains, indices + 1 of
 * heap->weak.ephemerons. The header of such a key has GC_AWAITED and no shape, so that the loops of
 * all tracers leave it to their paths for other objects, which call gc_weak_reach(): the time is
 * that of what is traced, in whatever order keys are reached.
 */
struct key_index {
	uint32_t *head, *link;
	size_t room;
};

static uint32_t *index_head(const struct key_index *x, const void *key)
{
	uint64_t mixed = ((uintptr_t)key >> GC_GRANULE_SHIFT) * 0x9e3779b97f4a7c15u;

	return &x->head[mixed >> 32 & (x->room - 1)];
}

static void index_link(struct key_index *x, size_t at, void *ephemeron)
{
	uint32_t *head = index_head(x, *gc_weak_slot(ephemeron));

	x->link[at] = *head;
	*head = (uint32_t)at + 1;
}

static void index_add(struct key_index *x, size_t at, void *ephemeron)
{
	struct gc_header *key = *gc_weak_slot(ephemeron);

	index_link(x, at, ephemeron);
	key->word = (key->word & ~(uint64_t)GC_SHAPE_MASK) | GC_AWAITED;
}

/* Make room for @count ephemerons, of which @seen were added before; false: no memory. */
static bool index_reserve(struct gc_heap *heap, struct key_index *x, size_t count, size_t seen)
{
	size_t room = x->room ? x->room : 256;
	uint32_t *more;

	while (room < count)
		room *= 2;
	if (room == x->room)
		return true;
	more = room < UINT32_MAX / 2 ? malloc(2 * room * sizeof(*more)) : NULL;
	if (!more)
		return false;
	free(x->head);
	*x = (struct key_index){ more, more + room, room };
	memset(x->head, 0, room * sizeof(*x->head));
	/* Their keys may have been reached since, and moved: the headers are left as they are. */
	for (size_t i = 0; i < seen; i++)
		if (heap->weak.ephemerons.items[i])
			index_link(x, i, heap->weak.ephemerons.items[i]);
	return true;
}

static uint64_t header_restore(const struct gc_heap *heap, void *obj, uint64_t word)
{
	word &= ~(uint64_t)GC_AWAITED;
	word |= gc_info(heap, word)->pub.word & GC_SHAPE_MASK;
	__atomic_store_n(&((struct gc_header *)obj)->word, word, __ATOMIC_RELAXED);
	return word;
}

uint64_t gc_weak_reach(struct gc_heap *heap, void *obj, uint64_t word, bool shared)
{
	if (shared)
		gc_help_lock(heap);
	if (GC_NEEDED(13) && gc_vector_push(&heap->weak.keys, obj))
		heap->weak.keys_lost = true;
	if (shared)
		gc_help_unlock(heap);
	return header_restore(heap, obj, word);
}

/*
 * If the key of @obj is alive, or it has none: keep its value, and set *@more if that was not alive
 * before. False: its key was not reached yet.
 */
static bool ephemeron_settle(struct gc_heap *heap, void *obj, const struct gc_weak_ops *ops,
			     bool *more)
{
	void **key = gc_weak_slot(obj), **value = key + 1;

	if (!*key) {
		__atomic_store_n(value, NULL, __ATOMIC_RELAXED);
		return true;
	}
	if (!word_is_alive(heap, ops->alive, key))
		return false;
	if (GC_NEEDED(10) && !word_is_alive(heap, ops->alive, value)) {
		ops->keep(value, ops->arg);
		*more = true;
	}
	/* An old ephemeron must be found again while its referents may move. */
	if (GC_NEEDED(11) && heap->plan->generational &&
	    (ref_is_young(heap, *key) || ref_is_young(heap, *value)))
		gc_card_dirty(heap, (uintptr_t)obj);
	return true;
}

/* Settle the ephemerons [@from, @to), as far as their keys are alive; the others wait for them. */
static bool range_settle(struct gc_heap *heap, const struct gc_weak_ops *ops, struct key_index *x,
			 size_t from, size_t to)
{
	void **items = heap->weak.ephemerons.items;
	bool more = false;

	for (size_t i = from; i < to; i++) {
		if (!items[i])
			continue;
		if (ephemeron_settle(heap, items[i], ops, &more))
			items[i] = NULL;
		else if (x)
			index_add(x, i, items[i]);
	}
	return more;
}

/* Settle those that waited for keys which were reached. */
static bool keys_settle(struct gc_heap *heap, const struct gc_weak_ops *ops,
			const struct key_index *x, size_t seen)
{
	void **items = heap->weak.ephemerons.items;
	bool more = false;

	while (heap->weak.keys.count) {
		void *key = heap->weak.keys.items[--heap->weak.keys.count];

		for (uint32_t i = *index_head(x, key); i; i = x->link[i - 1])
			if (items[i - 1] && *gc_weak_slot(items[i - 1]) == key &&
			    ephemeron_settle(heap, items[i - 1], ops, &more))
				items[i - 1] = NULL;
	}
	if (heap->weak.keys_lost) {
		heap->weak.keys_lost = false;
		more |= range_settle(heap, ops, NULL, 0, seen);
	}
	return more;
}

/* There is no memory to wait for the keys of the ephemerons from @from on: keep them in this cycle. */
static bool range_hold(struct gc_heap *heap, const struct gc_weak_ops *ops, size_t from)
{
	struct gc_vector *v = &heap->weak.ephemerons;
	bool more = from < v->count;

	for (size_t i = from; i < v->count; i++)
		gc_weak_hold(gc_info(heap, gc_word(v->items[i])), v->items[i], ops->keep, ops->arg);
	v->count = from;
	return more;
}

/*
 * Leave the ephemerons whose keys are dead, or were not reached when the deadline passed. One that
 * was noted twice, since it was scanned twice, may have settled by its other entry, which no longer
 * has the key at the address that was reached.
 */
static void ephemerons_leave(struct gc_heap *heap, const struct gc_weak_ops *ops, size_t seen,
			     bool done)
{
	struct gc_vector *v = &heap->weak.ephemerons;
	size_t left = 0;

	for (size_t i = 0; i < v->count; i++) {
		void *obj = v->items[i], *key = obj ? *gc_weak_slot(obj) : NULL;

		if (!obj || (done && word_is_alive(heap, ops->alive, gc_weak_slot(obj))))
			continue;
		if (i < seen && gc_is_ref(heap, key) && gc_word(key) & GC_AWAITED &&
		    !(gc_word(key) & GC_FORWARDED))
			header_restore(heap, key, gc_word(key));
		v->items[left++] = obj;
	}
	v->count = left;
	heap->weak.keys.count = 0;
	heap->weak.keys_lost = false;
}

/*
 * Trace until only ephemerons with dead keys are left; newly found ones are appended. False: the
 * deadline passed.
 */
static bool ephemerons_settle(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	struct gc_vector *v = &heap->weak.ephemerons;
	struct key_index index = { 0 };
	bool more = true, done = true;
	size_t seen = 0;

	while (more && done && v->count) {
		if (index_reserve(heap, &index, v->count, seen)) {
			more = range_settle(heap, ops, &index, seen, v->count);
			seen = v->count;
		} else {
			more = range_hold(heap, ops, seen);
		}
		if (index.room)
			more |= keys_settle(heap, ops, &index, seen);
		if (more)
			done = ops->drain(heap, ops->drain_arg);
	}
	ephemerons_leave(heap, ops, seen, done);
	free(index.head);
	return done;
}

/* Clear those that are left; with @last also those that were waiting for finalizers. */
static void clear_ephemerons(struct gc_heap *heap, bool last)
{
	struct gc_vector *v = &heap->weak.ephemerons;
	size_t left = 0;

	for (size_t i = 0; i < v->count; i++) {
		void **key = gc_weak_slot(v->items[i]);

		if (!*key)
			continue;
		if (!last && gc_info(heap, gc_word(v->items[i]))->lasting) {
			v->items[left++] = v->items[i];
			continue;
		}
		__atomic_store_n(&key[0], NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&key[1], NULL, __ATOMIC_RELAXED);
		gc_stat_add(&heap->stats.weak_cleared, 1);
	}
	v->count = left;
}

/* Clear dead references of all that were found; false: the deadline passed. */
static bool weak_settle(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	if (!ephemerons_settle(heap, ops))
		return false;
	clear_dead(heap, ops->alive);
	clear_ephemerons(heap, false);
	return true;
}

int gc_weak_note(struct gc_heap *heap, void *obj)
{
	if (gc_info(heap, gc_word(obj))->weak == GC_WEAK)
		return gc_vector_push(&heap->weak.weaks, obj);
	return GC_NEEDED(9) ? gc_vector_push(&heap->weak.ephemerons, obj) : -ENOMEM;
}

/*
 * Sort the entry of a live object to be finalized, whose index is @kept or above: the first ones
 * are of objects that a minor collection neither moves nor frees.
 */
static void finalizable_keep(struct gc_heap *heap, struct gc_finalizable *f, size_t kept, void *obj)
{
	void **items = f->objects.items;

	items[kept] = obj;
	if (!gc_in_pages(heap, (uintptr_t)obj))
		return;
	items[kept] = items[f->old];
	items[f->old++] = obj;
}

/* Drop fetched entries, so that the queue does not grow without bound. */
static void finalized_trim(struct gc_weak_state *w)
{
	if (!w->finalized_next)
		return;
	w->finalized.count -= w->finalized_next;
	memmove(w->finalized.items, w->finalized.items + w->finalized_next,
		w->finalized.count * sizeof(void *));
	w->finalized_next = 0;
}

/* Keep objects of one order that are due for finalization; true: there are any. */
static bool finalizables_keep(struct gc_heap *heap, const struct gc_weak_ops *ops,
			      struct gc_finalizable *f)
{
	bool minor = heap->cycle.kind == GC_KIND_MINOR;
	size_t kept, due = 0, held = 0;

	pthread_mutex_lock(&heap->roots.lock);
	finalized_trim(&heap->weak);
	if (!minor)
		f->old = 0;
	kept = f->old;
	for (size_t i = kept; i < f->objects.count; i++) {
		void *obj = f->objects.items[i];

		if (!ops->alive(heap, &obj)) {
			if (!gc_vector_push(&heap->weak.finalized, obj)) {
				due++;
				continue;
			}
			/* No memory for the queue: the object stays registered and alive. */
			ops->keep(&obj, ops->arg);
			held++;
		}
		finalizable_keep(heap, f, kept++, obj);
	}
	f->objects.count = kept;
	for (size_t i = heap->weak.finalized.count - due; i < heap->weak.finalized.count; i++)
		ops->keep(&heap->weak.finalized.items[i], ops->arg);
	heap->weak.finalized_more |= due != 0;
	pthread_mutex_unlock(&heap->roots.lock);
	gc_stat_add(&heap->stats.finalized, due);
	return due || held;
}

bool gc_weak_process(struct gc_heap *heap, const struct gc_weak_ops *ops)
{
	if (!weak_settle(heap, ops))
		return false;
	/*
	 * Objects that finalizable ones reach are alive again, among them those of later orders, and
	 * weak objects among them are noted as they are traced. References that were cleared stay
	 * cleared.
	 */
	for (int i = 0; i < GC_FINALIZER_ORDERS; i++)
		if (finalizables_keep(heap, ops, &heap->weak.finalizable[i]) &&
		    (!ops->drain(heap, ops->drain_arg) || !weak_settle(heap, ops)))
			return false;
	clear_ephemerons(heap, true);
	heap->weak.weaks.count = heap->weak.ephemerons.count = 0;
	gc_hash_update(heap, ops->alive);
	return true;
}
