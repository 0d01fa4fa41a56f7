// SPDX-License-Identifier: MIT
#include "headroom.h"

#include "plan.h"

uint64_t gc_headroom_most(const struct gc_heap *heap)
{
	uint64_t used = gc_load(&heap->budget.in_use), limit = gc_load(&heap->budget.most), left;

	if (heap->opt.sizing == GC_SIZING_FIXED)
		limit = gc_load(&heap->budget.soft_limit);
	left = used < limit ? limit - used : 0;
	return heap->plan->room ? heap->plan->room(heap, left, true) : left;
}

uint64_t gc_headroom(const struct gc_heap *heap)
{
	uint64_t used = gc_load(&heap->budget.in_use), limit = gc_load(&heap->budget.soft_limit),
		 room;

	if (limit > gc_load(&heap->budget.most) ||
	    (heap->opt.policy == GC_POLICY_BG && gc_daemon_up(heap)))
		limit = gc_load(&heap->budget.most);
	/* A paced mutator waits at this limit unless the marking ends first. */
	if (__atomic_load_n(&heap->budget.pace.on, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&heap->budget.pace.tight, __ATOMIC_RELAXED))
		limit = gc_load(&heap->budget.pace.base) + gc_load(&heap->budget.pace.room) / 8 * 7;
	room = used < limit ? limit - used : 0;
	/* The space may be exhausted first. */
	return heap->plan->room ? heap->plan->room(heap, room, false) : room;
}
