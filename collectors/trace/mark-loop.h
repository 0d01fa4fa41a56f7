/* SPDX-License-Identifier: MIT */
/*
 * Marking in place: one loop for a single thread and for several in a stop. Forced inline with
 * constant arguments: the variant for a single thread has no atomic operation, and plans without
 * lines mark none.
 *
 * Invariants: an object is grey from the moment its mark bit is set until it was scanned. A grey
 * object is on the stack, in its queue, in a part of an array, or on a dirty card; or in none of
 * them, and the stack that dropped it says so. A scan marks and pushes unmarked referents.
 */
#ifndef GC_MARK_LOOP_H
#define GC_MARK_LOOP_H

#include "../space/held.h"
#include "../space/large.h"
#include "../space/lines.h"
#include "trace.h"
#include "weak.h"

/* The mark bits of the card at @at, the lowest address first */
gc_inline uint64_t gc_card_marks(const struct gc_heap *heap, uintptr_t at)
{
	uint64_t word = __atomic_load_n(&heap->mark[at >> GC_WORD_SHIFT], __ATOMIC_RELAXED);

	return word >> (at >> 3 & 63) & ((1ULL << GC_CARD / 8) - 1);
}

/* The large object around the card at @at, if it is marked, or NULL */
gc_inline void *gc_card_array(struct gc_heap *heap, uintptr_t at)
{
	uintptr_t array = gc_large_around(heap, at);

	return array && gc_card_marks(heap, array) & 1 ? (void *)array : NULL;
}

gc_inline bool gc_marker_take(uint64_t *mark, const void *ref, const bool shared)
{
	return shared ? gc_bit_take_shared(mark, (uintptr_t)ref) :
			gc_bit_take(mark, (uintptr_t)ref);
}

gc_inline void gc_marker_push(struct gc_marker *k, void *obj)
{
	struct gc_mark_stack *s = k->stack;

	if (likely(s->top < s->limit))
		*s->top++ = obj;
	else
		gc_mark_stack_full(k->heap, s, obj);
}

/* Visitors; their argument is the marker. */
gc_inline void gc_marker_visit(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (ref && gc_marker_take(k->heap->mark, ref, false))
		gc_marker_push(k, ref);
}

gc_inline void gc_marker_visit_shared(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (ref && gc_marker_take(k->heap->mark, ref, true))
		gc_marker_push(k, ref);
}

/*
 * Scan an @obj of any type, whose header is @word; @count: it is scanned for the first time. True:
 * the caller has to call gc_weak_note().
 *
 * A mutator may have published an object whose header this CPU does not see yet only where
 * stores are weakly ordered and the slot was written without gc_write(). Type 0 is never
 * registered: such an object waits for the remark pause on a dirty card.
 */
gc_inline bool gc_marker_scan(struct gc_marker *k, void *obj, uint64_t word, gc_visit_fn visit,
			      const bool count, const bool shared)
{
	struct gc_heap *heap = k->heap;
	const struct gc_info *info = gc_info(heap, word);
	size_t size = gc_size(info, word);

	if (unlikely(!word)) {
		gc_card_dirty(heap, (uintptr_t)obj);
		return false;
	}
	if (unlikely(word & GC_AWAITED))
		word = gc_weak_reach(heap, obj, word, shared);
	if (count) {
		k->bytes += gc_held_size(heap, size);
		k->objects++;
	}
	if (heap->lines && shared)
		gc_lines_mark_shared(heap, (uintptr_t)obj, size);
	else if (heap->lines)
		gc_lines_mark(heap, (uintptr_t)obj, size);
	if (unlikely(gc_splits(heap, info, word)) &&
	    gc_mark_put_off(k->stack, obj, (uint32_t)(word >> 32)))
		return false;
	return gc_scan(obj, info, word, visit, k);
}

/* Visit the next references of the array that was put off last; false: there is none. */
gc_inline bool gc_marker_part(struct gc_marker *k, gc_visit_fn visit)
{
	struct gc_mark_part step;
	void **slot;

	if (!gc_mark_next_part(k->stack, (uint64_t)k->heap->opt.split, &step))
		return false;
	slot = gc_array_slots(k->heap, step.array);
	for (; step.next < step.end; step.next++)
		visit(&slot[step.next], k);
	return true;
}

/*
 * Scan up to @most objects from the stack (at least 1); returns how many of @most were left when it
 * was empty. Objects with a shape are scanned here, without a look-up of their type and with the
 * stack in registers, all others by @other.
 */
gc_inline unsigned int gc_marker_loop(struct gc_marker *k, unsigned int most, const bool shared,
				      const bool lines,
				      void (*other)(struct gc_marker *k, void *obj, uint64_t word))
{
	struct gc_mark_stack *s = k->stack;
	void **top = s->top, **base = s->base, **limit = s->limit, **full = gc_mark_full(s);
	uint8_t *line = lines ? k->heap->lines->marks : NULL;
	uint64_t *mark = k->heap->mark, granules = 0, word;
	size_t at = s->at, left = most, others = 0;

	for (;;) {
		void *obj, *next, **slot, **end;
		size_t refs;

		if (likely(top > full)) {
			/* Through the ring, which hides the latency of its header */
			next = *--top;
			__builtin_prefetch(next);
			slot = gc_mark_oldest(s, &at);
			obj = *slot;
			*slot = next;
		} else if (top == base + 1 && !s->queued) {
			/* A list: no other object is grey. */
			obj = *--top;
		} else {
			s->top = top;
			s->at = at;
			obj = gc_mark_pop(s);
			top = s->top;
			at = s->at;
			if (!obj)
				break;
			full = gc_mark_full(s);
		}
		word = gc_word(obj);
		refs = gc_shape_refs(word);
		if (unlikely(!refs)) {
			others++;
			s->top = top;
			s->at = at;
			other(k, obj, word);
			top = s->top;
			base = s->base;
			limit = s->limit;
			full = gc_mark_full(s);
			goto scanned;
		}
		granules += gc_shape_granules(word);
		if (lines) {
			uintptr_t first = (uintptr_t)obj >> GC_LINE_SHIFT;
			uintptr_t stop =
				(uintptr_t)obj + (gc_shape_granules(word) << GC_GRANULE_SHIFT);
			uintptr_t last = (stop - 1) >> GC_LINE_SHIFT;

			if (!shared) {
				line[first] = line[last] = 1;
			} else {
				if (!__atomic_load_n(&line[first], __ATOMIC_RELAXED))
					__atomic_store_n(&line[first], 1, __ATOMIC_RELAXED);
				if (!__atomic_load_n(&line[last], __ATOMIC_RELAXED))
					__atomic_store_n(&line[last], 1, __ATOMIC_RELAXED);
			}
		}
		slot = (void **)((char *)obj + sizeof(struct gc_header));
		end = (void **)((char *)obj + refs);
		for (; slot < end; slot++) {
			void *ref = gc_slot_load(slot);

			if (!ref || !gc_marker_take(mark, ref, shared))
				continue;
			if (likely(top < limit)) {
				*top++ = ref;
				continue;
			}
			s->top = top;
			gc_mark_stack_full(k->heap, s, ref);
			top = s->top;
			base = s->base;
			limit = s->limit;
			full = gc_mark_full(s);
		}
scanned:
		if (!--left)
			break;
	}
	s->top = top;
	s->at = at;
	k->objects += most - left - others;
	k->bytes += granules << GC_GRANULE_SHIFT;
	return (unsigned int)left;
}

#endif
