// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "mark.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forward.h"
#include "mark-loop.h"
#include "mark-share.h"
#include "phase.h"
#include "plan.h"
#include "weak.h"

#define TIME_CHECK  512 /* objects between looks at the clock, and before help is called */
#define CLEAN_BATCH 32 /* cards to scan that are cleaned for one barrier */
#define CLEAN_MOST  512 /* cards cleaned at a time, most of which have nothing to scan */
#define CARD_CHECK  16 /* times between looks at the clock */

gc_inline bool moving(const struct gc_heap *heap)
{
	return heap->lines && heap->lines->moving;
}

/* card+filter: whatever is on a dirty card is scanned when the card is cleaned. */
static void push(struct gc_heap *heap, void *obj)
{
	if (heap->stack.filter && __atomic_load_n(gc_card(heap, (uintptr_t)obj), __ATOMIC_RELAXED))
		heap->stack.lossy = true;
	else
		gc_marker_push(&heap->marker, obj);
}

/*
 * With a finger or a filter. Dalvik's root marking and walk: what lies ahead of the finger is
 * met by the walk.
 */
static void choosy_slot(void **slot, void *arg)
{
	struct gc_heap *heap = ((struct gc_marker *)arg)->heap;
	void *ref = gc_slot_load(slot);

	if (ref && gc_bit_take(heap->mark, (uintptr_t)ref) && (uintptr_t)ref < heap->finger)
		push(heap, ref);
}

/* While a collection defragments: the world is stopped, and the slot may change. */
static void move_slot(void **slot, void *arg)
{
	struct gc_heap *heap = ((struct gc_marker *)arg)->heap;
	void *ref = *slot, *to = NULL;
	uint64_t word;

	if (!ref || gc_bit_test(heap->mark, (uintptr_t)ref))
		return;
	if (gc_lines_leaves(heap, (uintptr_t)ref)) {
		word = gc_word(ref);
		if (word & GC_FORWARDED) {
			*slot = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
			return;
		}
		to = gc_defrag_move(heap, ref, word);
	}
	if (to)
		*slot = ref = to;
	gc_bit_set(heap->mark, (uintptr_t)ref);
	push(heap, ref);
}

/* How references are followed in this collection */
enum way {
	PLAINLY,
	CHOOSILY,
	MOVING
};

static enum way way_of(const struct gc_heap *heap)
{
	if (moving(heap))
		return MOVING;
	return heap->stack.filter || heap->finger != UINTPTR_MAX ? CHOOSILY : PLAINLY;
}

void gc_mark_slot(void **slot, void *arg)
{
	struct gc_heap *heap = arg;

	if (unlikely(moving(heap)))
		move_slot(slot, &heap->marker);
	else
		choosy_slot(slot, &heap->marker);
}

static bool next_part(struct gc_heap *heap)
{
	static const gc_visit_fn visit[] = { gc_marker_visit, choosy_slot, move_slot };

	return gc_marker_part(&heap->marker, visit[way_of(heap)]);
}

static __attribute__((noinline)) void note_weak(struct gc_heap *heap, void *obj)
{
	if (gc_weak_note(heap, obj))
		gc_weak_hold(gc_info(heap, gc_word(obj)), obj, gc_mark_slot, heap);
}

gc_inline void scan(struct gc_heap *heap, void *obj, gc_visit_fn visit, const bool count)
{
	if (gc_marker_scan(&heap->marker, obj, gc_word(obj), visit, count, false))
		note_weak(heap, obj);
}

static void scan_one(struct gc_heap *heap, void *obj, const bool count)
{
	switch (way_of(heap)) {
	case PLAINLY:
		scan(heap, obj, gc_marker_visit, count);
		break;
	case CHOOSILY:
		scan(heap, obj, choosy_slot, count);
		break;
	case MOVING:
		scan(heap, obj, move_slot, count);
		break;
	}
}

/* What has no shape */
static __attribute__((noinline)) void scan_other(struct gc_marker *k, void *obj, uint64_t word)
{
	if (gc_marker_scan(k, obj, word, gc_marker_visit, true, false))
		note_weak(k->heap, obj);
}

/* Loops of their own, each with all registers */
static __attribute__((noinline)) unsigned int loop(struct gc_marker *k, unsigned int most)
{
	return gc_marker_loop(k, most, false, false, scan_other);
}

static __attribute__((noinline)) unsigned int loop_lines(struct gc_marker *k, unsigned int most)
{
	return gc_marker_loop(k, most, false, true, scan_other);
}

/*
 * Up to @most objects; how many fewer, because the stack is empty. What was marked is added to
 * the cycle's.
 */
static unsigned int drain_some(struct gc_heap *heap, unsigned int most)
{
	struct gc_marker *k = &heap->marker;
	void *obj;

	if (way_of(heap) != PLAINLY) {
		for (; most && (obj = gc_mark_pop(k->stack)); most--)
			scan_one(heap, obj, true);
	} else {
		most = heap->lines ? loop_lines(k, most) : loop(k, most);
	}
	heap->cycle.marked_objects += k->objects;
	heap->cycle.marked_bytes += k->bytes;
	k->objects = k->bytes = 0;
	return most;
}

static bool bounded(const struct gc_deadline *deadline)
{
	return deadline && deadline->at_ns;
}

static bool late(const struct gc_deadline *deadline)
{
	return deadline && deadline->at_ns && gc_now() > deadline->at_ns;
}

bool gc_mark_drain(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	unsigned int left = TIME_CHECK;

	do {
		while (!(left = drain_some(heap, left))) {
			left = TIME_CHECK;
			gc_phase_work(heap, heap->cycle.marked_bytes);
			if (late(deadline))
				return false;
			/* Who waits may have come since the last look. */
			if (!bounded(deadline) && gc_mark_shares(heap) && gc_mark_share(heap))
				return true;
		}
		if (late(deadline))
			return !heap->stack.parts;
	} while (next_part(heap));
	gc_phase_work(heap, heap->cycle.marked_bytes);
	return true;
}

static void drain(struct gc_heap *heap)
{
	/* Where races are looked for, what is little is shared, too. */
	if (!heap->opt.stress || !gc_mark_shares(heap) || !gc_mark_share(heap))
		gc_mark_drain(heap, NULL);
}

/* overflow=scan-all: scan every marked object again (seed, figure 3). */
static void scan_all(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	heap->stack.overflowed = false;
	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->mark, at, end)) < end; at += 8) {
		gc_tally(&heap->stats.rescanned_objects, 1);
		scan_one(heap, (void *)at, false);
		drain(heap);
	}
}

static bool by_cards(const struct gc_heap *heap)
{
	return heap->stack.mode <= GC_OVERFLOW_CARD_FILTER;
}

bool gc_mark_next(const struct gc_heap *heap, uintptr_t *at)
{
	/* One look at the end for both: no bit is the end, where an object may just come to be. */
	uintptr_t end = gc_high(heap);

	*at = gc_bit_next(heap->mark, *at, end);
	return *at < end;
}

static void walk_by_address(struct gc_heap *heap)
{
	unsigned int n = 0;

	/* What is allocated above as the heap grows is ahead of the finger too. */
	for (uintptr_t at = heap->base; gc_mark_next(heap, &at); at += 8) {
		heap->finger = at;
		scan(heap, (void *)at, choosy_slot, true);
		if (unlikely(!(++n % TIME_CHECK)))
			gc_phase_work(heap, heap->cycle.marked_bytes);
	}
	heap->finger = UINTPTR_MAX;
	heap->cycle.marked_objects += heap->marker.objects;
	heap->cycle.marked_bytes += heap->marker.bytes;
	heap->marker.objects = heap->marker.bytes = 0;
	drain(heap);
}

void gc_mark_concurrent(struct gc_heap *heap)
{
	if (heap->finger != UINTPTR_MAX)
		walk_by_address(heap);
	else
		drain(heap);
	while (heap->stack.overflowed && !by_cards(heap))
		scan_all(heap);
}

void gc_mark_order_init(struct gc_heap *heap)
{
	heap->orders = GC_STORES_ORDERED ||
		       !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/*
 * Cleaning a card while mutators run: the mutator stores the reference, then dirties the
 * card. Whoever sees the card dirty must see the reference. On x86 stores are seen in
 * order; elsewhere a barrier in every thread, between cleaning and scanning, makes it so.
 */
static void order_after_clean(void)
{
	/* Registered, it cannot fail. */
	if (!GC_STORES_ORDERED)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#ifndef GC_TSAN
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* What is marked meanwhile was pushed as well. */
static void scan_card(struct gc_heap *heap, uint8_t *card)
{
	uintptr_t at = gc_card_address(heap, card);
	uint64_t marks = gc_card_marks(heap, at);

	gc_tally(&heap->stats.cards_scanned, 1);
	for (; marks; marks &= marks - 1) {
		gc_tally(&heap->stats.rescanned_objects, 1);
		scan_one(heap, (void *)(at + 8 * (uintptr_t)__builtin_ctzll(marks)), false);
	}
}

/* Is there something to scan, in a stack that was drained to the end before? */
gc_inline bool grey(const struct gc_mark_stack *s)
{
	return s->top > s->base || s->parts;
}

/*
 * Clean dirty cards from *@at on, which is moved past them, until @most are to be scanned;
 * where those are. Nothing on a card without a mark is to be scanned: an object that gets its
 * mark later is pushed.
 */
static unsigned int clean_cards(struct gc_heap *heap, uint8_t **at, uint8_t *end, unsigned int most,
				uint8_t **cleaned)
{
	unsigned int n = 0, dirty = 0;
	uint8_t *card = *at;

	for (; n < most && dirty < CLEAN_MOST && (card = gc_card_next(card, end)) < end; card++) {
		__atomic_store_n(card, 0, __ATOMIC_RELAXED);
		dirty++;
		if (gc_card_marks(heap, gc_card_address(heap, card)))
			cleaned[n++] = card;
	}
	gc_tally(&heap->stats.cards_dirty, dirty);
	*at = card;
	return n;
}

bool gc_mark_cards(struct gc_heap *heap, const struct gc_deadline *deadline, bool beside)
{
	uint8_t *end, *card, *cleaned[CLEAN_BATCH];
	/* Whoever gives up leaves no card cleaned and not scanned. */
	unsigned int most = beside ? CLEAN_BATCH : 1, n, rounds = 0;
	bool alone = beside || bounded(deadline) || !gc_mark_shares(heap);

	if (!GC_NEEDED(7) && !beside)
		return true;
	if (beside && !heap->orders)
		return true;
	do {
		heap->stack.overflowed = false;
		card = gc_card(heap, heap->base);
		end = gc_card(heap, gc_high(heap));
		while (card < end) {
			n = clean_cards(heap, &card, end, most, cleaned);
			if (beside && n)
				order_after_clean();
			for (unsigned int i = 0; i < n; i++) {
				scan_card(heap, cleaned[i]);
				/* Drained card by card, so that a small stack does not overflow. */
				if (grey(&heap->stack) && !gc_mark_drain(heap, deadline))
					return false;
			}
			if (++rounds % CARD_CHECK)
				continue;
			if (late(deadline))
				return false;
			if (!alone && gc_mark_share_cards(heap, card, end))
				card = end;
		}
		while (heap->stack.overflowed && !by_cards(heap))
			scan_all(heap);
		/* While the world stands only what found no room on the stack dirties cards. */
	} while (heap->stack.overflowed && !beside);
	return true;
}

bool gc_mark_finish(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	if (GC_NEEDED(4))
		gc_all_roots(heap, gc_mark_slot, heap);
	if (!bounded(deadline))
		drain(heap);
	else if (!gc_mark_drain(heap, deadline))
		return false;
	return gc_mark_cards(heap, deadline, false);
}

static bool alive(struct gc_heap *heap, void **ref)
{
	if (gc_bit_test(heap->mark, (uintptr_t)*ref))
		return true;
	return moving(heap) && gc_lines_leaves(heap, (uintptr_t)*ref) && gc_copy_kept(ref);
}

/*
 * An overflow while weak references are processed is recovered as any other. What overflowed
 * before was recovered by now; what a filter leaves to a dirty card is not told of.
 */
static void finish(struct gc_heap *heap)
{
	drain(heap);
	if (heap->stack.overflowed || (heap->stack.filter && heap->stack.lossy))
		gc_mark_cards(heap, NULL, false);
}

void gc_mark_weak(struct gc_heap *heap)
{
	gc_weak_process(heap, alive, gc_mark_slot, heap, finish);
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
	heap->finger = UINTPTR_MAX;
	heap->stack.overflowed = heap->stack.lossy = false;
	heap->stack.parts = 0;
	heap->weaks.count = heap->ephemerons.count = 0;
	heap->cycle.marked_bytes = heap->cycle.marked_objects = 0;
}

/*
 * Live bytes: what was counted while scanning, plus @kept of a minor cycle. An overflow
 * makes objects be marked without being scanned or scanned twice; then the bits count.
 */
void gc_mark_count(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	uintptr_t end = gc_high(heap);

	if (heap->stack.lossy) {
		c->marked_bytes = c->marked_objects = 0;
		for (uintptr_t at = heap->base; (at = gc_bit_next(heap->mark, at, end)) < end;
		     at += 8) {
			c->marked_bytes += gc_held_size(heap, gc_object_size(heap, (void *)at));
			c->marked_objects++;
		}
		c->live_bytes = c->marked_bytes;
		return;
	}
	c->live_bytes = c->marked_bytes;
	if (c->kind == GC_KIND_MINOR) {
		c->live_bytes += heap->live_bytes;
		c->marked_objects += heap->live_objects;
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
	/* cmsfly does this beside mutators that dirty cards */
	for (; first < last; first++)
		__atomic_store_n(first, 0, __ATOMIC_RELAXED);
#else
	memset(first, 0, (size_t)(last - first));
#endif
}
