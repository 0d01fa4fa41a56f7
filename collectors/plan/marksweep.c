// SPDX-License-Identifier: MIT
/*
 * marksweep: stop the world, mark, sweep when memory is needed. The plain control that
 * the concurrent and the moving plans are measured against.
 *
 * Invariants:
 *  - While mutators run, a cell of a swept block is free exactly when its live bit is clear and
 *    it is not in a thread's run.
 *  - A block is swept, by whoever needs one or by the next collection, before its live bits
 *    are replaced.
 *  - While marking with a finger, what is marked and not on the stack lies ahead of it.
 */
#include "../mech/mark.h"
#include "../mech/phase.h"
#include "../mech/safepoint.h"
#include "../space/blocks.h"
#include "../space/large.h"
#include "inplace.h"

static void collect(struct gc_heap *heap)
{
	gc_inplace_sweep_rest(heap);
	gc_mark_prepare(heap, false);
	gc_world_stop(heap);
	/* cards serve only a mark stack that overflows */
	gc_mark_clean_cards(heap);
	/* Before the first root: what lies ahead of the finger is met by the walk alone. */
	if (heap->opt.trace == GC_TRACE_FINGER)
		heap->finger = 0;
	gc_all_roots(heap, gc_mark_slot, heap);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	gc_phase_begin(heap, GC_PHASE_MARK, gc_load(&heap->in_use));
	gc_mark_concurrent(heap);
	gc_mark_finish(heap, NULL);
	gc_mark_weak(heap);
	gc_phase_end(heap);
	heap->cycle.exact = true;
	gc_inplace_turn_over(heap);
	/* Large objects are few and their pages are wanted at once; blocks are swept lazily. */
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	gc_world_restart(heap);
}

const struct gc_plan gc_plan_marksweep = {
	.name = "marksweep",
	.summary = "stop-the-world mark-sweep over size-class blocks, swept lazily",
	.finger = true,
	.collect = collect,
	GC_INPLACE,
};
