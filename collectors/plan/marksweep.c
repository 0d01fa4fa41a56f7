// SPDX-License-Identifier: MIT
/*
 * marksweep: stop the world, mark, sweep when memory is needed. The plain baseline for
 * the concurrent and the moving plans.
 *
 * Invariants:
 *  - While mutators run, a cell of a swept block is free exactly when its live bit is clear and
 *    it is not in a thread's run.
 *  - A block is swept, by a thread that needs one or by the next collection, before its live
 *    bits are replaced.
 *  - While marking with a finger, a grey object is on the stack or ahead of the finger.
 */
#include "../listener/phase.h"
#include "../space/blocks.h"
#include "../space/large.h"
#include "../thread/safepoint.h"
#include "../trace/ambiguous.h"
#include "../trace/mark.h"
#include "inplace.h"

static void marksweep_collect(struct gc_heap *heap)
{
	gc_inplace_sweep_rest(heap);
	gc_mark_prepare(heap, false);
	gc_world_stop(heap);
	/* This plan uses cards only for overflows of the mark stack. */
	gc_mark_clean_cards(heap);
	if (heap->opt.trace == GC_TRACE_FINGER)
		gc_mark_set_finger(heap, 0);
	gc_ambiguous_hold(heap, heap->live);
	gc_all_roots(heap, gc_marker_visit, &heap->marker);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	gc_phase_begin(heap, GC_PHASE_MARK, gc_pace_expected(heap));
	gc_mark_concurrent(heap);
	gc_mark_finish(heap, NULL);
	gc_mark_weak(heap, NULL);
	gc_phase_end(heap);
	heap->cycle.exact = true;
	gc_inplace_turn_over(heap);
	/* Large objects are few and hold many pages: sweep them now. Blocks are swept lazily. */
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	gc_world_restart(heap);
}

const struct gc_plan gc_plan_marksweep = {
	.name = "marksweep",
	.summary = "stop-the-world mark-sweep over size-class blocks, swept lazily",
	.finger = true,
	.collect = marksweep_collect,
	GC_INPLACE,
};
