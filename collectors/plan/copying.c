// SPDX-License-Identifier: MIT
#include "copying.h"

#include <errno.h>

#include "../space/pages.h"

int gc_copying_check(struct gc_options *opt, struct gc_error *err)
{
	if (gc_overflow_uses_cards(opt->overflow))
		return gc_fail(err, -EINVAL,
			       "overflow: plan=%s copies objects and cannot recover by cards; give "
			       "grow, reserve or scan-all",
			       opt->plan);
	return 0;
}

void gc_copying_stop(struct gc_heap *heap)
{
	gc_world_stop(heap);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		gc_bump_flush(t);
}

/* Copy until no object is grey, which includes the recovery from stack overflows. */
static bool copying_drain(struct gc_heap *heap, const void *arg)
{
	const struct gc_copying *how = arg;

	how->drain(gc_copy_first(heap));
	while (gc_copy_recover(heap, how->old(heap), how->scan, how->drain))
		;
	return true;
}

uint64_t gc_copying_trace(struct gc_heap *heap, const struct gc_copying *how, uint64_t total)
{
	struct gc_copier *first = gc_copy_first(heap);
	const struct gc_weak_ops weak = {
		.alive = how->alive,
		.keep = how->visit,
		.arg = first,
		.drain = copying_drain,
		.drain_arg = how,
	};
	uint64_t copied;

	heap->stack.dropped = false;
	gc_bump_open(heap);
	gc_copy_begin(heap);
	gc_phase_begin(heap, GC_PHASE_COPY, total);
	gc_all_roots(heap, how->visit, first);
	if (how->roots)
		how->roots(heap);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	gc_copy_share(heap, how->drain_shared);
	copying_drain(heap, how);
	gc_weak_process(heap, &weak);
	gc_copy_end(heap);
	copied = heap->bump->to - heap->bump->start[!heap->bump->now];
	gc_stat_add(&heap->stats.copied_bytes, copied);
	return copied;
}

size_t gc_copying_footprint(const struct gc_heap *heap)
{
	return gc_pages_held(heap) + gc_bump_footprint(heap);
}

uint64_t gc_copying_room(const struct gc_heap *heap, uint64_t want, bool most)
{
	uint64_t room = most ? gc_bump_left(heap) : gc_bump_room(heap);

	return want < room ? want : room;
}

size_t gc_copying_release(struct gc_heap *heap)
{
	return gc_pages_release(heap) + gc_bump_release(heap, 0);
}

void gc_copying_keep_in_max(struct gc_heap *heap)
{
	uint64_t held = gc_pages_held(heap) + heap->bump->promise;
	uint64_t max = gc_load(&heap->budget.most);

	if (heap->opt.poison)
		return;
	gc_space_lock(heap);
	/* When memory ran out, pages may need all that the bump spaces can spare. */
	gc_bump_keep(heap, held < max && heap->cycle.cause != GC_CAUSE_OOM ?
				   (size_t)(max - held) / 2 :
				   0);
	gc_space_unlock(heap);
}
