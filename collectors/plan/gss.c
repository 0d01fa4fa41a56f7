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

/*
 * What a collection does: @how of trace/evacuate.h. Promoted are objects that were in the bump space
 * at the last collection.
 */
#define GSS_PROMOTE_ALL	 2u
#define GSS_PROMOTE_SOME (4u | GC_COPY_AGES) /* as plan/promote.c chooses */
#define GSS_WHOLE	 8u /* also mark and sweep the old space */
#define GSS_MIXED	 32u /* the same, where words may be no references */
#define GSS_LOOK_UP	 (16u | GC_COPY_AGES) /* not known: see struct gss */

struct gss {
	struct gc_promotion promotion;
	struct gc_nursery nursery; /* its size is 0 with nursery= */
	unsigned int promotes; /* GSS_PROMOTE_*, or 0 */
	uint64_t old_then; /* bytes in blocks when the last whole collection ended */
	uint64_t old_bytes; /* in blocks */
	uint64_t promoted; /* bytes since the last whole collection began */
	uint64_t large_then; /* large objects' bytes when it ended */
	bool whole; /* this collection */
	unsigned int how; /* this collection, in full */
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
	uint64_t threads = __atomic_load_n(&heap->mutators.count, __ATOMIC_RELAXED), least;
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
	if (heap->opt.promote == GC_PROMOTE_DEFAULT)
		g->promotes = GSS_PROMOTE_ALL;
	else if (heap->opt.promote != GC_PROMOTE_NEVER)
		g->promotes = GSS_PROMOTE_SOME;
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

/* ---- following references ------------------------------------------------ */

gc_inline unsigned int how_of(const struct gc_copier *c, unsigned int how)
{
	return how == GSS_LOOK_UP ? gss_of(c->heap)->how : how;
}

/* Memory in the old space in a new run, or 0. The copier owns the block. */
static __attribute__((noinline)) uintptr_t promotion_room(struct gc_copier *c, size_t size)
{
	uintptr_t used;
	uint32_t page;

	if (size <= GC_CLASS_LARGEST)
		return gc_blocks_alloc(&c->own, size, true);
	page = gc_large_reserve(c->heap, size, true, &used);
	if (!page)
		return 0;
	/* Its bytes are overwritten. */
	gc_large_clear(c->heap, page, used, false);
	return gc_large_publish(c->heap, page);
}

/* Is an object that was in the bump space at the last collection to be promoted now? */
gc_inline bool promotion_choose(struct gc_copier *c, uint64_t word, size_t size)
{
	struct gc_heap *heap = c->heap;
	struct gss *g = gss_of(heap);

	/* Copied twice: it was eligible before and was held back. */
	if (heap->opt.promote == GC_PROMOTE_TUNED && (word & GC_AGE_MASK) >= 2u << GC_AGE_SHIFT)
		gc_promotion_met(&g->promotion, size);
	return gc_promotion_choose(heap, &g->promotion, size, c->rng);
}

/*
 * Memory in the old space for an object that was in the bump space at the last collection, or NULL
 * when it is to stay or no page is left. Only the owner of a block writes its words of the
 * survivors' bitmap; mark bits are also set in blocks of other copiers.
 */
gc_inline void *gss_promote(struct gc_copier *c, void *ref, uint64_t word, size_t size,
			    unsigned int how, const bool shared)
{
	struct gc_run *run;
	uintptr_t at;

	how = how_of(c, how);
	if (!(how & (GSS_PROMOTE_ALL | GSS_PROMOTE_SOME)) || (uintptr_t)ref >= c->aged)
		return NULL;
	if (!(how & GSS_PROMOTE_ALL) && !promotion_choose(c, word, size))
		return NULL;
	run = &c->own.m.run[size <= GC_SMALL_MAX ? size >> GC_GRANULE_SHIFT : 0];
	at = run->cursor;
	if (likely(at + size <= run->limit))
		run->cursor = at + size;
	else
		at = promotion_room(c, size);
	if (unlikely(!at))
		return NULL;
	if (how & GSS_WHOLE)
		gc_copy_take(c->heap->mark, at, shared);
	if (size <= GC_CLASS_LARGEST)
		c->old_bytes += gc_held_size(c->heap, size);
	gc_bit_set(c->heap->survivor, at);
	c->promoted_bytes += size;
	c->promoted++;
	return (void *)at;
}

/* An object of the old space is reached in a whole collection: count it. */
gc_inline void old_count(struct gc_copier *c, size_t size)
{
	c->objects++;
	c->bytes += size;
	if (size <= GC_CLASS_LARGEST)
		c->old_bytes += gc_held_size(c->heap, size);
}

/* The same where arrays were shrunk; pages of large objects are counted by their space. */
static __attribute__((noinline)) bool old_count_shrunk(struct gc_copier *c, void *ref, size_t size)
{
	c->objects++;
	c->bytes += size & ~(size_t)1;
	if (!gc_large_around(c->heap, (uintptr_t)ref))
		c->old_bytes += gc_held_shrunk(c->heap, (uintptr_t)ref, size & ~(size_t)1);
	return size & 1;
}

/* The same for one without a shape; true: it has references. */
static __attribute__((noinline)) bool old_count_other(struct gc_copier *c, void *ref, uint64_t word)
{
	size_t size = gc_copy_unshaped(c->heap, ref, word);

	if (unlikely(!c->heap->roots.plain))
		return old_count_shrunk(c, ref, size);
	old_count(c, size & ~(size_t)1);
	return size & 1;
}

/* A reference to an old object: only a whole collection traces those. */
gc_inline bool gss_outside(struct gc_copier *c, void *ref, unsigned int how, const bool shared)
{
	/* A loop for a certain collection reads nothing for that. */
	bool mixed = how == GSS_LOOK_UP ? c->mixed : how & GSS_MIXED;
	uint64_t word;
	size_t refs;

	if (!(how_of(c, how) & GSS_WHOLE) || (unlikely(mixed) && !gc_is_ref(c->heap, ref)) ||
	    !gc_copy_take(c->heap->mark, (uintptr_t)ref, shared))
		return false;
	word = gc_word(ref);
	refs = gc_shape_refs(word);
	if (unlikely(!refs))
		return old_count_other(c, ref, word);
	old_count(c, gc_shape_granules(word) << GC_GRANULE_SHIFT);
	return refs > sizeof(struct gc_header);
}

/*
 * An old object that refers to the bump space must be found again: dirty its card. That is enough
 * for what has a shape, which is small, and without promotion nothing small is old.
 */
gc_inline void gss_scanned(struct gc_copier *c, void *obj, bool young, unsigned int how)
{
	if (how & (GSS_PROMOTE_ALL | GSS_PROMOTE_SOME | GSS_LOOK_UP) && GC_NEEDED(2) && young &&
	    !gc_copy_young(c, obj))
		gc_card_dirty(c->heap, (uintptr_t)obj);
}

static const struct gc_copy_ops ops = {
	.promote = gss_promote,
	.outside = gss_outside,
	.scanned = gss_scanned,
};

gc_inline void gss_visit(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, GSS_LOOK_UP, false);
}

gc_inline void gss_visit_shared(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, GSS_LOOK_UP, true);
}

/* Visit the elements on the card at @at of an old array, and dirty it again if one is young. */
gc_inline void elements_scan(struct gc_copier *c, void *array, uintptr_t at, const bool shared)
{
	bool first = (uintptr_t)array == at;

	c->young = false;
	gc_card_elements(c->heap, array, at, shared ? gss_visit_shared : gss_visit, c);
	if (c->young && GC_NEEDED(2))
		__atomic_store_n(gc_card(c->heap, at), first ? GC_CARD_DIRTY : GC_CARD_ELEMENT,
				 __ATOMIC_RELAXED);
}

/* Scan an object of any type; a long old array card by card. */
gc_inline void object_scan(struct gc_copier *c, void *obj, const bool shared)
{
	uint64_t word = gc_word(obj);
	uintptr_t end;

	if (unlikely(word >> 32 >= GC_CARDED_LENGTH) && gc_in_pages(c->heap, (uintptr_t)obj) &&
	    gc_carded(gc_info(c->heap, word), word)) {
		end = (uintptr_t)obj + gc_object_size(c->heap, obj);
		for (uintptr_t at = (uintptr_t)obj; at < end; at += GC_CARD)
			elements_scan(c, obj, at, shared);
		return;
	}
	c->young = false;
	gc_copy_scan(c, obj, shared ? gss_visit_shared : gss_visit);
	gss_scanned(c, obj, c->young, GSS_LOOK_UP);
}

static __attribute__((noinline)) void gss_scan(struct gc_copier *c, void *obj, bool shared)
{
	/* Two calls, in which the visits are inlined */
	if (shared)
		object_scan(c, obj, true);
	else
		object_scan(c, obj, false);
}

static void gss_drain_shared(struct gc_copier *c)
{
	gc_copy_loop(c, true, &ops, GSS_LOOK_UP, GSS_LOOK_UP, gss_scan);
}

gc_inline void drain_how(struct gc_copier *c, const unsigned int how)
{
	gc_copy_loop(c, false, &ops, how, GSS_LOOK_UP, gss_scan);
}

/* The same where words are mixed. Not inlined: the other loops have more registers. */
static __attribute__((noinline)) void gss_drain_mixed(struct gc_copier *c)
{
	drain_how(c, GSS_PROMOTE_ALL | GSS_WHOLE | GSS_MIXED);
}

static __attribute__((noinline)) void gss_drain_any(struct gc_copier *c)
{
	drain_how(c, GSS_LOOK_UP);
}

/* For a single thread a loop for each promotion policy, of minor and of whole collections */
static void gss_drain(struct gc_copier *c)
{
	switch (gss_of(c->heap)->how) {
	case 0:
		drain_how(c, 0);
		break;
	case GSS_WHOLE:
		drain_how(c, GSS_WHOLE);
		break;
	case GSS_PROMOTE_ALL:
		drain_how(c, GSS_PROMOTE_ALL);
		break;
	case GSS_PROMOTE_ALL | GSS_WHOLE:
		drain_how(c, GSS_PROMOTE_ALL | GSS_WHOLE);
		break;
	case GSS_PROMOTE_SOME:
		drain_how(c, GSS_PROMOTE_SOME);
		break;
	case GSS_PROMOTE_SOME | GSS_WHOLE:
		drain_how(c, GSS_PROMOTE_SOME | GSS_WHOLE);
		break;
	case GSS_PROMOTE_ALL | GSS_WHOLE | GSS_MIXED:
		gss_drain_mixed(c);
		break;
	default:
		gss_drain_any(c);
		break;
	}
}

/* The card at @at, on which no object begins, has an element that was stored to. */
static void card_array_scan(struct gc_heap *heap, uintptr_t at)
{
	void *array = (void *)gc_large_around(heap, at);

	if (!array || !gc_bit_test(heap->live, (uintptr_t)array))
		return;
	if (gc_carded(gc_info(heap, gc_word(array)), gc_word(array)))
		elements_scan(gc_copy_first(heap), array, at, false);
	else
		object_scan(gc_copy_first(heap), array, false);
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
			card_array_scan(heap, at);
		for (; (at = gc_bit_next(heap->live, at, stop)) < stop; at += 8)
			object_scan(c, (void *)at, false);
	}
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
	.scan = gss_scan,
	.old = gss_old,
	.alive = gss_alive,
};

/* Is memory so short that the old space should be collected? */
static bool short_of_memory(const struct gc_heap *heap, const struct gss *g)
{
	uint64_t held = gc_pages_held(heap) + heap->bump->promise,
		 max = gc_load(&heap->budget.most);

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
		heap->verification.white = false;
		gc_verify_scan_clean(heap, obj, gc_verify_young);
		if (heap->verification.white)
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
	granted = heap->budget.granted;
	objects = heap->stats.allocated_objects;
	g->whole = choose_whole(heap, g);
	g->how = g->promotes | (g->whole ? GSS_WHOLE : 0);
	g->how |= g->whole && heap->roots.mixed ? GSS_MIXED : 0;
	c->kind = g->whole ? GC_KIND_MAJOR : GC_KIND_MINOR;
	if (heap->opt.verify & GC_VERIFY_CARD)
		verify_cards(heap);
	if (g->whole)
		begin_whole(heap, g);
	heap->weak.weaks.count = heap->weak.ephemerons.count = 0;
	gc_copying_trace(heap, &copying,
			 g->whole ? gc_load(&heap->budget.in_use) : gc_bump_used(heap->bump));
	sum = gc_copy_first(heap);
	g->old_bytes += sum->old_bytes;
	g->promoted += sum->promoted_bytes;
	gc_stat_add(&heap->stats.promoted_bytes, sum->promoted_bytes);
	gc_stat_add(&heap->stats.promoted_objects, sum->promoted);
	gc_phase_end(heap);
	/* Promotion changed the counters, but is no allocation by mutators: restore them. */
	__atomic_store_n(&heap->budget.granted, granted, __ATOMIC_RELAXED);
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
	__atomic_store_n(&heap->budget.in_use, c->live_bytes, __ATOMIC_RELAXED);
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
