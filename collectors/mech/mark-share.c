// SPDX-License-Identifier: MIT
/*
 * Marking in place by the collecting thread and mutators that stopped (mech/help.h). The
 * world is stopped: nobody writes a reference. Mark bits are set by whoever comes first.
 */
#include "mark.h"

#include "../space/lines.h"
#include "help.h"

#define TELL	512 /* objects between words of progress */
#define STRETCH 4096 /* cards taken at once */
#define HOARD	1024 /* objects found on cards, before what hangs on them is marked */

/* Cards that nobody has taken yet */
struct gc_mark_range {
	uint8_t *next, *end;
};

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

/* @count: it is met for the first time */
gc_inline void scan(struct gc_helper *k, void *obj, bool count)
{
	struct gc_heap *heap = k->heap;
	uint64_t word = gc_word(obj);
	const struct gc_info *info = gc_info(heap, word);
	size_t size = gc_size(info, word);

	if (count) {
		k->bytes += size <= GC_SMALL_MAX ? size : gc_held_size(heap, size);
		k->objects++;
	}
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

/* Until nothing is grey here. */
static void drain(struct gc_helper *k)
{
	unsigned int n = 0;
	void *obj;

	do {
		while ((obj = gc_mark_pop(k->stack))) {
			scan(k, obj, true);
			if (likely(++n % GC_HELP_GIVE))
				continue;
			gc_help_give(k);
			if (!(n % TELL))
				tell(k);
		}
	} while (next_part(k));
}

static void loop(struct gc_helper *k)
{
	do {
		drain(k);
	} while (gc_help_more(k));
}

/*
 * What is marked on the card meanwhile is pushed as well. That its fields are looked at twice
 * then does no harm.
 */
static void scan_card(struct gc_helper *k, uint8_t *card)
{
	uintptr_t at = gc_card_address(k->heap, card);
	uint64_t marks = gc_card_marks(k->heap, at);

	__atomic_store_n(card, 0, __ATOMIC_RELAXED);
	k->dirty++;
	k->cards += !!marks;
	for (; marks; marks &= marks - 1) {
		k->again++;
		scan(k, (void *)(at + 8 * (uintptr_t)__builtin_ctzll(marks)), false);
	}
}

/* A stretch of cards at a time, and what hangs on them, so that no stack grows long. */
static void loop_cards(struct gc_helper *k)
{
	struct gc_mark_range *r = k->heap->help_range;
	uint8_t *card, *end;

	while ((card = __atomic_fetch_add(&r->next, STRETCH, __ATOMIC_RELAXED)) < r->end) {
		end = r->end - card < STRETCH ? r->end : card + STRETCH;
		for (; (card = gc_card_next(card, end)) < end; card++) {
			scan_card(k, card);
			if (k->stack->top - k->stack->base > HOARD)
				drain(k);
		}
		drain(k);
	}
	loop(k);
}

bool gc_mark_shares(const struct gc_heap *heap)
{
	return heap->help && heap->stopping && !(heap->lines && heap->lines->moving);
}

/* What each did becomes the heap's. */
static void merge(struct gc_heap *heap)
{
	struct gc_heap_stats *s = &heap->stats;

	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		heap->cycle.marked_bytes += k->bytes;
		heap->cycle.marked_objects += k->objects;
		s->cards_dirty += k->dirty;
		s->cards_scanned += k->cards;
		s->rescanned_objects += k->again;
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
}

bool gc_mark_share(struct gc_heap *heap)
{
	if (!gc_help_share(heap, loop))
		return false;
	merge(heap);
	return true;
}

bool gc_mark_share_cards(struct gc_heap *heap, uint8_t *card, uint8_t *end)
{
	struct gc_mark_range range = { card, end };
	bool shared;

	heap->help_range = &range;
	shared = gc_help_share(heap, loop_cards);
	heap->help_range = NULL;
	if (shared)
		merge(heap);
	return shared;
}
