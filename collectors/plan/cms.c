// SPDX-License-Identifier: MIT
/*
 * cms, cmsfly, gencms: the Dalvik seed's collectors (Hussein et al. 2015, sections 2.1
 * and 3). Two pauses around concurrent marking:
 *
 *	pause		mark roots
 *	concurrent	mark, also what marked objects on dirty cards refer to: in a minor
 *			cycle of gencms survivors are marked from the beginning
 *	pause		mark roots again, scan dirty cards, weak references, mark becomes live
 *	concurrent	sweep
 *
 * cmsfly has no first pause: each thread stops only for the scan of its own stack. The program
 * may change roots that it registered globally whenever mutators run, so if there are any, they
 * are scanned in a short pause.
 * New objects are not marked when they are allocated: one that the second pause does
 * not reach is swept in the same cycle.
 *
 * Invariants:
 *  - While marking, no reference leads from a scanned object to an unmarked one but from a
 *    dirty card: the mutator stores before it dirties the card, the marker cleans the card
 *    before it scans. gc_verify_cards() checks it in the second pause.
 *  - Nothing is swept before the second pause marked all roots and all dirty cards.
 *  - Only markers write mark bits. Live bits belong to the owner of the block, and change places
 *    with the mark bits while the world is stopped and no thread has a run.
 *  - gencms: between cycles the survivors' bits are a subset of the live bits, and a reference
 *    from a survivor to an object that is none lies on a dirty card.
 */
#include "../heap/order.h"
#include "../listener/phase.h"
#include "../space/blocks.h"
#include "../space/large.h"
#include "../thread/safepoint.h"
#include "../thread/threads.h"
#include "../trace/ambiguous.h"
#include "../trace/mark.h"
#include "../trace/verify.h"
#include "inplace.h"

#define REMARK_TRIES 12
/* Maximum of passes over dirty cards before the second pause; cards that are worth a pass */
#define PRECLEAN_MOST 4
#define PRECLEAN_FEW  1024
/* Minimum of bytes that mutators may allocate while the second pause is put off */
#define ROUND_LEAST (64u << 10)

static void scan_thread(struct gc_heap *heap, struct gc_thread *t)
{
	gc_thread_roots(t, gc_marker_visit, &heap->marker);
}

/* Minor or major, by the seed's rules (section 3.1). */
static enum gc_kind cycle_choose(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;

	if (!heap->plan->generational || c->full || !heap->sizing.major_soft ||
	    c->cause == GC_CAUSE_TRIM || c->cause == GC_CAUSE_OOM)
		return GC_KIND_MAJOR;
	/* Mutators never run a major collection: they set next_major for the daemon. */
	if (c->self && gc_daemon_up(heap) && !c->alone) {
		heap->gc.next_major |= c->cause == GC_CAUSE_ALLOC || c->cause == GC_CAUSE_EXPLICIT;
		return GC_KIND_MINOR;
	}
	if (heap->gc.next_major || (double)heap->budget.live_bytes > heap->sizing.major_soft)
		return GC_KIND_MAJOR;
	return GC_KIND_MINOR;
}

static void mark_roots_ragged(struct gc_heap *heap)
{
	bool stop;

	gc_threads_ragged(heap, scan_thread);
	/* Roots that are registered from here on wait for the second pause. */
	stop = gc_roots_registered(heap);
	if (stop) {
		gc_world_stop(heap);
		gc_global_roots(heap, gc_marker_visit, &heap->marker);
	} else {
		gc_finalized_roots(heap, gc_marker_visit, &heap->marker);
	}
	gc_phase_stop(heap, GC_EDGE(roots_done));
	if (stop)
		gc_world_restart(heap);
}

/* Mark the roots for the first time; leaves them grey. */
static void mark_roots(struct gc_heap *heap, bool stw)
{
	bool minor = heap->cycle.kind == GC_KIND_MINOR;

	gc_mark_prepare(heap, minor);
	/*
	 * Before the first thread is scanned: if this cleans the card of a concurrent store,
	 * that store came before any marking, and its thread passes a safepoint before tracing
	 * begins. And before the first push: card+filter leaves objects to dirty cards.
	 */
	if (!minor)
		gc_mark_clean_cards(heap);
	if (heap->plan->ragged && !stw && heap->opt.stack != GC_STACK_CONSERVATIVE) {
		mark_roots_ragged(heap);
		return;
	}
	gc_world_stop(heap);
	if (heap->opt.trace == GC_TRACE_FINGER)
		gc_mark_set_finger(heap, 0);
	if (minor && heap->opt.verify & GC_VERIFY_CARD)
		gc_verify_cards(heap);
	gc_ambiguous_hold(heap, heap->live);
	gc_all_roots(heap, gc_marker_visit, &heap->marker);
	if (minor && !GC_NEEDED(5))
		gc_mark_clean_cards(heap);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	if (!stw)
		gc_world_restart(heap);
}

/*
 * Bound mutators to half of what they allocated since @used bytes were in use; returns the bytes
 * in use now.
 */
static uint64_t next_round(struct gc_heap *heap, uint64_t used)
{
	uint64_t now = gc_load(&heap->budget.in_use), half = now > used ? (now - used) / 2 : 0;

	gc_pace_tighten(heap, half > ROUND_LEAST ? half : ROUND_LEAST);
	return now;
}

/* Do all mutators wait for the cycle? Then there is no reason to keep the last pause short. */
static bool all_wait(const struct gc_heap *heap)
{
	return gc_threads_wait(heap) >= __atomic_load_n(&heap->mutators.count, __ATOMIC_RELAXED);
}

/*
 * Clean dirty cards while mutators run, and repeat that while there are many: the next pass finds
 * cards that mutators dirtied during this one. Returns the bytes in use when the last pass began.
 */
static uint64_t cards_preclean(struct gc_heap *heap)
{
	uint64_t used = gc_load(&heap->budget.in_use);

	for (int passes = PRECLEAN_MOST;;) {
		uint64_t found = heap->stats.cards_dirty;

		gc_mark_cards(heap, NULL, true);
		found = heap->stats.cards_dirty - found;
		if (!--passes || found < PRECLEAN_FEW)
			return used;
		used = next_round(heap, used);
	}
}

/*
 * The second pause. With remark-limit= it gives up in time and goes back to concurrent marking
 * (after Endo and Taura), unless all mutators wait for the cycle anyway. The limit doubles each
 * time, so that this ends. What is left to mark was allocated since the last round began, when
 * @used bytes were in use. Mutators that allocate as fast as the collector marks would leave as
 * much in each round, so each round allows them half as much.
 */
static void pause_remark(struct gc_heap *heap, uint64_t used)
{
	uint64_t limit = (uint64_t)heap->opt.remark_limit * 1000;

	for (int tries = 0;; tries++) {
		struct gc_deadline deadline = { 0 };
		bool done, waited = all_wait(heap);

		gc_world_stop(heap);
		gc_phase_begin(heap, GC_PHASE_REMARK, 0);
		if (heap->opt.verify & GC_VERIFY_CARD)
			gc_verify_cards(heap);
		gc_ambiguous_hold(heap, heap->live);
		if (limit && tries < REMARK_TRIES && !waited)
			deadline.at_ns = gc_now() + (limit << tries);
		done = gc_mark_finish(heap, &deadline) && gc_mark_weak(heap, &deadline);
		if (done)
			return;
		gc_stat_add(&heap->stats.remark_timeouts, 1);
		gc_phase_end(heap);
		used = next_round(heap, used);
		gc_world_restart(heap);
		gc_phase_begin(heap, GC_PHASE_MARK, 0);
		gc_mark_concurrent(heap);
		gc_mark_cards(heap, NULL, true);
		gc_phase_end(heap);
	}
}

static void keep_survivors(struct gc_heap *heap)
{
	size_t first = heap->base >> GC_WORD_SHIFT, last = gc_high(heap) >> GC_WORD_SHIFT;

	/* The live bits already include the survivors: a minor cycle's mark bits began as those. */
	memcpy(&heap->survivor[first], &heap->live[first], (last - first) * sizeof(uint64_t));
}

/*
 * Choose between a minor and a major next collection. In a heap of fixed size survivors never
 * pass the limit, which would be the seed's rule; they use up the room instead, so there the cost
 * decides. @rescanned: value of the counter before the cycle
 */
static void set_next(struct gc_heap *heap, uint64_t rescanned)
{
	const struct gc_cycle *c = &heap->cycle;
	bool major = c->kind == GC_KIND_MAJOR;
	double work = (double)c->marked_objects;
	double live = (double)c->live_bytes;

	if (!major)
		work -= (double)heap->budget.live_objects;
	else
		heap->gc.next_major = false;
	work += (double)(heap->stats.rescanned_objects - rescanned);
	if (heap->opt.sizing == GC_SIZING_FIXED)
		heap->gc.next_major |= gc_generation_end(&heap->sizing.generation, major, work,
							 live - (double)heap->budget.live_bytes,
							 (double)heap->opt.heap - live);
}

static void cms_collect(struct gc_heap *heap)
{
	uint64_t rescanned = heap->stats.rescanned_objects, used;
	struct gc_cycle *c = &heap->cycle;
	bool stw = c->foreground && c->cause != GC_CAUSE_EXPLICIT &&
		   (heap->opt.foreground == GC_FG_STW || c->alone || c->cause == GC_CAUSE_OOM ||
		    heap->profiler);

	c->kind = cycle_choose(heap);
	gc_inplace_sweep_rest(heap);
	mark_roots(heap, stw);
	if (!stw)
		gc_pace_begin(heap);
	gc_phase_begin(heap, GC_PHASE_MARK, gc_pace_expected(heap));
	gc_mark_concurrent(heap);
	used = gc_load(&heap->budget.in_use);
	if (!stw)
		gc_stress_sleep(heap);
	if (!stw && (heap->opt.preclean || c->kind == GC_KIND_MINOR) && !all_wait(heap))
		used = cards_preclean(heap);
	if (!stw)
		gc_stress_sleep(heap);
	gc_phase_end(heap);
	if (stw) {
		gc_phase_begin(heap, GC_PHASE_REMARK, 0);
		gc_mark_finish(heap, NULL);
		gc_mark_weak(heap, NULL);
	} else {
		pause_remark(heap, used);
	}
	gc_phase_end(heap);
	c->exact = stw && c->kind == GC_KIND_MAJOR;
	gc_inplace_turn_over(heap);
	if (heap->plan->generational) {
		keep_survivors(heap);
		set_next(heap, rescanned);
	}
	if (stw) {
		gc_inplace_sweep(heap);
		gc_world_restart(heap);
	} else {
		gc_world_restart(heap);
		gc_cycle_usable(heap);
		gc_inplace_sweep(heap);
	}
}

const struct gc_plan gc_plan_cms = {
	.name = "cms",
	.summary = "Dalvik's mostly-concurrent mark-sweep",
	.concurrent = true,
	.finger = true,
	.collect = cms_collect,
	GC_INPLACE,
};

const struct gc_plan gc_plan_cmsfly = {
	.name = "cmsfly",
	.summary = "cms that scans each thread's stack on the fly",
	.concurrent = true,
	.ragged = true,
	.collect = cms_collect,
	GC_INPLACE,
};

/* ahead=1, no margin: the cost of a minor cycle does not depend on how early it begins. */
static int check_gencms(struct gc_options *opt, struct gc_error *err)
{
	(void)err;
	if (!gc_options_given(opt, "ahead"))
		opt->ahead = 1;
	return 0;
}

const struct gc_plan gc_plan_gencms = {
	.name = "gencms",
	.summary = "cms with a generation of survivors",
	.concurrent = true,
	.generational = true,
	.minor = GC_MINOR_ROOM,
	.check = check_gencms,
	.collect = cms_collect,
	GC_INPLACE,
};
