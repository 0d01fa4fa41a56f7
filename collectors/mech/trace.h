/* SPDX-License-Identifier: MIT */
/*
 * Visiting references: of an object, of the roots, of the objects on cards. The
 * functions are forced inline so that each plan gets its own loop with its own visit
 * folded in.
 */
#ifndef GC_TRACE_H
#define GC_TRACE_H

#include "heap.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GC_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GC_TSAN 1
#endif

/*
 * A marker beside mutators reads a slot, then the object behind it. The second read's
 * address depends on the first, which orders them on every CPU that Linux supports;
 * the thread sanitizer does not know of dependencies, so there it is an acquire.
 */
gc_inline void *gc_slot_load(void **slot)
{
#ifdef GC_TSAN
	return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
#else
	return __atomic_load_n(slot, __ATOMIC_RELAXED);
#endif
}

typedef void (*gc_slot_fn)(struct gc_heap *heap, void **slot);

void gc_trace_callback(struct gc_heap *heap, const struct gc_info *info, void *obj,
		       gc_slot_fn visit);

/* The first word after the header: the referent of a weak object */
gc_inline void **gc_weak_slot(void *obj)
{
	return (void **)((char *)obj + sizeof(struct gc_header));
}

/* Visit the references of @obj; weak objects are noted, not followed. */
gc_inline void gc_scan(struct gc_heap *heap, void *obj, const struct gc_info *info, uint64_t word,
		       gc_slot_fn visit)
{
	void **fields = obj;

	for (uint64_t refs = info->refs; refs; refs &= refs - 1)
		visit(heap, &fields[__builtin_ctzll(refs)]);
	if (likely(info->tail != GC_TAIL_REFS && !info->trace && !info->weak))
		return;
	if (info->tail == GC_TAIL_REFS) {
		void **slot = (void **)((char *)obj + gc_align(info->pub.size, sizeof(void *)));
		void **end = slot + (word >> 32);

		for (; slot < end; slot++)
			visit(heap, slot);
	}
	if (info->trace)
		gc_trace_callback(heap, info, obj, visit);
	/* No memory to note it: it holds its referent for this cycle. */
	if (info->weak && gc_vector_push(&heap->weaks, obj))
		visit(heap, gc_weak_slot(obj));
}

/* Roots of one thread: frames and callback. */
void gc_thread_roots(struct gc_heap *heap, struct gc_thread *t, gc_slot_fn visit);
/* Roots of the program: arrays, callback, finalized objects that wait to be fetched. */
void gc_global_roots(struct gc_heap *heap, gc_slot_fn visit);
/* All roots; the world is stopped. */
void gc_all_roots(struct gc_heap *heap, gc_slot_fn visit);

/* Next dirty card at or after @card and below @end, or @end; eight cards a look. */
gc_inline uint8_t *gc_card_next(uint8_t *card, uint8_t *end)
{
	while (card < end && ((uintptr_t)card & 7)) {
		if (__atomic_load_n(card, __ATOMIC_RELAXED))
			return card;
		card++;
	}
	while (card + 8 <= end) {
		if (__atomic_load_n((uint64_t *)card, __ATOMIC_RELAXED))
			break;
		card += 8;
	}
	while (card < end && !__atomic_load_n(card, __ATOMIC_RELAXED))
		card++;
	return card;
}

gc_inline uintptr_t gc_card_address(const struct gc_heap *heap, const uint8_t *card)
{
	return (uintptr_t)(card - heap->cards) << GC_CARD_SHIFT;
}

#endif
