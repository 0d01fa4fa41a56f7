// SPDX-License-Identifier: MIT
/*
 * Marking in place by the collecting thread and mutators that stopped (mech/help.h). The
 * world is stopped: nobody writes a reference. Mark bits are set by whoever comes first.
 */
#include "mark.h"

#include "../space/lines.h"
#include "help.h"

#define TELL 512 /* objects between words of progress */

gc_inline void push(struct gc_helper *k, void *obj)
{
	struct gc_mark_stack *s = k->stack;

	if (likely(s->top < s->limit))
		*s->top++ = obj;
	else
		gc_mark_stack_full(k->heap, s, obj);
}

gc_inline void visit(void **slot, void *arg)
{
	void *ref = gc_slot_load(slot);
	struct gc_helper *k = arg;

	if (ref && gc_bit_take_shared(k->heap->mark, (uintptr_t)ref))
		push(k, ref);
}

static __attribute__((noinline)) void note_weak(struct gc_helper *k, void *obj)
{
	int ret;

	gc_help_lock(k->heap);
	ret = gc_vector_push(&k->heap->weaks, obj);
	gc_help_unlock(k->heap);
	/* No memory to note it: it holds its referent for this cycle. */
	if (ret)
		visit(gc_weak_slot(obj), k);
}

gc_inline void scan(struct gc_helper *k, void *obj)
{
	struct gc_heap *heap = k->heap;
	uint64_t word = gc_word(obj);
	const struct gc_info *info = gc_info(heap, word);
	size_t size = gc_size(info, word);

	k->bytes += size <= GC_SMALL_MAX ? size : gc_held_size(heap, size);
	k->objects++;
	if (heap->lines)
		gc_lines_mark_shared(heap, (uintptr_t)obj, size);
	if (unlikely(gc_splits(heap, info, word)) &&
	    gc_mark_put_off(k->stack, obj, (uint32_t)(word >> 32)))
		return;
	if (gc_scan(obj, info, word, visit, k))
		note_weak(k, obj);
}

static bool next_part(struct gc_helper *k)
{
	struct gc_mark_part step;
	void **slot;

	if (!gc_mark_next_part(k->stack, (uint64_t)k->heap->opt.split, &step))
		return false;
	gc_help_give(k);
	slot = gc_array_slots(k->heap, step.array);
	for (; step.next < step.end; step.next++)
		visit(&slot[step.next], k);
	return true;
}

static void tell(struct gc_helper *k)
{
	struct gc_heap *heap = k->heap;

	if (k->first)
		gc_phase_work(heap, heap->cycle.marked_bytes + k->bytes + gc_help_told(heap));
	else
		__atomic_store_n(&k->told, k->bytes, __ATOMIC_RELAXED);
}

static void loop(struct gc_helper *k)
{
	unsigned int n = 0;
	void *obj;

	do {
		while ((obj = gc_mark_pop(k->stack))) {
			scan(k, obj);
			if (likely(++n % GC_HELP_GIVE))
				continue;
			gc_help_give(k);
			if (!(n % TELL))
				tell(k);
		}
	} while (next_part(k) || gc_help_more(k));
}

bool gc_mark_shares(const struct gc_heap *heap)
{
	return heap->help && heap->stopping && !(heap->lines && heap->lines->moving);
}

bool gc_mark_share(struct gc_heap *heap)
{
	struct gc_heap_stats *s = &heap->stats;

	if (!gc_help_share(heap, loop))
		return false;
	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		heap->cycle.marked_bytes += k->bytes;
		heap->cycle.marked_objects += k->objects;
		if (k->first)
			continue;
		s->helps++;
		s->helped_objects += k->objects;
		if (k->stack->lossy)
			heap->stack.overflowed = heap->stack.lossy = true;
		k->stack->overflowed = k->stack->lossy = false;
		if (gc_mark_stack_peak(k->stack) > s->mark_stack_peak)
			s->mark_stack_peak = gc_mark_stack_peak(k->stack);
		gc_mark_stack_rest(k->stack);
	}
	gc_phase_work(heap, heap->cycle.marked_bytes);
	return true;
}
