// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "mark.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../heap/forward.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "mark-loop.h"
#include "mark-share.h"
#include "weak.h"

#define TIME_CHECK  512 /* objects between checks of the clock, and before help is called */
#define CLEAN_BATCH 32 /* cards to scan that are cleaned for one barrier */
#define CLEAN_MOST  512 /* cards cleaned at a time, most of which have nothing to scan */
#define CARD_CHECK  16 /* rounds of cards between checks of the clock */

gc_inline bool heap_moving(const struct gc_heap *heap)
{
	return heap->lines && heap->lines->moving;
}

/* card+filter: objects on a dirty card are scanned when the card is cleaned, so do not push. */
static void object_push(struct gc_heap *heap, void *obj)
{
	if (heap->stack.filter && __atomic_load_n(gc_card(heap, (uintptr_t)obj), __ATOMIC_RELAXED))
		heap->stack.lossy = heap->stack.filtered = true;
	else
		gc_marker_push(&heap->marker, obj);
}

/*
 * Visitor for a finger or a filter. With a finger, as in Dalvik's root marking and walk, objects
 * ahead of it are not pushed: the walk will scan them.
 */
static void slot_filter(void **slot, void *arg)
{
	struct gc_heap *heap = ((struct gc_marker *)arg)->heap;
	void *ref = gc_slot_load(slot);

	if (ref && gc_bit_take(heap->mark, (uintptr_t)ref) && (uintptr_t)ref < heap->finger)
		object_push(heap, ref);
}

/* Visitor while a collection defragments: the world is stopped, and the slot may be updated. */
static void slot_move(void **slot, void *arg)
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
		if (unlikely(word & GC_AWAITED))
			word = gc_weak_reach(heap, ref, word, false);
		to = gc_defrag_move(heap, ref, word);
	}
	if (to)
		*slot = ref = to;
	gc_bit_set(heap->mark, (uintptr_t)ref);
	object_push(heap, ref);
}

/* How references are followed in this collection */
enum visit_mode {
	VISIT_PLAIN,
	VISIT_FILTER,
	VISIT_MOVE
};

static enum visit_mode visit_mode_of(const struct gc_heap *heap)
{
	if (heap_moving(heap))
		return VISIT_MOVE;
	return heap->stack.filter || heap->finger != UINTPTR_MAX ? VISIT_FILTER : VISIT_PLAIN;
}

void gc_mark_slot(void **slot, void *arg)
{
	struct gc_heap *heap = arg;

	if (unlikely(heap_moving(heap)))
		slot_move(slot, &heap->marker);
	else
		slot_filter(slot, &heap->marker);
}

static gc_visit_fn visitor_of(const struct gc_heap *heap)
{
	static const gc_visit_fn visit[] = { gc_marker_visit, slot_filter, slot_move };

	return visit[visit_mode_of(heap)];
}

static bool next_part(struct gc_heap *heap)
{
	return gc_marker_part(&heap->marker, visitor_of(heap));
}

static __attribute__((noinline)) void note_weak(struct gc_heap *heap, void *obj)
{
	if (gc_weak_note(heap, obj))
		gc_weak_hold(gc_info(heap, gc_word(obj)), obj, gc_mark_slot, heap);
}

gc_inline void object_scan(struct gc_heap *heap, void *obj, gc_visit_fn visit, const bool count)
{
	if (gc_marker_scan(&heap->marker, obj, gc_word(obj), visit, count, false))
		note_weak(heap, obj);
}

static void scan_one(struct gc_heap *heap, void *obj, const bool count)
{
	switch (visit_mode_of(heap)) {
	case VISIT_PLAIN:
		object_scan(heap, obj, gc_marker_visit, count);
		break;
	case VISIT_FILTER:
		object_scan(heap, obj, slot_filter, count);
		break;
	case VISIT_MOVE:
		object_scan(heap, obj, slot_move, count);
		break;
	}
}

/* Scan an object without a shape. */
static __attribute__((noinline)) void scan_other(struct gc_marker *k, void *obj, uint64_t word)
{
	if (gc_marker_scan(k, obj, word, gc_marker_visit, true, false))
		note_weak(k->heap, obj);
}

/* Not inlined, so that each loop has all registers to itself */
static __attribute__((noinline)) unsigned int mark_loop(struct gc_marker *k, unsigned int most)
{
	return gc_marker_loop(k, most, false, false, scan_other);
}

static __attribute__((noinline)) unsigned int mark_loop_lines(struct gc_marker *k,
							      unsigned int most)
{
	return gc_marker_loop(k, most, false, true, scan_other);
}

/*
 * Scan up to @most objects; returns how many of @most were left when the stack was empty. Adds the
 * marker's counters to the cycle's.
 */
static unsigned int drain_some(struct gc_heap *heap, unsigned int most)
{
	struct gc_marker *k = &heap->marker;
	void *obj;

	if (visit_mode_of(heap) != VISIT_PLAIN) {
		for (; most && (obj = gc_mark_pop(k->stack)); most--)
			scan_one(heap, obj, true);
	} else {
		most = heap->lines ? mark_loop_lines(k, most) : mark_loop(k, most);
	}
	heap->cycle.marked_objects += k->objects;
	heap->cycle.marked_bytes += k->bytes;
	k->objects = k->bytes = 0;
	return most;
}

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
	unsigned int left = TIME_CHECK;

	do {
		while (!(left = drain_some(heap, left))) {
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
	} while (next_part(heap));
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
			gc_stat_add(&heap->stats.rescanned_objects, 1);
			scan_one(heap, (void *)at, false);
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

static void walk_by_address(struct gc_heap *heap)
{
	unsigned int n = 0;

	/* Objects that are allocated at higher addresses meanwhile are ahead of the finger, too. */
	for (uintptr_t at = heap->base; gc_mark_next(heap, &at); at += 8) {
		heap->finger = at;
		object_scan(heap, (void *)at, slot_filter, true);
		if (unlikely(!(++n % TIME_CHECK)))
			gc_phase_work(heap, heap->cycle.marked_bytes);
	}
	heap->finger = UINTPTR_MAX;
	heap->cycle.marked_objects += heap->marker.objects;
	heap->cycle.marked_bytes += heap->marker.bytes;
	heap->marker.objects = heap->marker.bytes = 0;
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

/* Scan what is on the card of a marked object that begins before it. */
static void scan_elements(struct gc_heap *heap, uint8_t *card)
{
	uintptr_t at = gc_card_address(heap, card);
	void *array = gc_card_array(heap, at);
	uint64_t word = array ? gc_word(array) : 0;

	gc_stat_add(&heap->stats.rescanned_objects, 1);
	if (!word || !gc_carded(gc_info(heap, word), word))
		scan_one(heap, array, false);
	else
		gc_card_elements(heap, array, at, visitor_of(heap), &heap->marker);
}

/* Scan the marked objects on the card. Those that get marked meanwhile are pushed as well. */
static void scan_card(struct gc_heap *heap, uint8_t *card)
{
	uintptr_t at = gc_card_address(heap, card);
	uint64_t marks = gc_card_marks(heap, at);

	gc_stat_add(&heap->stats.cards_scanned, 1);
	if (!marks)
		scan_elements(heap, card);
	for (; marks; marks &= marks - 1) {
		gc_stat_add(&heap->stats.rescanned_objects, 1);
		scan_one(heap, (void *)(at + 8 * (uintptr_t)__builtin_ctzll(marks)), false);
	}
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
	gc_stat_add(&heap->stats.cards_dirty, dirty);
	*at = card;
	return n;
}

bool gc_mark_cards(struct gc_heap *heap, const struct gc_deadline *deadline, bool concurrent)
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
				scan_card(heap, cleaned[i]);
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

bool gc_mark_finish(struct gc_heap *heap, const struct gc_deadline *deadline)
{
	if (GC_NEEDED(4))
		gc_all_roots(heap, gc_mark_slot, heap);
	return drain_until(heap, deadline) && gc_mark_cards(heap, deadline, false);
}

static bool object_alive(struct gc_heap *heap, void **ref)
{
	if (gc_bit_test(heap->mark, (uintptr_t)*ref))
		return true;
	return heap_moving(heap) && gc_lines_leaves(heap, (uintptr_t)*ref) && gc_copy_kept(ref);
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
		.keep = gc_mark_slot,
		.arg = heap,
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
	heap->finger = UINTPTR_MAX;
	heap->stack.on_cards = heap->stack.filtered = heap->stack.dropped = false;
	heap->stack.lossy = false;
	heap->stack.parts = 0;
	heap->weaks.count = heap->ephemerons.count = 0;
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
	/* cmsfly does this while mutators dirty cards: tests/litmus/fly.litmus. */
	for (; first < last; first++)
		__atomic_store_n(first, 0, __ATOMIC_RELAXED);
#else
	memset(first, 0, (size_t)(last - first));
#endif
}
