// SPDX-License-Identifier: MIT
#include "inplace.h"
#include "large-object.h"

#include <errno.h>

#include "../listener/phase.h"
#include "../space/blocks.h"
#include "../space/large.h"
#include "../trace/mark.h"
#include "../trace/profiler.h"
#include "../trace/verify.h"

int gc_inplace_init(struct gc_heap *heap, struct gc_error *err)
{
	if (heap->opt.large > GC_CLASS_LARGEST)
		return gc_fail(err, -EINVAL, "large=%lld: plan=%s keeps objects up to %u in blocks",
			       (long long)heap->opt.large, heap->plan->name, GC_CLASS_LARGEST);
	if (gc_blocks_init(heap) || gc_large_init(heap))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	return 0;
}

void gc_inplace_fini(struct gc_heap *heap)
{
	gc_blocks_fini(heap);
	gc_large_fini(heap);
}

uintptr_t gc_inplace_alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_object(t, bytes, force);
	return gc_blocks_alloc(t, bytes, force);
}

void gc_inplace_flush(struct gc_thread *t)
{
	gc_blocks_flush(t);
}

bool gc_inplace_valid(struct gc_heap *heap, uintptr_t addr)
{
	return gc_in_pages(heap, addr) &&
	       (gc_large_valid(heap, addr) || gc_blocks_holds(heap, addr));
}

size_t gc_inplace_footprint(const struct gc_heap *heap)
{
	return gc_pages_held(heap);
}

void gc_inplace_sweep(struct gc_heap *heap)
{
	uint64_t done = 0, bytes;

	gc_phase_begin(heap, GC_PHASE_SWEEP, gc_pages_held(heap));
	while ((bytes = gc_blocks_sweep(heap)))
		gc_phase_work(heap, done += bytes);
	gc_phase_work(heap, done + gc_large_sweep(heap));
	gc_phase_end(heap);
}

void gc_inplace_sweep_rest(struct gc_heap *heap)
{
	while (gc_blocks_sweep(heap))
		;
}

void gc_inplace_turn_over(struct gc_heap *heap)
{
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		heap->plan->flush(t);
	gc_mark_count(heap);
	if (heap->profiler)
		gc_profiler_cycle(heap);
	gc_mark_swap(heap);
	gc_blocks_unsweep(heap);
	__atomic_store_n(&heap->budget.in_use, heap->cycle.live_bytes, __ATOMIC_RELAXED);
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
}
