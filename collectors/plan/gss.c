// SPDX-License-Identifier: MIT
/*
 * gss: ART's generational semi-space (Android 6.0.1, semi_space.cc). Mutators allocate
 * in a bump space. A bps collection copies what survives there, and promotes what was
 * there at the collection before to size-class blocks; old objects on dirty cards are
 * its roots. A whole collection also marks and sweeps blocks and large objects.
 *
 * Invariants:
 *  - While mutators run, a reference from the pages to the bump space lies on a dirty card:
 *    stores dirty it, and a scan of an old object that still refers there dirties it again.
 *  - Objects below bump->aged were there at the last collection: they alone are promoted.
 *  - A survivor's bit is set for what was promoted since the last whole collection.
 *  - To-space has room for all of from-space; an object that finds none in the pages stays young.
 *
 * With nursery=0 mutators allocate as much as the cache holds before the next collection, or more
 * if a larger part of it dies then (plan/nursery.h): short-lived garbage never leaves the cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../space/held.h"
#include "copying.h"
#include "large-object.h"
#include "nursery.h"
#include "promote.h"

#define NURSERY_MOST (32u << 20)
#define GROWTH(x)    ((x) / 2) /* growth of the old space until it is collected again */
#define STALE(x)     ((x) / 8) /* growth that makes it worth collecting when memory is short */

/* Which objects that were in the bump space at the last collection are promoted */
enum when {
	NEVER,
	ALWAYS,
	CHOSEN
};

struct gss {
	struct gc_promotion promotion;
	struct gc_nursery nursery; /* its size is 0 with nursery= */
	enum when when;
	uint64_t old_then; /* bytes in blocks when the last whole collection ended */
	uint64_t old_bytes; /* in blocks */
	uint64_t promoted; /* bytes since the last whole collection began */
	uint64_t large_then; /* large objects' bytes when it ended */
	bool whole; /* this collection */
};

static struct gss *gss_of(struct gc_heap *heap)
{
	return heap->plan_data;
}

static size_t gss_capacity(const struct gc_options *opt)
{
	size_t most = (size_t)opt->max / 2;

	if (opt->nursery)
		most = (size_t)opt->nursery;
	else if (most > 2 * NURSERY_MOST)
		most = 2 * NURSERY_MOST;
	return gc_align(most, 1 << 16);
}

static size_t gss_space(const struct gc_options *opt)
{
	return 2 * gc_bump_span(gss_capacity(opt));
}

static int gss_check(struct gc_options *opt, struct gc_error *err)
{
	if (opt->nursery && opt->nursery < 65536)
		return gc_fail(err, -EINVAL, "nursery=%lld: give 0 or at least 64K",
			       (long long)opt->nursery);
	if (opt->nursery > opt->max / 2)
		return gc_fail(err, -EINVAL, "nursery=%lld: above half of max; lower it",
			       (long long)opt->nursery);
	if (opt->nursery && opt->large > opt->nursery / 4)
		return gc_fail(err, -EINVAL, "large=%lld: above a quarter of nursery; lower it",
			       (long long)opt->large);
	if (opt->large > opt->max / 8)
		return gc_fail(err, -EINVAL, "large=%lld: above an eighth of max; lower it",
			       (long long)opt->large);
	return gc_copying_check(opt, err);
}

/* Lower bound: the cache of each running mutator's core, and room for a few large= objects */
static void bound_nursery(struct gc_heap *heap, struct gss *g)
{
	uint64_t threads = __atomic_load_n(&heap->thread_count, __ATOMIC_RELAXED), least;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus > 0 && threads > (uint64_t)cpus)
		threads = (uint64_t)cpus;
	least = gc_nursery_cache() * (threads + !threads);
	if (least < 4 * (uint64_t)heap->opt.large)
		least = 4 * (uint64_t)heap->opt.large;
	gc_nursery_bound(&g->nursery, least);
	heap->bump->young = g->nursery.size;
}

static int gss_init(struct gc_heap *heap, struct gc_error *err)
{
	struct gss *g = calloc(1, sizeof(*g));

	heap->plan_data = g;
	if (!g || gc_blocks_init(heap) || gc_large_init(heap) ||
	    gc_bump_init(heap, heap->pages_end, gss_capacity(&heap->opt)) || gc_workers_init(heap))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	g->when = heap->opt.promote == GC_PROMOTE_NEVER	  ? NEVER :
		  heap->opt.promote == GC_PROMOTE_DEFAULT ? ALWAYS :
							    CHOSEN;
	if (!heap->opt.nursery) {
		gc_nursery_init(&g->nursery, 0, heap->bump->capacity / 2);
		bound_nursery(heap, g);
	}
	return gc_promotion_init(&g->promotion, &heap->opt, err);
}

static void gss_fini(struct gc_heap *heap)
{
	gc_workers_fini(heap);
	gc_bump_fini(heap);
	gc_blocks_fini(heap);
	gc_large_fini(heap);
	free(heap->plan_data);
}

static uintptr_t gss_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_object(t, bytes, force);
	return gc_bump_alloc(t, bytes, force);
}

/* Memory in the old space in a new run, or 0. The copier owns the block. */
static __attribute__((noinline)) uintptr_t more_room(struct gc_copier *c, size_t size)
{
	uintptr_t used;
	uint32_t page;

	if (size > GC_CLASS_LARGEST) {
		page = gc_large_reserve(c->heap, size, true, &used);
		if (!page)
			return 0;
		/* Its bytes are overwritten. */
		gc_large_clear(c->heap, page, used, false);
		return gc_large_publish(c->heap, page);
	}
	return gc_blocks_alloc(&c->own, size, true);
}

/*
 * Memory in the old space for an object that was in the bump space at the last collection, or NULL
 * when it is to stay or no page is left. Only the owner of a block writes its words of the
 * survivors' bitmap; mark bits are also set in blocks of other copiers.
 */
gc_inline void *gss_promote(struct gc_copier *c, void *ref, uint64_t word, size_t size,
			    const struct gc_copy_ops *how, const bool shared)
{
	struct gc_heap *heap = c->heap;
	struct gss *g = gss_of(heap);
	struct gc_run *run;
	uintptr_t at;

	if ((uintptr_t)ref >= c->aged)
		return NULL;
	if (how->which == CHOSEN) {
		/* Copied twice: it was eligible before and was held back. */
		if (heap->opt.promote == GC_PROMOTE_TUNED &&
		    (word & GC_AGE_MASK) >= 2u << GC_AGE_SHIFT)
			gc_promotion_met(&g->promotion, size);
		if (!gc_promotion_choose(heap, &g->promotion, size, c->rng))
			return NULL;
	}
	run = &c->own.m.run[size <= GC_SMALL_MAX ? size >> GC_GRANULE_SHIFT : 0];
	at = run->cursor;
	if (likely(at + size <= run->limit))
		run->cursor = at + size;
	else
		at = more_room(c, size);
	if (unlikely(!at))
		return NULL;
	if (how->whole)
		gc_copy_take(heap->mark, at, shared);
	if (size <= GC_CLASS_LARGEST)
		c->old_bytes += gc_held_size(heap, size);
	gc_bit_set(heap->survivor, at);
	c->promoted_bytes += size;
	c->promoted++;
	return (void *)at;
}

/* An object in the old space, without a shape, is reached in a whole collection. */
static __attribute__((noinline)) bool gss_keep_other(struct gc_copier *c, void *ref, uint64_t word)
{
	size_t size = gc_copy_unshaped(c->heap, ref, word);
	bool grey = size & 1;

	size -= grey;
	c->objects++;
	c->bytes += size;
	if (size <= GC_CLASS_LARGEST)
		c->old_bytes += gc_held_size(c->heap, size);
	return grey;
}

gc_inline bool gss_outside(struct gc_copier *c, void *ref, const struct gc_copy_ops *how,
			   const bool shared)
{
	struct gc_heap *heap = c->heap;
	uint64_t word;
	size_t size, refs;

	if (!how->whole || !gc_copy_take(heap->mark, (uintptr_t)ref, shared))
		return false;
	word = gc_word(ref);
	refs = gc_shape_refs(word);
	if (unlikely(!refs))
		return gss_keep_other(c, ref, word);
	size = gc_shape_granules(word) << GC_GRANULE_SHIFT;
	c->objects++;
	c->bytes += size;
	c->old_bytes += gc_held_size(heap, size);
	return refs > sizeof(struct gc_header);
}

/* An old object that refers to the bump space must be found again: dirty its card. */
gc_inline void gss_scanned(struct gc_copier *c, void *obj, bool young)
{
	if (GC_NEEDED(2) && young && (uintptr_t)obj - c->into >= c->span)
		gc_card_dirty(c->heap, (uintptr_t)obj);
}

/* For any promotion policy and kind of collection: roots, objects without a shape, helpers */
gc_inline void *gss_promote_any(struct gc_copier *c, void *ref, uint64_t word, size_t size,
				const struct gc_copy_ops *how, bool shared)
{
	const struct gss *g = gss_of(c->heap);
	const struct gc_copy_ops now = { .which = CHOSEN, .whole = g->whole };

	(void)how;
	return g->when == NEVER ? NULL : gss_promote(c, ref, word, size, &now, shared);
}

gc_inline bool gss_outside_any(struct gc_copier *c, void *ref, const struct gc_copy_ops *how,
			       bool shared)
{
	const struct gc_copy_ops now = { .whole = gss_of(c->heap)->whole };

	(void)how;
	return gss_outside(c, ref, &now, shared);
}

static const struct gc_copy_ops ops = {
	.ages = true,
	.promote = gss_promote_any,
	.outside = gss_outside_any,
	.scanned = gss_scanned,
};

gc_inline void gss_visit(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, false);
}

gc_inline void gss_visit_shared(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, true);
}

/* Visit the elements on the card at @at of an old array, and dirty it again if one is young. */
gc_inline void gss_scan_elements(struct gc_copier *c, void *array, uintptr_t at, const bool shared)
{
	bool first = (uintptr_t)array == at;

	c->young = false;
	gc_card_elements(c->heap, array, at, shared ? gss_visit_shared : gss_visit, c);
	if (c->young && GC_NEEDED(2))
		__atomic_store_n(gc_card(c->heap, at), first ? GC_CARD_DIRTY : GC_CARD_ELEMENT,
				 __ATOMIC_RELAXED);
}

/* All of a long array, card by card */
static __attribute__((noinline)) void gss_scan_array(struct gc_copier *c, void *array,
						     const bool shared)
{
	uintptr_t end = (uintptr_t)array + gc_object_size(c->heap, array);

	/* Two loops, in which the visits are inlined */
	for (uintptr_t at = (uintptr_t)array; shared && at < end; at += GC_CARD)
		gss_scan_elements(c, array, at, true);
	for (uintptr_t at = (uintptr_t)array; !shared && at < end; at += GC_CARD)
		gss_scan_elements(c, array, at, false);
}

gc_inline void gss_scan(struct gc_copier *c, void *obj, const bool shared)
{
	uint64_t word = gc_word(obj);

	if (unlikely(word >> 32 >= GC_CARDED_LENGTH) && gc_in_pages(c->heap, (uintptr_t)obj) &&
	    gc_carded(gc_info(c->heap, word), word)) {
		gss_scan_array(c, obj, shared);
		return;
	}
	c->young = false;
	gc_copy_scan(c, obj, shared ? gss_visit_shared : gss_visit);
	gss_scanned(c, obj, c->young);
}

static __attribute__((noinline)) void gss_scan_other(struct gc_copier *c, void *obj,
						     const bool shared)
{
	gss_scan(c, obj, shared);
}

static void gss_drain_shared(struct gc_copier *c)
{
	gc_copy_loop(c, true, &ops, gss_scan_other);
}

/*
 * For a single thread a loop of its own for each promotion policy, of minor collections and of
 * whole ones. What has a shape is small, so gss_scanned() is enough; nothing is old with NEVER.
 */
static const struct gc_copy_ops never = { .which = NEVER, .outside = gss_outside };
static const struct gc_copy_ops never_whole = {
	.which = NEVER,
	.whole = true,
	.outside = gss_outside,
};
static const struct gc_copy_ops always = {
	.which = ALWAYS,
	.promote = gss_promote,
	.outside = gss_outside,
	.scanned = gss_scanned,
};
static const struct gc_copy_ops always_whole = {
	.which = ALWAYS,
	.whole = true,
	.promote = gss_promote,
	.outside = gss_outside,
	.scanned = gss_scanned,
};
static const struct gc_copy_ops chosen = {
	.which = CHOSEN,
	.ages = true,
	.promote = gss_promote,
	.outside = gss_outside,
	.scanned = gss_scanned,
};
static const struct gc_copy_ops chosen_whole = {
	.which = CHOSEN,
	.whole = true,
	.ages = true,
	.promote = gss_promote,
	.outside = gss_outside,
	.scanned = gss_scanned,
};

static void gss_drain(struct gc_heap *heap)
{
	struct gc_copier *c = gc_copy_first(heap);
	const struct gss *g = gss_of(heap);

	switch (g->when) {
	case NEVER:
		if (g->whole)
			gc_copy_loop(c, false, &never_whole, gss_scan_other);
		else
			gc_copy_loop(c, false, &never, gss_scan_other);
		break;
	case ALWAYS:
		if (g->whole)
			gc_copy_loop(c, false, &always_whole, gss_scan_other);
		else
			gc_copy_loop(c, false, &always, gss_scan_other);
		break;
	case CHOSEN:
		if (g->whole)
			gc_copy_loop(c, false, &chosen_whole, gss_scan_other);
		else
			gc_copy_loop(c, false, &chosen, gss_scan_other);
		break;
	}
}

/* The card at @at, on which no object begins, has an element that was stored to. */
static void gss_scan_card_array(struct gc_heap *heap, uintptr_t at)
{
	void *array = (void *)gc_large_around(heap, at);

	if (!array || !gc_bit_test(heap->live, (uintptr_t)array))
		return;
	if (gc_carded(gc_info(heap, gc_word(array)), gc_word(array)))
		gss_scan_elements(gc_copy_first(heap), array, at, false);
	else
		gss_scan(gc_copy_first(heap), array, false);
}

static void gss_scan_cards(struct gc_heap *heap)
{
	uint8_t *end = gc_card(heap, gc_high(heap)), *card = gc_card(heap, heap->base);
	struct gc_copier *c = gc_copy_first(heap);

	/* A whole collection finds young objects from the program's roots. */
	if (gss_of(heap)->whole)
		return;
	for (; (card = gc_card_next(card, end)) < end; card++) {
		uintptr_t at = gc_card_address(heap, card), stop = at + GC_CARD;
		bool element = *card == GC_CARD_ELEMENT;

		*card = 0;
		gc_stat_add(&heap->stats.cards_dirty, 1);
		gc_stat_add(&heap->stats.cards_scanned, 1);
		if (element)
			gss_scan_card_array(heap, at);
		for (; (at = gc_bit_next(heap->live, at, stop)) < stop; at += 8)
			gss_scan(c, (void *)at, false);
	}
}

static const struct gc_copying copying;

static void gss_drain_all(struct gc_heap *heap)
{
	gc_copying_drain(heap, &copying);
}

static void gss_scan_alone(struct gc_copier *c, void *obj)
{
	gss_scan(c, obj, false);
}

/* Promoted objects have survivor bits; in a whole collection, reached ones have mark bits. */
static const uint64_t *gss_old(struct gc_heap *heap)
{
	return gss_of(heap)->whole ? heap->mark : heap->survivor;
}

static bool gss_alive(struct gc_heap *heap, void **ref)
{
	if (gc_bump_has(heap->bump, (uintptr_t)*ref))
		return gc_copy_kept(ref);
	return gc_bump_to(heap->bump, (uintptr_t)*ref) || !gss_of(heap)->whole ||
	       gc_bit_test(heap->mark, (uintptr_t)*ref);
}

static const struct gc_copying copying = {
	.visit = gss_visit,
	.roots = gss_scan_cards,
	.drain = gss_drain,
	.drain_shared = gss_drain_shared,
	.drain_all = gss_drain_all,
	.scan = gss_scan_alone,
	.old = gss_old,
	.alive = gss_alive,
};

/* Is memory so short that the old space should be collected? */
static bool short_of_memory(const struct gc_heap *heap, const struct gss *g)
{
	uint64_t held = gc_pages_held(heap) + heap->bump->promise, max = (uint64_t)heap->opt.max;

	if (!heap->bump->young)
		return gc_pages_held(heap) + heap->bump->capacity / 2 > max;
	return held + g->nursery.least / 2 > max ||
	       (held + 2 * heap->bump->young > max && g->promoted > STALE(g->old_then));
}

/* ART's rule; with nursery=0 the threshold grows with the old space */
static bool promoted_enough(const struct gc_heap *heap, const struct gss *g)
{
	uint64_t most = (uint64_t)heap->opt.threshold;

	if (heap->bump->young && heap->opt.sizing == GC_SIZING_FIXED)
		return false;
	if (heap->bump->young && most < GROWTH(g->old_then))
		most = GROWTH(g->old_then);
	return g->promoted >= most;
}

static bool choose_whole(struct gc_heap *heap, struct gss *g)
{
	struct gc_cycle *c = &heap->cycle;

	return c->full || c->cause == GC_CAUSE_EXPLICIT || c->cause == GC_CAUSE_OOM ||
	       promoted_enough(heap, g) ||
	       heap->large->bytes >= g->large_then + (uint64_t)heap->opt.los_threshold ||
	       short_of_memory(heap, g);
}

/* Count bytes promoted since the last whole collection and dead now: promoted too early. */
static void count_premature(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->survivor, at, end)) < end; at += 8)
		if (!gc_bit_test(heap->mark, at))
			gc_stat_add(&heap->stats.premature_bytes, gc_object_size(heap, (void *)at));
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

static void end_whole(struct gc_heap *heap, struct gss *g)
{
	count_premature(heap);
	clear_survivors(heap);
	gc_mark_swap(heap);
	gc_blocks_unsweep(heap);
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	g->large_then = heap->large->bytes;
	g->old_then = g->old_bytes;
}

/* @allocated: bytes since the last collection */
static void resize_nursery(struct gc_heap *heap, struct gss *g, uint64_t allocated)
{
	if (!heap->bump->young)
		return;
	gc_nursery_end(&g->nursery, allocated, gc_bump_used(heap->bump));
	bound_nursery(heap, g);
}

/* Bytes in use: exact for the bump space and large objects, marked and promoted for blocks. */
static uint64_t gss_account(struct gc_heap *heap, struct gss *g)
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
		gc_verify_scan_clean(heap, obj, gc_verify_young);
		if (heap->verify_white)
			gc_die(heap,
			       "card table: old object %p (%s) refers to the bump space and its "
			       "card is clean: a store missed its write barrier",
			       obj, gc_info(heap, word)->name);
	}
}

static void gss_collect(struct gc_heap *heap)
{
	struct gss *g = gss_of(heap);
	struct gc_cycle *c = &heap->cycle;
	const struct gc_copier *sum;
	uint64_t granted, objects, allocated;

	while (gc_blocks_sweep(heap))
		;
	gc_copying_stop(heap);
	allocated = heap->bump->top - heap->bump->aged;
	granted = heap->granted;
	objects = heap->stats.allocated_objects;
	g->whole = choose_whole(heap, g);
	c->kind = g->whole ? GC_KIND_MAJOR : GC_KIND_MINOR;
	if (heap->opt.verify & GC_VERIFY_CARD)
		verify_cards(heap);
	if (g->whole)
		begin_whole(heap, g);
	heap->weaks.count = heap->ephemerons.count = 0;
	gc_copying_trace(heap, &copying,
			 g->whole ? gc_load(&heap->in_use) : gc_bump_used(heap->bump));
	sum = gc_copy_first(heap);
	g->old_bytes += sum->old_bytes;
	g->promoted += sum->promoted_bytes;
	gc_stat_add(&heap->stats.promoted_bytes, sum->promoted_bytes);
	gc_stat_add(&heap->stats.promoted_objects, sum->promoted);
	gc_phase_end(heap);
	/* Promotion changed the counters, but is no allocation by mutators: restore them. */
	__atomic_store_n(&heap->granted, granted, __ATOMIC_RELAXED);
	__atomic_store_n(&heap->stats.allocated_objects, objects, __ATOMIC_RELAXED);
	gc_bump_flip(heap);
	if (g->whole)
		end_whole(heap, g);
	gc_promotion_end(&g->promotion);
	resize_nursery(heap, g, allocated);
	/* All objects that are in the space now are eligible at the next collection. */
	if (heap->opt.promote != GC_PROMOTE_NEVER)
		heap->bump->promise = gc_bump_used(heap->bump);
	gc_copying_keep_in_max(heap);
	c->live_bytes = gss_account(heap, g);
	__atomic_store_n(&heap->in_use, c->live_bytes, __ATOMIC_RELAXED);
	c->exact = g->whole;
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
	gc_world_restart(heap);
	/* Sweep now: unswept pages count as held and so shrink the bump spaces. */
	while (g->whole && heap->bump->young && gc_blocks_sweep(heap))
		;
}

static bool gss_valid(struct gc_heap *heap, uintptr_t addr)
{
	if (gc_in_pages(heap, addr))
		return gc_large_valid(heap, addr) || gc_blocks_holds(heap, addr);
	return gc_bump_has(heap->bump, addr) && gc_bit_test(heap->live, addr);
}

const struct gc_plan gc_plan_gss = {
	.name = "gss",
	.summary = "ART's generational semi-space with promotion by age",
	.generational = true,
	.check = gss_check,
	.space = gss_space,
	.init = gss_init,
	.fini = gss_fini,
	.alloc = gss_alloc,
	.collect = gss_collect,
	.valid = gss_valid,
	.sweep = gc_blocks_sweep,
	GC_COPYING,
};
