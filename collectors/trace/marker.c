// SPDX-License-Identifier: MIT
#include "marker.h"

#include "../heap/forward.h"
#include "../space/held.h"
#include "../space/lines.h"
#include "../thread/help.h"
#include "weak.h"

gc_inline bool mark_take(uint64_t *mark, const void *ref, const bool shared)
{
	return shared ? gc_bit_take_shared(mark, (uintptr_t)ref) :
			gc_bit_take(mark, (uintptr_t)ref);
}

gc_inline void object_push(struct gc_marker *k, void *obj)
{
	struct gc_mark_stack *s = k->stack;

	if (likely(s->top < s->limit))
		*s->top++ = obj;
	else
		gc_mark_stack_full(k->heap, s, obj);
}

gc_inline void visit_alone(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (ref && mark_take(k->heap->mark, ref, false))
		object_push(k, ref);
}

gc_inline void visit_mixed(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (gc_is_ref(k->heap, ref) && mark_take(k->heap->mark, ref, false))
		object_push(k, ref);
}

/* In the other modes it takes a look, which is little there. */
gc_inline bool word_is_ref(const struct gc_marker *k, const void *word)
{
	return k->heap->roots.mixed ? gc_is_ref(k->heap, word) : word != NULL;
}

gc_inline void visit_shared(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (word_is_ref(k, ref) && mark_take(k->heap->mark, ref, true))
		object_push(k, ref);
}

/* card+filter: objects on a dirty card are scanned when the card is cleaned, so do not push. */
static void object_push_filtered(struct gc_marker *k, void *obj)
{
	struct gc_mark_stack *s = k->stack;

	if (s->filter && __atomic_load_n(gc_card(k->heap, (uintptr_t)obj), __ATOMIC_RELAXED))
		s->lossy = s->filtered = true;
	else
		object_push(k, obj);
}

/*
 * With a finger, as in Dalvik's root marking and walk, objects ahead of it are not pushed: the walk
 * will scan them.
 */
static void visit_filter(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	void *ref = gc_slot_load(slot);

	if (word_is_ref(k, ref) && mark_take(k->heap->mark, ref, false) &&
	    (uintptr_t)ref < k->heap->finger)
		object_push_filtered(k, ref);
}

/* The collection defragments: the world is stopped, and the slot may be updated. */
static void visit_move(void **slot, void *marker)
{
	struct gc_marker *k = marker;
	struct gc_heap *heap = k->heap;
	void *ref = *slot, *to = NULL;
	uint64_t word;

	if (!word_is_ref(k, ref) || gc_bit_test(heap->mark, (uintptr_t)ref))
		return;
	if (gc_lines_leaves(heap, (uintptr_t)ref)) {
		word = gc_word(ref);
		if (word & GC_FORWARDED) {
			*slot = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
			return;
		}
		if (unlikely(word & GC_AWAITED))
			word = gc_weak_reach(heap, ref, word, false);
		to = gc_defrag_move(heap, ref, word);
	}
	if (to)
		*slot = ref = to;
	gc_bit_set(heap->mark, (uintptr_t)ref);
	object_push_filtered(k, ref);
}

static const gc_visit_fn visitors[] = {
	[GC_MARK_ALONE] = visit_alone,	 [GC_MARK_MIXED] = visit_mixed,
	[GC_MARK_SHARED] = visit_shared, [GC_MARK_FILTER] = visit_filter,
	[GC_MARK_MOVE] = visit_move,
};

void gc_marker_visit(void **slot, void *marker)
{
	visitors[((const struct gc_marker *)marker)->mode](slot, marker);
}

void gc_marker_hold(struct gc_marker *k, void *obj)
{
	if (k->mode != GC_MARK_MOVE)
		gc_marker_visit(&obj, k);
	else if (gc_bit_take(k->heap->mark, (uintptr_t)obj))
		object_push_filtered(k, obj);
}

void gc_marker_set_mode(struct gc_marker *k)
{
	const struct gc_heap *heap = k->heap;

	if (gc_lines_move(heap))
		k->mode = GC_MARK_MOVE;
	else if (heap->finger != UINTPTR_MAX || k->stack->filter)
		k->mode = GC_MARK_FILTER;
	else
		k->mode = heap->roots.mixed ? GC_MARK_MIXED : GC_MARK_ALONE;
}

static __attribute__((noinline)) void weak_note(struct gc_marker *k, void *obj)
{
	struct gc_heap *heap = k->heap;
	int ret;

	if (k->mode == GC_MARK_SHARED)
		gc_help_lock(heap);
	ret = gc_weak_note(heap, obj);
	if (k->mode == GC_MARK_SHARED)
		gc_help_unlock(heap);
	if (ret)
		gc_weak_hold(gc_info(heap, gc_word(obj)), obj, gc_marker_visit, k);
}

/* Scan an object of any type, in a loop for one @mode or with the mode of the marker. */
gc_inline void object_scan(struct gc_marker *k, void *obj, uint64_t word, const bool first,
			   const enum gc_marker_mode mode)
{
	struct gc_heap *heap = k->heap;
	const struct gc_info *info = gc_info(heap, word);
	size_t size = gc_size(info, word);

	/*
	 * A mutator may have published an object whose header this CPU does not see yet only where
	 * stores are weakly ordered and the slot was written without gc_write(). Type 0 is never
	 * registered: such an object waits for the remark pause on a dirty card.
	 */
	if (unlikely(!word)) {
		gc_card_dirty(heap, (uintptr_t)obj);
		return;
	}
	if (unlikely(word & GC_AWAITED))
		gc_weak_reach(heap, obj, word, mode == GC_MARK_SHARED);
	if (first) {
		k->bytes += gc_held_size(heap, size);
		k->objects++;
	}
	if (heap->lines && mode == GC_MARK_SHARED)
		gc_lines_mark_shared(heap, (uintptr_t)obj, size);
	else if (heap->lines)
		gc_lines_mark(heap, (uintptr_t)obj, size);
	if (unlikely(gc_splits(heap, info, word)) &&
	    gc_mark_put_off(k->stack, obj, (uint32_t)(word >> 32)))
		return;
	if (unlikely(gc_object_visit(obj, info, word, visitors[mode], k)))
		weak_note(k, obj);
}

/* Not inlined: the loop, which calls it for objects without a shape, has more registers. */
static __attribute__((noinline)) void scan_alone(struct gc_marker *k, void *obj, uint64_t word)
{
	object_scan(k, obj, word, true, GC_MARK_ALONE);
}

static __attribute__((noinline)) void scan_mixed(struct gc_marker *k, void *obj, uint64_t word)
{
	object_scan(k, obj, word, true, GC_MARK_MIXED);
}

__attribute__((noinline)) void gc_marker_scan(struct gc_marker *k, void *obj, uint64_t word,
					      bool first)
{
	object_scan(k, obj, word, first, k->mode);
}

static void slots_scan(struct gc_marker *k, void **slot, void **end)
{
	gc_visit_fn visit = visitors[k->mode];

	for (; slot < end; slot++)
		visit(slot, k);
}

bool gc_marker_scan_part(struct gc_marker *k)
{
	struct gc_mark_part step;
	void **slots;

	if (!gc_mark_next_part(k->stack, (uint64_t)k->heap->opt.split, &step))
		return false;
	slots = gc_array_slots(k->heap, step.array);
	slots_scan(k, slots + step.next, slots + step.end);
	return true;
}

void gc_marker_scan_card(struct gc_marker *k, uintptr_t at, bool element)
{
	uint64_t marks = gc_card_marks(k->heap, at), word;
	void *array = !marks && element ? gc_card_array(k->heap, at) : NULL;

	if (array) {
		word = gc_word(array);
		k->rescanned++;
		if (gc_carded(gc_info(k->heap, word), word)) {
			void **slot, **end = gc_card_slots(k->heap, array, at, &slot);

			slots_scan(k, slot, end);
		} else {
			gc_marker_scan(k, array, word, false);
		}
	}
	k->cards += marks || array;
	for (; marks; marks &= marks - 1) {
		void *obj = (void *)(at + 8 * (uintptr_t)__builtin_ctzll(marks));

		k->rescanned++;
		gc_marker_scan(k, obj, gc_word(obj), false);
	}
}

/*
 * gc_marker_drain(), with constants: alone there is no atomic operation, plans without lines mark
 * none, and only where words are mixed it looks which are references. Objects with a shape are scanned here, without a look-up of their type and with the
 * stack in registers.
 */
gc_inline unsigned int stack_drain(struct gc_marker *k, unsigned int most, const bool shared,
				   const bool lines, const bool mixed)
{
	struct gc_mark_stack *s = k->stack;
	void **top = s->top, **base = s->base, **limit = s->limit, **full = gc_mark_full(s);
	uint8_t *line = lines ? k->heap->lines->marks : NULL;
	const struct gc_heap *heap = k->heap;
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
			if (shared)
				gc_marker_scan(k, obj, word, true);
			else if (mixed)
				scan_mixed(k, obj, word);
			else
				scan_alone(k, obj, word);
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

			if ((mixed ? !gc_is_ref(heap, ref) : !ref) || !mark_take(mark, ref, shared))
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

/* Not inlined, so that each loop has all registers to itself */
static __attribute__((noinline)) unsigned int drain_alone(struct gc_marker *k, unsigned int most)
{
	return stack_drain(k, most, false, false, false);
}

static __attribute__((noinline)) unsigned int drain_lines(struct gc_marker *k, unsigned int most)
{
	return stack_drain(k, most, false, true, false);
}

static __attribute__((noinline)) unsigned int drain_mixed(struct gc_marker *k, unsigned int most)
{
	return k->heap->lines ? stack_drain(k, most, false, true, true) :
				stack_drain(k, most, false, false, true);
}

static __attribute__((noinline)) unsigned int drain_shared(struct gc_marker *k, unsigned int most)
{
	if (k->heap->roots.mixed)
		return k->heap->lines ? stack_drain(k, most, true, true, true) :
					stack_drain(k, most, true, false, true);
	return k->heap->lines ? stack_drain(k, most, true, true, false) :
				stack_drain(k, most, true, false, false);
}

void gc_marker_merge(struct gc_marker *k)
{
	struct gc_heap *heap = k->heap;

	heap->cycle.marked_objects += k->objects;
	heap->cycle.marked_bytes += k->bytes;
	gc_stat_add(&heap->stats.cards_dirty, k->dirty);
	gc_stat_add(&heap->stats.cards_scanned, k->cards);
	gc_stat_add(&heap->stats.rescanned_objects, k->rescanned);
}

unsigned int gc_marker_drain(struct gc_marker *k, unsigned int most)
{
	void *obj;

	switch (k->mode) {
	case GC_MARK_SHARED:
		return drain_shared(k, most);
	case GC_MARK_ALONE:
		most = k->heap->lines ? drain_lines(k, most) : drain_alone(k, most);
		break;
	case GC_MARK_MIXED:
		most = drain_mixed(k, most);
		break;
	default:
		for (; most && (obj = gc_mark_pop(k->stack)); most--)
			gc_marker_scan(k, obj, gc_word(obj), true);
		break;
	}
	gc_marker_merge(k);
	gc_marker_reset(k);
	return most;
}
