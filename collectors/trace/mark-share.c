// SPDX-License-Identifier: MIT
#include "mark-share.h"

#include "../listener/phase.h"
#include "../space/lines.h"
#include "../thread/help.h"
#include "../thread/threads.h"
#include "marker.h"

#define REPORT_EVERY 16 /* progress is reported every REPORT_EVERY * GC_HELP_GIVE objects */
#define STRETCH	     4096 /* cards taken at once */
#define HOARD	     1024 /* objects pushed from cards before the stack is drained */

/* Cards that no helper has taken yet */
struct gc_mark_range {
	uint8_t *next, *end;
};

static void progress_report(struct gc_helper *k)
{
	struct gc_heap *heap = k->mark.heap;

	if (k->first)
		gc_phase_work(heap,
			      heap->cycle.marked_bytes + k->mark.bytes + gc_help_reported(heap));
	else
		__atomic_store_n(&k->reported, k->mark.bytes, __ATOMIC_RELAXED);
}

/* Mark until this helper has no grey object left. */
static void helper_drain(struct gc_helper *k)
{
	unsigned int n = 0, left = GC_HELP_GIVE;

	do {
		while (!(left = gc_marker_drain(&k->mark, left))) {
			left = GC_HELP_GIVE;
			gc_help_give(k);
			if (!(++n % REPORT_EVERY))
				progress_report(k);
		}
		gc_help_give(k);
	} while (gc_marker_scan_part(&k->mark));
}

static void helper_mark(struct gc_helper *k)
{
	do {
		helper_drain(k);
	} while (gc_help_more(k));
}

/*
 * An object on the card that another helper marks meanwhile is also pushed there. It is scanned
 * twice then, which is harmless.
 */
static void card_scan(struct gc_marker *k, uint8_t *card)
{
	bool element = __atomic_load_n(card, __ATOMIC_RELAXED) == GC_CARD_ELEMENT;

	__atomic_store_n(card, 0, __ATOMIC_RELAXED);
	k->dirty++;
	gc_marker_scan_card(k, gc_card_address(k->heap, card), element);
}

/* Take a stretch of cards at a time and drain the stack in between, so that it stays short. */
static void helper_mark_cards(struct gc_helper *k)
{
	struct gc_mark_range *r = k->mark.heap->help_range;
	uint8_t *card, *end;

	while ((card = __atomic_fetch_add(&r->next, STRETCH, __ATOMIC_RELAXED)) < r->end) {
		end = r->end - card < STRETCH ? r->end : card + STRETCH;
		for (; (card = gc_card_next(card, end)) < end; card++) {
			card_scan(&k->mark, card);
			if (k->mark.stack->top - k->mark.stack->base > HOARD)
				helper_drain(k);
		}
		helper_drain(k);
	}
	helper_mark(k);
}

bool gc_mark_shares(const struct gc_heap *heap)
{
	if (!heap->help || gc_lines_move(heap))
		return false;
	/* While mutators run, only those can help that wait because the heap is full. */
	return heap->mutators.stopping || (heap->opt.help && gc_threads_wait(heap));
}

/* Add the helpers' counters to the heap's. */
static void helpers_merge(struct gc_heap *heap)
{
	struct gc_heap_stats *s = &heap->stats;

	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		gc_marker_merge(&k->mark);
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
