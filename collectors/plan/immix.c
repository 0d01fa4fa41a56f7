// SPDX-License-Identifier: MIT
/*
 * immix, stickyimmix: the modern baseline. Stop the world, mark objects and their lines,
 * bump through free lines. When memory was short, objects move out of blocks with many
 * holes as they are marked. With sticky marks a minor collection keeps the marks of the
 * last one: marked objects are old, and old objects on dirty cards are its roots.
 *
 * Invariants:
 *  - All lines that a marked object extends over are marked; a thread bumps through unmarked
 *    lines of a block that it alone owns.
 *  - Objects move only in collections of the whole heap, and only out of blocks that were
 *    chosen before the first root was scanned; an object whose mark bit is set does not move.
 *  - stickyimmix: between collections the mark bits are those of the old objects, and a
 *    reference from an old object to a new one lies on a dirty card.
 */
#include <errno.h>

#include "../listener/phase.h"
#include "../space/blocks.h"
#include "../space/large.h"
#include "../space/lines.h"
#include "../thread/safepoint.h"
#include "../trace/ambiguous.h"
#include "../trace/mark.h"
#include "../trace/verify.h"
#include "inplace.h"
#include "large-object.h"

/* A minor collection that leaves less than this part of the last room makes the next one a major. */
#define MINOR_YIELD 0.5

static int immix_init(struct gc_heap *heap, struct gc_error *err)
{
	if (heap->opt.large > GC_CLASS_LARGEST)
		return gc_fail(err, -EINVAL, "large=%lld: plan=%s keeps objects up to %u in lines",
			       (long long)heap->opt.large, heap->plan->name, GC_CLASS_LARGEST);
	if (gc_lines_init(heap) || gc_defrag_init(heap) || gc_large_init(heap))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	return 0;
}

static void immix_fini(struct gc_heap *heap)
{
	gc_defrag_fini(heap);
	gc_lines_fini(heap);
	gc_large_fini(heap);
}

static uintptr_t immix_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_object(t, bytes, force);
	return gc_lines_alloc(t, bytes, force);
}

static void immix_collect(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	bool minor = heap->plan->generational && !c->full && !heap->gc.next_major &&
		     heap->sizing.major_soft > 0 && c->cause != GC_CAUSE_OOM &&
		     c->cause != GC_CAUSE_EXPLICIT;
	size_t lines;

	c->kind = minor ? GC_KIND_MINOR : GC_KIND_MAJOR;
	while (gc_lines_sweep(heap))
		;
	gc_world_stop(heap);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		gc_lines_flush(t);
	if (minor) {
		/* The mark bits stay: those of old objects are set already. */
		gc_mark_swap(heap);
		gc_mark_reset(heap);
		if (heap->opt.verify & GC_VERIFY_CARD)
			gc_verify_cards(heap);
	} else {
		gc_mark_prepare(heap, false);
		gc_mark_clean_cards(heap);
		gc_lines_clear(heap);
		gc_defrag_begin(heap);
		gc_marker_set_mode(&heap->marker);
	}
	/* In a minor collection the mark bits include those of the objects that the last one left. */
	gc_ambiguous_hold(heap, minor ? heap->mark : heap->live);
	gc_all_roots(heap, gc_marker_visit, &heap->marker);
	if (minor && !GC_NEEDED(5))
		gc_mark_clean_cards(heap);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	gc_phase_begin(heap, GC_PHASE_MARK, gc_pace_expected(heap));
	gc_mark_concurrent(heap);
	gc_mark_finish(heap, NULL);
	gc_mark_weak(heap, NULL);
	gc_phase_end(heap);
	gc_mark_count(heap);
	gc_mark_swap(heap);
	gc_defrag_end(heap);
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	c->exact = !minor;
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
	gc_phase_work(heap, gc_large_sweep(heap));
	lines = gc_lines_unsweep(heap);
	c->live_bytes = lines + heap->large->bytes;
	if (!minor)
		gc_defrag_found(heap, lines, c->marked_bytes - heap->large->bytes);
	__atomic_store_n(&heap->budget.in_use, c->live_bytes, __ATOMIC_RELAXED);
	gc_phase_end(heap);
	heap->gc.next_major = minor && heap->sizing.major_soft - (double)c->live_bytes <
					       heap->sizing.major_room * MINOR_YIELD;
	gc_world_restart(heap);
}

static bool immix_valid(struct gc_heap *heap, uintptr_t addr)
{
	return gc_in_pages(heap, addr) &&
	       (gc_large_valid(heap, addr) || gc_lines_holds(heap, addr));
}

static bool immix_kept(struct gc_heap *heap, uintptr_t addr)
{
	return gc_bit_test(heap->live, addr);
}

#define IMMIX                                                                                      \
	.bump = true, .pins = true, .init = immix_init, .fini = immix_fini, .alloc = immix_alloc,  \
	.flush = gc_lines_flush, .collect = immix_collect, .valid = immix_valid,                   \
	.kept = immix_kept, .sweep = gc_lines_sweep, .footprint = gc_inplace_footprint,            \
	.release = gc_pages_release

const struct gc_plan gc_plan_immix = {
	.name = "immix",
	.summary = "stop-the-world mark-region over lines, defragmenting when memory is short",
	IMMIX,
};

const struct gc_plan gc_plan_stickyimmix = {
	.name = "stickyimmix",
	.summary = "immix with sticky mark bits: minor collections mark only what is new",
	.generational = true,
	.minor = GC_MINOR_KEEP,
	IMMIX,
};
