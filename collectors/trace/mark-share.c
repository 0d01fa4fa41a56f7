// SPDX-License-Identifier: MIT
#include "mark-share.h"

#include "../listener/phase.h"
#include "../thread/help.h"
#include "../thread/threads.h"
#include "mark-loop.h"
#include "weak.h"

#define REPORT_EVERY 16 /* progress is reported every REPORT_EVERY * GC_HELP_GIVE objects */
#define STRETCH	     4096 /* cards taken at once */
#define HOARD	     1024 /* objects pushed from cards before the stack is drained */

/* Cards that no helper has taken yet */
struct gc_mark_range {
	uint8_t *next, *end;
};

static void note_weak(struct gc_marker *k, void *obj)
{
	int ret;

	gc_help_lock(k->heap);
	ret = gc_weak_note(k->heap, obj);
	gc_help_unlock(k->heap);
	if (ret)
		gc_weak_hold(gc_info(k->heap, gc_word(obj)), obj, gc_marker_visit_shared, k);
}

/* Scan an object without a shape. */
static __attribute__((noinline)) void scan_other(struct gc_marker *k, void *obj, uint64_t word)
{
	if (gc_marker_scan(k, obj, word, gc_marker_visit_shared, true, true))
		note_weak(k, obj);
}

static void progress_report(struct gc_helper *k)
{
	struct gc_heap *heap = k->mark.heap;

	if (k->first)
		gc_phase_work(heap,
			      heap->cycle.marked_bytes + k->mark.bytes + gc_help_reported(heap));
	else
		__atomic_store_n(&k->reported, k->mark.bytes, __ATOMIC_RELAXED);
}

static unsigned int drain_some(struct gc_marker *k, unsigned int most)
{
	return k->heap->lines ? gc_marker_loop(k, most, true, true, scan_other) :
				gc_marker_loop(k, most, true, false, scan_other);
}

/* Mark until this helper has no grey object left. */
static void helper_drain(struct gc_helper *k)
{
	unsigned int n = 0, left = GC_HELP_GIVE;

	do {
		while (!(left = drain_some(&k->mark, left))) {
			left = GC_HELP_GIVE;
			gc_help_give(k);
			if (!(++n % REPORT_EVERY))
				progress_report(k);
		}
		gc_help_give(k);
	} while (gc_marker_part(&k->mark, gc_marker_visit_shared));
}

static void helper_mark(struct gc_helper *k)
{
	do {
		helper_drain(k);
	} while (gc_help_more(k));
}

/* Scan what is on the card at @at of a marked object that begins before it, if there is one. */
static void scan_elements(struct gc_helper *k, uintptr_t at)
{
	struct gc_heap *heap = k->mark.heap;
	void *array = gc_card_array(heap, at);
	uint64_t word;

	if (!array)
		return;
	word = gc_word(array);
	k->cards++;
	k->again++;
	if (gc_carded(gc_info(heap, word), word))
		gc_card_elements(heap, array, at, gc_marker_visit_shared, &k->mark);
	else if (gc_marker_scan(&k->mark, array, word, gc_marker_visit_shared, false, true))
		note_weak(&k->mark, array);
}

/*
 * An object on the card that another helper marks meanwhile is also pushed there. It is scanned
 * twice then, which is harmless.
 */
static void scan_card(struct gc_helper *k, uint8_t *card)
{
	uintptr_t at = gc_card_address(k->mark.heap, card);
	uint64_t marks = gc_card_marks(k->mark.heap, at);
	bool element = __atomic_load_n(card, __ATOMIC_RELAXED) == GC_CARD_ELEMENT;

	__atomic_store_n(card, 0, __ATOMIC_RELAXED);
	k->dirty++;
	k->cards += !!marks;
	if (!marks && element)
		scan_elements(k, at);
	for (; marks; marks &= marks - 1) {
		void *obj = (void *)(at + 8 * (uintptr_t)__builtin_ctzll(marks));

		k->again++;
		if (gc_marker_scan(&k->mark, obj, gc_word(obj), gc_marker_visit_shared, false,
				   true))
			note_weak(&k->mark, obj);
	}
}

/* Take a stretch of cards at a time and drain the stack in between, so that it stays short. */
static void helper_mark_cards(struct gc_helper *k)
{
	struct gc_mark_range *r = k->mark.heap->help_range;
	uint8_t *card, *end;

	while ((card = __atomic_fetch_add(&r->next, STRETCH, __ATOMIC_RELAXED)) < r->end) {
		end = r->end - card < STRETCH ? r->end : card + STRETCH;
		for (; (card = gc_card_next(card, end)) < end; card++) {
			scan_card(k, card);
			if (k->mark.stack->top - k->mark.stack->base > HOARD)
				helper_drain(k);
		}
		helper_drain(k);
	}
	helper_mark(k);
}

bool gc_mark_shares(const struct gc_heap *heap)
{
	if (!heap->help || (heap->lines && heap->lines->moving))
		return false;
	/* While mutators run, only those can help that wait because the heap is full. */
	return heap->stopping || (heap->opt.help && gc_threads_wait(heap));
}

/* Add the helpers' counters to the heap's. */
static void helpers_merge(struct gc_heap *heap)
{
	struct gc_heap_stats *s = &heap->stats;

	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		heap->cycle.marked_bytes += k->mark.bytes;
		heap->cycle.marked_objects += k->mark.objects;
		gc_stat_add(&s->cards_dirty, k->dirty);
		gc_stat_add(&s->cards_scanned, k->cards);
		gc_stat_add(&s->rescanned_objects, k->again);
		if (k->first)
			continue;
		gc_stat_add(&s->helps, 1);
		gc_stat_add(&s->helped_objects, k->mark.objects);
		/* A helper's stack grows, so what it drops is on no card. */
		if (k->mark.stack->dropped)
			heap->stack.dropped = heap->stack.lossy = true;
		k->mark.stack->dropped = k->mark.stack->lossy = false;
		gc_stat_max(&s->mark_stack_peak, gc_mark_stack_peak(k->mark.stack));
		gc_mark_stack_rest(k->mark.stack);
	}
	gc_phase_work(heap, heap->cycle.marked_bytes);
}

bool gc_mark_share(struct gc_heap *heap)
{
	if (!gc_help_share(heap, helper_mark))
		return false;
	helpers_merge(heap);
	return true;
}

bool gc_mark_share_cards(struct gc_heap *heap, uint8_t *card, uint8_t *end)
{
	struct gc_mark_range range = { card, end };
	bool shared;

	heap->help_range = &range;
	shared = gc_help_share(heap, helper_mark_cards);
	heap->help_range = NULL;
	if (shared)
		helpers_merge(heap);
	return shared;
}
