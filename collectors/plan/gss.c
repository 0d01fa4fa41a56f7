// SPDX-License-Identifier: MIT
/*
 * gss: ART's generational semi-space (Android 6.0.1, semi_space.cc). Mutators allocate
 * in a bump space. A bps collection copies what survives there, and promotes what was
 * there at the collection before to size-class blocks; old objects on dirty cards are
 * its roots. A whole collection also marks and sweeps blocks and large objects.
 */
#include <errno.h>
#include <stdlib.h>

#include "../space/blocks.h"
#include "copying.h"
#include "promote.h"

struct gss {
	struct gc_promotion promotion;
	struct gc_thread own; /* the collector's runs, to promote into */
	uint64_t old_bytes; /* in blocks */
	uint64_t promoted; /* bytes since the last whole collection began */
	uint64_t large_then; /* large objects' bytes when it ended */
	bool whole; /* this collection */
	bool young; /* the object being scanned refers to the bump space */
};

static struct gss *gss_of(struct gc_heap *heap)
{
	return heap->plan_data;
}

static size_t space(const struct gc_options *opt)
{
	return 2 * gc_align((size_t)opt->nursery, 1 << 16);
}

static int check(struct gc_options *opt, struct gc_error *err)
{
	if (!gc_options_given(opt, "nursery")) {
		if (opt->sizing == GC_SIZING_FIXED)
			opt->nursery = opt->heap / 2;
		else if (opt->nursery > opt->max / 2)
			opt->nursery = opt->max / 2;
	}
	if (opt->nursery > opt->max / 2)
		return gc_fail(err, -EINVAL, "nursery=%lld: above half of max; lower it",
			       (long long)opt->nursery);
	if (opt->large > opt->nursery / 4)
		return gc_fail(err, -EINVAL, "large=%lld: above a quarter of nursery; lower it",
			       (long long)opt->large);
	return gc_copying_check(opt, err);
}

static int init(struct gc_heap *heap, struct gc_error *err)
{
	struct gss *g = calloc(1, sizeof(*g));
	int ret;

	heap->plan_data = g;
	if (!g || gc_blocks_init(heap) || gc_large_init(heap) ||
	    gc_bump_init(heap, heap->pages_end, space(&heap->opt) / 2))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	ret = gc_promotion_init(&g->promotion, &heap->opt, err);
	g->own.heap = heap;
	return ret;
}

static void fini(struct gc_heap *heap)
{
	gc_bump_fini(heap);
	gc_blocks_fini(heap);
	gc_large_fini(heap);
	free(heap->plan_data);
}

static uintptr_t alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_alloc(t->heap, bytes, force);
	return gc_bump_alloc(t, bytes, force);
}

/* Room for a promoted object, or NULL when no page is left. */
static void *old_room(struct gc_heap *heap, struct gss *g, size_t size)
{
	uintptr_t at;

	if (size > GC_CLASS_LARGEST)
		at = gc_large_alloc(heap, size, true);
	else
		at = gc_blocks_alloc(&g->own, size, true);
	if (!at)
		return NULL;
	if (g->whole)
		gc_bit_set(heap->mark, at);
	if (size <= GC_CLASS_LARGEST)
		g->old_bytes += gc_held_size(heap, size);
	gc_bit_set(heap->survivor, at);
	g->promoted += size;
	heap->stats.promoted_bytes += size;
	heap->stats.promoted_objects++;
	return (void *)at;
}

gc_inline void *evacuate(struct gc_heap *heap, void *ref, uint64_t word)
{
	struct gss *g = gss_of(heap);
	const struct gc_info *info = gc_info(heap, word);
	size_t size = gc_size(info, word);
	void *to = NULL;

	if ((uintptr_t)ref < heap->bump->aged) {
		/* two copies: it was eligible before and was held back */
		if ((word & GC_AGE_MASK) >= 2u << GC_AGE_SHIFT)
			gc_promotion_met(&g->promotion, size);
		if (gc_promotion_choose(heap, &g->promotion, size))
			to = old_room(heap, g, size);
	}
	if (to) {
		gc_copy_words(to, ref, size);
		((struct gc_header *)to)->word = word & ~(uint64_t)0xff;
	} else {
		to = (void *)gc_to_space(heap, size);
		gc_copy_words(to, ref, size);
		((struct gc_header *)to)->word = gc_older(word);
	}
	((struct gc_header *)ref)->word = (uintptr_t)to | GC_FORWARDED;
	heap->cycle.marked_objects++;
	if (gc_has_refs(info))
		gc_grey(heap, to);
	return to;
}

gc_inline void evacuate_slot(struct gc_heap *heap, void **slot)
{
	struct gss *g = gss_of(heap);
	void *ref = *slot;
	uint64_t word;
	size_t size;

	if (!ref)
		return;
	if (gc_bump_has(heap->bump, (uintptr_t)ref)) {
		word = gc_word(ref);
		ref = word & GC_FORWARDED ? (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED) :
					    evacuate(heap, ref, word);
		*slot = ref;
		g->young |= gc_bump_to(heap->bump, (uintptr_t)ref);
		return;
	}
	if (gc_bump_to(heap->bump, (uintptr_t)ref)) {
		g->young = true;
		return;
	}
	if (!g->whole || !gc_bit_take(heap->mark, (uintptr_t)ref))
		return;
	word = gc_word(ref);
	heap->cycle.marked_objects++;
	size = gc_size(gc_info(heap, word), word);
	heap->cycle.marked_bytes += size;
	if (size <= GC_CLASS_LARGEST)
		g->old_bytes += gc_held_size(heap, size);
	if (gc_has_refs(gc_info(heap, word)))
		gc_grey(heap, ref);
}

static void visit(struct gc_heap *heap, void **slot)
{
	evacuate_slot(heap, slot);
}

/* An old object that refers to the bump space must be found again: its card. */
gc_inline void scan(struct gc_heap *heap, struct gss *g, void *obj)
{
	uint64_t word = gc_word(obj);

	g->young = false;
	gc_scan(heap, obj, gc_info(heap, word), word, evacuate_slot);
	if (GC_NEEDED(2) && g->young && gc_in_pages(heap, (uintptr_t)obj))
		gc_card_dirty(heap, (uintptr_t)obj);
}

static void drain(struct gc_heap *heap)
{
	struct gss *g = gss_of(heap);
	struct gc_mark_stack *s = &heap->stack;

	while (s->top > s->base) {
		scan(heap, g, *--s->top);
		gc_phase_work(heap, heap->bump->to - heap->bump->start[!heap->bump->now]);
	}
}

static void scan_cards(struct gc_heap *heap)
{
	uint8_t *end = gc_card(heap, gc_high(heap)), *card = gc_card(heap, heap->base);
	struct gss *g = gss_of(heap);

	for (; (card = gc_card_next(card, end)) < end; card++) {
		uintptr_t at = gc_card_address(heap, card), stop = at + GC_CARD;

		*card = 0;
		heap->stats.cards_dirty++;
		heap->stats.cards_scanned++;
		for (; (at = gc_bit_next(heap->live, at, stop)) < stop; at += 8)
			scan(heap, g, (void *)at);
	}
}

static bool alive(struct gc_heap *heap, void **ref)
{
	uint64_t word;

	if (!gc_bump_has(heap->bump, (uintptr_t)*ref))
		return gc_bump_to(heap->bump, (uintptr_t)*ref) || !gss_of(heap)->whole ||
		       gc_bit_test(heap->mark, (uintptr_t)*ref);
	word = gc_word(*ref);
	if (word & GC_FORWARDED)
		*ref = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
	return word & GC_FORWARDED;
}

/* ART's rule, and no room to promote into */
static bool choose_whole(struct gc_heap *heap, struct gss *g)
{
	const struct gc_options *o = &heap->opt;
	struct gc_cycle *c = &heap->cycle;

	return c->full || c->cause == GC_CAUSE_EXPLICIT || c->cause == GC_CAUSE_OOM ||
	       g->promoted >= (uint64_t)o->threshold ||
	       heap->large->bytes >= g->large_then + (uint64_t)o->los_threshold ||
	       gc_pages_held(heap) + heap->bump->capacity / 2 > (uint64_t)o->max;
}

/* Promoted since the last whole collection and dead now: promoted too early. */
static void count_premature(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->survivor, at, end)) < end; at += 8)
		if (!gc_bit_test(heap->mark, at))
			heap->stats.premature_bytes += gc_object_size(heap, (void *)at);
}

static void clear_survivors(struct gc_heap *heap)
{
	size_t first = heap->base >> GC_WORD_SHIFT, last = gc_high(heap) >> GC_WORD_SHIFT;

	memset(&heap->survivor[first], 0, (last - first) * sizeof(uint64_t));
}

static void begin_whole(struct gc_heap *heap, struct gss *g)
{
	gc_mark_prepare(heap, false);
	gc_mark_clean_cards(heap);
	g->old_bytes = 0;
	g->promoted = 0;
}

static void end_whole(struct gc_heap *heap, struct gss *g, uint64_t promoted_now)
{
	count_premature(heap);
	clear_survivors(heap);
	gc_mark_swap(heap);
	gc_blocks_unsweep(heap);
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	g->large_then = heap->large->bytes;
	g->promoted = promoted_now;
}

/* Bytes in use: exact for bump and large, for blocks what was marked and promoted. */
static uint64_t account(struct gc_heap *heap, struct gss *g)
{
	return gc_bump_used(heap->bump) + heap->large->bytes + g->old_bytes;
}

static void verify_cards(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->live, at, end)) < end; at += 8) {
		void *obj = (void *)at;
		uint64_t word = gc_word(obj);

		if (*gc_card(heap, at))
			continue;
		heap->verify_white = false;
		gc_verify_scan(heap, obj, gc_verify_young);
		if (heap->verify_white)
			gc_die(heap,
			       "card table: old object %p (%s) refers to the bump space and its "
			       "card is clean: a store missed its write barrier",
			       obj, gc_info(heap, word)->name);
	}
}

static void collect(struct gc_heap *heap)
{
	struct gss *g = gss_of(heap);
	struct gc_cycle *c = &heap->cycle;
	uint64_t granted, objects, copied, promoted = g->promoted;

	while (gc_blocks_sweep(heap))
		;
	gc_world_stop(heap);
	for (struct gc_thread *t = heap->threads; t; t = t->next)
		gc_bump_flush(t);
	granted = heap->granted;
	objects = heap->stats.allocated_objects;
	g->whole = choose_whole(heap, g);
	c->kind = g->whole ? GC_KIND_MAJOR : GC_KIND_MINOR;
	if (heap->opt.verify & GC_VERIFY_CARD)
		verify_cards(heap);
	if (g->whole) {
		begin_whole(heap, g);
		promoted = 0;
	}
	heap->weaks.count = 0;
	gc_bump_open(heap);
	gc_phase_begin(heap, GC_PHASE_COPY,
		       g->whole ? gc_load(&heap->in_use) : gc_bump_used(heap->bump));
	gc_all_roots(heap, visit);
	if (!g->whole)
		scan_cards(heap);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	drain(heap);
	gc_weak_process(heap, alive, visit, drain);
	copied = heap->bump->to - heap->bump->start[!heap->bump->now];
	heap->stats.copied_bytes += copied;
	gc_phase_end(heap);
	gc_blocks_flush(&g->own);
	/* Promotion is no allocation by mutators. */
	heap->granted = granted;
	heap->stats.allocated_objects = objects;
	gc_bump_flip(heap);
	if (g->whole)
		end_whole(heap, g, g->promoted - promoted);
	gc_promotion_end(&g->promotion);
	/* What is there now is eligible at the next collection. */
	if (heap->opt.promote != GC_PROMOTE_NEVER)
		heap->bump->promise = gc_bump_used(heap->bump);
	gc_copying_keep_in_max(heap);
	c->live_bytes = account(heap, g);
	__atomic_store_n(&heap->in_use, c->live_bytes, __ATOMIC_RELAXED);
	c->exact = g->whole;
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
	gc_world_restart(heap);
}

static bool valid(struct gc_heap *heap, uintptr_t addr)
{
	if (gc_in_pages(heap, addr))
		return gc_large_valid(heap, addr) || gc_blocks_holds(heap, addr);
	return gc_bump_has(heap->bump, addr) && gc_bit_test(heap->live, addr);
}

static size_t footprint(struct gc_heap *heap)
{
	return gc_pages_held(heap) + gc_bump_footprint(heap);
}

static size_t release(struct gc_heap *heap)
{
	return gc_pages_release(heap) + gc_bump_release(heap, 0);
}

const struct gc_plan gc_plan_gss = {
	.name = "gss",
	.summary = "ART's generational semi-space with promotion by age",
	.generational = true,
	.bump = true,
	.reserve = true,
	.check = check,
	.space = space,
	.init = init,
	.fini = fini,
	.alloc = alloc,
	.flush = gc_bump_flush,
	.collect = collect,
	.index = gc_bump_index,
	.valid = valid,
	.footprint = footprint,
	.release = release,
};
