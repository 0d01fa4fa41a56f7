// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "mark.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../heap/forward.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../space/held.h"
#include "../space/lines.h"
#include "mark-share.h"
#include "weak.h"

#define TIME_CHECK  512 /* objects between checks of the clock, and before help is called */
#define CLEAN_BATCH 32 /* cards to scan that are cleaned for one barrier */
#define CLEAN_MOST  512 /* cards cleaned at a time, most of which have nothing to scan */
#define CARD_CHECK  16 /* rounds of cards between checks of the clock */

static bool deadline_is_set(const struct gc_deadline *deadline)
{
	return deadline && deadline->at_ns;
}

static bool deadline_passed(const struct gc_deadline *deadline)
{
	return deadline && deadline->at_ns && gc_now() > deadline->at_ns;
}

bool gc_mark_drain(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	struct gc_marker *k = &heap->marker;
	unsigned int left = TIME_CHECK;

	do {
		while (!(left = gc_marker_drain(k, left))) {
			left = TIME_CHECK;
			gc_phase_work(heap, heap->cycle.marked_bytes);
			if (deadline_passed(deadline))
				return false;
			/* Mutators may have begun to wait since the last check. */
			if (!deadline_is_set(deadline) && gc_mark_shares(heap) &&
			    gc_mark_share(heap))
				return true;
		}
		if (deadline_passed(deadline))
			return !heap->stack.parts;
	} while (gc_marker_scan_part(k));
	gc_phase_work(heap, heap->cycle.marked_bytes);
	return true;
}

static void stack_drain(struct gc_heap *heap)
{
	/* Under stress, share even little work, to provoke races. */
	if (!heap->opt.stress || !gc_mark_shares(heap) || !gc_mark_share(heap))
		gc_mark_drain(heap, NULL);
}

static bool drain_until(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	if (deadline_is_set(deadline))
		return gc_mark_drain(heap, deadline);
	stack_drain(heap);
	return true;
}

/* Is there anything to scan? The stack was drained before, so its queue is empty. */
gc_inline bool stack_has_grey(const struct gc_mark_stack *s)
{
	return s->top > s->base || s->parts;
}

/*
 * The stack dropped objects: scan every marked object again (seed, figure 3), until none is
 * dropped. False: the deadline passed, and objects still count as dropped.
 */
static bool dropped_recover(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	struct gc_mark_stack *s = &heap->stack;
	unsigned int n = 0;

	while (s->dropped) {
		uintptr_t end = gc_high(heap);

		s->dropped = false;
		for (uintptr_t at = heap->base; (at = gc_bit_next(heap->mark, at, end)) < end;
		     at += 8) {
			heap->marker.rescanned++;
			gc_marker_scan(&heap->marker, (void *)at, gc_word((void *)at), false);
			if ((!stack_has_grey(s) || drain_until(heap, deadline)) &&
			    (++n % TIME_CHECK || !deadline_passed(deadline)))
				continue;
			s->dropped = true;
			return false;
		}
	}
	return true;
}

bool gc_mark_next(const struct gc_heap *heap, uintptr_t *at)
{
	/* Read the end once: the heap may grow between the search and the comparison. */
	uintptr_t end = gc_high(heap);

	*at = gc_bit_next(heap->mark, *at, end);
	return *at < end;
}

void gc_mark_set_finger(struct gc_heap *heap, uintptr_t finger)
{
	heap->finger = finger;
	gc_marker_set_mode(&heap->marker);
}

static void walk_by_address(struct gc_heap *heap)
{
	unsigned int n = 0;

	/* Objects that are allocated at higher addresses meanwhile are ahead of the finger, too. */
	for (uintptr_t at = heap->base; gc_mark_next(heap, &at); at += 8) {
		heap->finger = at;
		gc_marker_scan(&heap->marker, (void *)at, gc_word((void *)at), true);
		if (likely(++n % TIME_CHECK))
			continue;
		gc_marker_merge(&heap->marker);
		gc_marker_reset(&heap->marker);
		gc_phase_work(heap, heap->cycle.marked_bytes);
	}
	gc_mark_set_finger(heap, UINTPTR_MAX);
	stack_drain(heap);
}

void gc_mark_concurrent(struct gc_heap *heap)
{
	if (heap->finger != UINTPTR_MAX)
		walk_by_address(heap);
	else
		stack_drain(heap);
	dropped_recover(heap, NULL);
}

void gc_mark_order_init(struct gc_heap *heap)
{
	heap->orders = GC_STORES_ORDERED ||
		       !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/*
 * Cleaning a card while mutators run: the mutator stores the reference, then dirties the
 * card. A marker that sees the card dirty must also see the reference. On x86, stores become
 * visible in order; elsewhere a barrier in every thread, between cleaning and scanning, ensures it.
 * The thread sanitizer does not check that order; tests/litmus/clean-*.litmus do.
 */
static void order_after_clean(void)
{
	/* Registered, it cannot fail. */
	if (!GC_STORES_ORDERED)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Clean dirty cards from *@at on, which is advanced, until @most of them have to be scanned, and
 * store those in @cleaned. A card without marked objects needs no scan: an object on it that is
 * marked later is pushed. Elements of long arrays have cards without an object's header.
 */
static unsigned int clean_cards(struct gc_heap *heap, uint8_t **at, uint8_t *end, unsigned int most,
				uint8_t **cleaned)
{
	unsigned int n = 0, dirty = 0;
	uint8_t *card = *at;

	for (; n < most && dirty < CLEAN_MOST && (card = gc_card_next(card, end)) < end; card++) {
		bool element = __atomic_load_n(card, __ATOMIC_RELAXED) == GC_CARD_ELEMENT;
		uintptr_t address = gc_card_address(heap, card);

		__atomic_store_n(card, 0, __ATOMIC_RELAXED);
		dirty++;
		if (gc_card_marks(heap, address) || (element && gc_card_array(heap, address)))
			cleaned[n++] = card;
	}
	heap->marker.dirty += dirty;
	*at = card;
	return n;
}

static bool cards_mark(struct gc_heap *heap, const struct gc_deadline *deadline, bool concurrent)
{
	uint8_t *end, *card, *cleaned[CLEAN_BATCH];
	/* A pass that a deadline ends must not leave a cleaned card unscanned: one at a time. */
	unsigned int most = concurrent ? CLEAN_BATCH : 1, n, rounds = 0;
	bool alone = concurrent || deadline_is_set(deadline) || !gc_mark_shares(heap);

	if (!GC_NEEDED(7) && !concurrent)
		return true;
	if (concurrent && !heap->orders)
		return true;
	do {
		heap->stack.on_cards = heap->stack.filtered = false;
		/* But not this one: objects that were dropped before are on no card. */
		if (!GC_NEEDED(12))
			heap->stack.dropped = false;
		card = gc_card(heap, heap->base);
		end = gc_card(heap, gc_high(heap));
		while (card < end) {
			n = clean_cards(heap, &card, end, most, cleaned);
			if (concurrent && n)
				order_after_clean();
			for (unsigned int i = 0; i < n; i++) {
				gc_marker_scan_card(&heap->marker,
						    gc_card_address(heap, cleaned[i]), true);
				/* Drained card by card, so that a small stack does not overflow. */
				if (stack_has_grey(&heap->stack) && !gc_mark_drain(heap, deadline))
					return false;
			}
			if (++rounds % CARD_CHECK)
				continue;
			if (deadline_passed(deadline))
				return false;
			if (!alone && gc_mark_share_cards(heap, card, end))
				card = end;
		}
		/* The last cards may have been cleaned without: nothing on them was marked. */
		if (concurrent && heap->stack.dropped)
			order_after_clean();
		if (!dropped_recover(heap, deadline))
			return false;
		/* In a stopped world, only an overflow of the stack dirties cards. */
	} while (heap->stack.on_cards && !concurrent);
	/* All cards are clean, so what the filter left to them in the last pass was scanned in it. */
	if (!concurrent)
		heap->stack.filtered = false;
	return true;
}

bool gc_mark_cards(struct gc_heap *heap, const struct gc_deadline *deadline, bool concurrent)
{
	bool done = cards_mark(heap, deadline, concurrent);

	gc_marker_merge(&heap->marker);
	gc_marker_reset(&heap->marker);
	return done;
}

bool gc_mark_finish(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	if (GC_NEEDED(4))
		gc_all_roots(heap, gc_marker_visit, &heap->marker);
	return drain_until(heap, deadline) && gc_mark_cards(heap, deadline, false);
}

static bool object_alive(struct gc_heap *heap, void **ref)
{
	if (gc_bit_test(heap->mark, (uintptr_t)*ref))
		return true;
	return gc_lines_move(heap) && gc_lines_leaves(heap, (uintptr_t)*ref) && gc_copy_kept(ref);
}

/*
 * Drain while weak references are processed. An overflow is recovered as any other, by
 * gc_mark_cards(), and so is what the filter left to dirty cards.
 */
static bool weak_drain(struct gc_heap *heap, const void *arg)
{
	const struct gc_deadline *deadline = arg;

	if (!drain_until(heap, deadline))
		return false;
	if (heap->stack.on_cards || heap->stack.dropped || heap->stack.filtered)
		return gc_mark_cards(heap, deadline, false);
	return true;
}

bool gc_mark_weak(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	const struct gc_weak_ops ops = {
		.alive = object_alive,
		.keep = gc_marker_visit,
		.arg = &heap->marker,
		.drain = weak_drain,
		.drain_arg = deadline,
	};

	return gc_weak_process(heap, &ops);
}

void gc_mark_prepare(struct gc_heap *heap, bool keep)
{
	size_t first = heap->base >> GC_WORD_SHIFT, last = gc_high(heap) >> GC_WORD_SHIFT;
	size_t bytes = (last - first) * sizeof(uint64_t);

	if (!keep)
		memset(&heap->mark[first], 0, bytes);
	else
		memcpy(&heap->mark[first], &heap->survivor[first], bytes);
	gc_mark_reset(heap);
}

void gc_mark_reset(struct gc_heap *heap)
{
	gc_mark_set_finger(heap, UINTPTR_MAX);
	heap->stack.on_cards = heap->stack.filtered = heap->stack.dropped = false;
	heap->stack.lossy = false;
	heap->stack.parts = 0;
	heap->weak.weaks.count = heap->weak.ephemerons.count = 0;
	heap->cycle.marked_bytes = heap->cycle.marked_objects = 0;
}

/*
 * Live bytes: those counted while scanning, and in a minor cycle also those of the survivors.
 * After an overflow some objects were marked without being counted, or counted twice: then count
 * the mark bits.
 */
void gc_mark_count(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	uintptr_t end = gc_high(heap);

	if (heap->stack.lossy) {
		c->marked_bytes = c->marked_objects = 0;
		for (uintptr_t at = heap->base; (at = gc_bit_next(heap->mark, at, end)) < end;
		     at += 8) {
			c->marked_bytes +=
				gc_held(heap, (void *)at, gc_object_size(heap, (void *)at));
			c->marked_objects++;
		}
		c->live_bytes = c->marked_bytes;
		return;
	}
	c->live_bytes = c->marked_bytes;
	if (c->kind == GC_KIND_MINOR) {
		c->live_bytes += heap->budget.live_bytes;
		c->marked_objects += heap->budget.live_objects;
	}
}

void gc_mark_swap(struct gc_heap *heap)
{
	uint64_t *live = heap->live;

	heap->live = heap->mark;
	heap->mark = live;
}

void gc_mark_clean_cards(struct gc_heap *heap)
{
	uint8_t *first = gc_card(heap, heap->base), *last = gc_card(heap, gc_high(heap));

#ifdef GC_TSAN
	/* cmsfly does this while mutators dirty cards: tests/litmus/fly.litmus. */
	for (; first < last; first++)
		__atomic_store_n(first, 0, __ATOMIC_RELAXED);
#else
	memset(first, 0, (size_t)(last - first));
#endif
}
