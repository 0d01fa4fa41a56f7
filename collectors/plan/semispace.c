// SPDX-License-Identifier: MIT
/*
 * semispace: stop the world and copy what is reachable to the other half. Large objects
 * stay where they are and are marked.
 *
 * Invariants:
 *  - While mutators run no reference leads to from-space, and to-space is empty.
 *  - While copying, a header in from-space is the object's own, a claim, or its new address:
 *    the thread that stored the claim copies, all others wait for the address.
 *  - The live bits in the pages belong to large objects.
 */
#include <errno.h>

#include "copying.h"
#include "large-object.h"

static size_t semispace_capacity(const struct gc_options *opt)
{
	return gc_align((size_t)opt->max / 2, 1 << 20);
}

static size_t semispace_space(const struct gc_options *opt)
{
	return 2 * gc_bump_span(semispace_capacity(opt));
}

static int semispace_init(struct gc_heap *heap, struct gc_error *err)
{
	if (gc_bump_init(heap, heap->pages_end, semispace_capacity(&heap->opt)) ||
	    gc_large_init(heap) || gc_workers_init(heap))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	return 0;
}

static void semispace_fini(struct gc_heap *heap)
{
	gc_workers_fini(heap);
	gc_bump_fini(heap);
	gc_large_fini(heap);
}

static uintptr_t semispace_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_object(t, bytes, force);
	return gc_bump_alloc(t, bytes, force);
}

/* A large object was reached: it stays where it is. */
static __attribute__((noinline)) bool semispace_keep(struct gc_copier *c, void *ref)
{
	size_t size = gc_copy_unshaped(c->heap, ref, gc_word(ref));

	c->objects++;
	c->bytes += gc_large_size(size & ~(size_t)1);
	return size & 1;
}

gc_inline bool semispace_outside(struct gc_copier *c, void *ref, unsigned int how,
				 const bool shared)
{
	struct gc_heap *heap = c->heap;

	(void)how;
	if (!gc_is_ref(heap, ref) || !gc_copy_take(heap->mark, (uintptr_t)ref, shared))
		return false;
	return semispace_keep(c, ref);
}

static const struct gc_copy_ops ops = { .outside = semispace_outside };

gc_inline void semispace_visit(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, 0, false);
}

gc_inline void semispace_visit_shared(void **slot, void *c)
{
	gc_copy_slot(c, slot, &ops, 0, true);
}

static __attribute__((noinline)) void semispace_scan(struct gc_copier *c, void *obj, bool shared)
{
	/* Two calls, in which the visits are inlined */
	if (shared)
		gc_copy_scan(c, obj, semispace_visit_shared);
	else
		gc_copy_scan(c, obj, semispace_visit);
}

static void semispace_drain_shared(struct gc_copier *c)
{
	gc_copy_loop(c, true, &ops, 0, 0, semispace_scan);
}

static void semispace_drain(struct gc_copier *c)
{
	gc_copy_loop(c, false, &ops, 0, 0, semispace_scan);
}

/* Only large objects are in the pages. */
static const uint64_t *semispace_old(struct gc_heap *heap)
{
	return heap->mark;
}

static bool semispace_alive(struct gc_heap *heap, void **ref)
{
	if (gc_bump_has(heap->bump, (uintptr_t)*ref))
		return gc_copy_kept(ref);
	return gc_bump_to(heap->bump, (uintptr_t)*ref) || gc_bit_test(heap->mark, (uintptr_t)*ref);
}

static const struct gc_copying copying = {
	.visit = semispace_visit,
	.drain = semispace_drain,
	.drain_shared = semispace_drain_shared,
	.scan = semispace_scan,
	.old = semispace_old,
	.alive = semispace_alive,
};

static void semispace_collect(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	uint64_t copied;

	gc_copying_stop(heap);
	gc_mark_prepare(heap, false);
	copied = gc_copying_trace(heap, &copying, gc_load(&heap->budget.in_use));
	/* In addition to large objects, which were marked in place */
	c->marked_bytes += copied;
	c->live_bytes = c->marked_bytes;
	gc_phase_end(heap);
	gc_bump_flip(heap);
	gc_mark_swap(heap);
	__atomic_store_n(&heap->budget.in_use, c->live_bytes, __ATOMIC_RELAXED);
	c->exact = true;
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	gc_copying_keep_in_max(heap);
	gc_world_restart(heap);
}

static bool semispace_valid(struct gc_heap *heap, uintptr_t addr)
{
	if (gc_in_pages(heap, addr))
		return gc_large_valid(heap, addr);
	return gc_bump_has(heap->bump, addr) && gc_bit_test(heap->live, addr);
}

const struct gc_plan gc_plan_semispace = {
	.name = "semispace",
	.summary = "stop-the-world copying between two halves",
	.check = gc_copying_check,
	.space = semispace_space,
	.init = semispace_init,
	.fini = semispace_fini,
	.alloc = semispace_alloc,
	.collect = semispace_collect,
	.valid = semispace_valid,
	GC_COPYING,
};
