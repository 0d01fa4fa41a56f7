/* SPDX-License-Identifier: MIT */
/*
 * Visiting references: of an object, of the roots, of the objects on cards. The
 * functions are forced inline so that each plan gets its own loop with its own visit
 * folded in.
 */
#ifndef GC_TRACE_H
#define GC_TRACE_H

#include "../heap/heap.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GC_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GC_TSAN 1
#endif

/*
 * A concurrent marker reads a slot, then the object behind it. The second read's address
 * depends on the first, which orders them on every CPU that Linux supports
 * (tests/litmus/publish.litmus). The thread sanitizer does not know address dependencies, so use
 * an acquire load for it.
 */
gc_inline void *gc_slot_load(void **slot)
{
#ifdef GC_TSAN
	return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
#else
	return __atomic_load_n(slot, __ATOMIC_RELAXED);
#endif
}

/* The first word after the header: a weak object's referent, or a key that its value follows */
gc_inline void **gc_weak_slot(void *obj)
{
	return (void **)((char *)obj + sizeof(struct gc_header));
}

/*
 * Visit the strong references of @obj, whose header is @word. True: it also has weak ones, so the
 * caller has to call gc_weak_note().
 */
gc_inline bool gc_object_visit(void *obj, const struct gc_info *info, uint64_t word,
			       gc_visit_fn visit, void *arg)
{
	void **fields = obj;

	for (uint64_t refs = info->refs; refs; refs &= refs - 1)
		visit(&fields[__builtin_ctzll(refs)], arg);
	if (likely(info->tail != GC_TAIL_REFS && !info->trace && !info->weak))
		return false;
	if (info->tail == GC_TAIL_REFS) {
		void **slot = (void **)((char *)obj + gc_align(info->pub.size, sizeof(void *)));
		void **end = slot + (word >> 32);

		for (; slot < end; slot++)
			visit(slot, arg);
	}
	if (info->trace)
		info->trace(obj, visit, arg);
	return info->weak;
}

/* There is no memory to note @obj: treat its weak references as strong ones in this cycle. */
gc_inline void gc_weak_hold(const struct gc_info *info, void *obj, gc_visit_fn visit, void *arg)
{
	void **slot = gc_weak_slot(obj);

	visit(&slot[0], arg);
	if (info->weak == GC_EPHEMERON)
		visit(&slot[1], arg);
}

/* The elements of an array of references */
gc_inline void **gc_array_slots(const struct gc_heap *heap, void *array)
{
	size_t header = gc_info(heap, gc_word(array))->pub.size;

	return (void **)((char *)array + gc_align(header, sizeof(void *)));
}

/* Are its elements its only references? */
gc_inline bool gc_only_elements(const struct gc_info *info)
{
	return info->tail == GC_TAIL_REFS && !info->refs && !info->trace && !info->weak;
}

/* Is it an array that is marked in parts? */
gc_inline bool gc_splits(const struct gc_heap *heap, const struct gc_info *info, uint64_t word)
{
	return gc_only_elements(info) && word >> 32 > (uint64_t)heap->opt.split && heap->opt.split;
}

/* Is it an array whose elements have cards of their own? Only in the pages: see gc_write(). */
gc_inline bool gc_carded(const struct gc_info *info, uint64_t word)
{
	return word >> 32 >= GC_CARDED_LENGTH && gc_only_elements(info);
}

/* The elements [*@slot, returned) of a gc_carded() @array that are on the card at @at */
gc_inline void **gc_card_slots(const struct gc_heap *heap, void *array, uintptr_t at, void ***slot)
{
	void **end;

	*slot = gc_array_slots(heap, array);
	end = *slot + (gc_word(array) >> 32);
	if ((uintptr_t)*slot < at)
		*slot = (void **)at;
	return (uintptr_t)end > at + GC_CARD ? (void **)(at + GC_CARD) : end;
}

/* Visit these elements. */
gc_inline void gc_card_elements(const struct gc_heap *heap, void *array, uintptr_t at,
				gc_visit_fn visit, void *arg)
{
	void **slot, **end = gc_card_slots(heap, array, at, &slot);

	for (; slot < end; slot++)
		visit(slot, arg);
}

/* A type, or NULL with the reason in @err */
const struct gc_type *gc_type_add(struct gc_heap *heap, const struct gc_type_desc *desc,
				  struct gc_error *err);
/* Roots of one thread: frames and callback. */
void gc_thread_roots(struct gc_thread *t, gc_visit_fn visit, void *arg);
/* Did the embedder register roots of the program? It may change them while mutators run. */
bool gc_roots_registered(struct gc_heap *heap);
/* Finalized objects that wait to be fetched; the one type of global roots while mutators run */
void gc_finalized_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg);
/* Roots of the program: arrays, callback, finalized objects that wait to be fetched. */
void gc_global_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg);
/* All roots; the world is stopped. */
void gc_all_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg);

#define GC_CARDS_STEP 64

/*
 * Is any of GC_CARDS_STEP cards dirty? A hint: what it finds is read again. So plain vector loads
 * will do, although mutators may store; compilers make no vectors of atomic loads.
 */
gc_inline bool gc_cards_dirty(const uint8_t *card)
{
#ifdef GC_TSAN
	const uint64_t *word = (const uint64_t *)card;
	uint64_t any = 0;

	for (unsigned int i = 0; i < GC_CARDS_STEP / 8; i++)
		any |= __atomic_load_n(&word[i], __ATOMIC_RELAXED);
	return any;
#else
	typedef uint64_t pair __attribute__((vector_size(16), may_alias));
	const pair *at = (const pair *)card;
	pair any = at[0] | at[1] | at[2] | at[3];

	return any[0] | any[1];
#endif
}

/* Next dirty card at or after @card and below @end, or @end; most cards are clean. */
gc_inline uint8_t *gc_card_next(uint8_t *card, uint8_t *end)
{
	for (; card < end && (uintptr_t)card % GC_CARDS_STEP; card++)
		if (__atomic_load_n(card, __ATOMIC_RELAXED))
			return card;
	while (card + GC_CARDS_STEP <= end && !gc_cards_dirty(card))
		card += GC_CARDS_STEP;
	while (card < end && !__atomic_load_n(card, __ATOMIC_RELAXED))
		card++;
	return card;
}

gc_inline uintptr_t gc_card_address(const struct gc_heap *heap, const uint8_t *card)
{
	return (uintptr_t)(card - heap->cards) << GC_CARD_SHIFT;
}

#endif
