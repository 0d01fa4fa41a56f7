// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "pace.h"

#include "futex.h"
#include "headroom.h"

/* A wait takes this part of a cycle, but must be long compared with a wake-up. */
#define SLICES	    32
#define SHORTEST_NS 120000
/* Expected bytes to mark, relative to the last cycle of the same enum gc_kind */
#define GROWTH 1.25

uint64_t gc_pace_allowed(const struct gc_pace *p)
{
	uint64_t work = p->done < p->work ? p->work : p->most;
	double x = p->done < work ? (double)p->done / (double)work : 1;

	return p->base + (uint64_t)((double)p->room * (1 + 13 * x) / 16);
}

static void counter_set(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

uint64_t gc_pace_expected(const struct gc_heap *heap)
{
	uint64_t used = gc_load(&heap->budget.in_use),
		 last = heap->sizing.marked_of[heap->cycle.kind];

	return last && last < used ? last : used;
}

uint64_t gc_pace_slice(uint64_t most, uint64_t cycle_ns)
{
	uint64_t slice = cycle_ns / SLICES;

	if (slice < SHORTEST_NS)
		slice = SHORTEST_NS;
	return slice < most ? slice : most;
}

static bool pace_applies(const struct gc_heap *heap)
{
	/* Where only the daemon collects, mutators may allocate beyond the limit. */
	return heap->opt.pace && !(heap->opt.policy == GC_POLICY_BG && gc_daemon_up(heap));
}

void gc_pace_order(struct gc_heap *heap)
{
	struct gc_pace *p = &heap->budget.pace;

	if (!pace_applies(heap))
		return;
	__atomic_store_n(&p->tight, 0, __ATOMIC_RELAXED);
	counter_set(&p->base, gc_load(&heap->budget.in_use));
	counter_set(&p->room, gc_headroom(heap));
	counter_set(&p->most, UINT64_MAX);
	counter_set(&p->work, UINT64_MAX);
	counter_set(&p->done, 0);
	__atomic_store_n(&p->on, 1, __ATOMIC_RELEASE);
}

void gc_pace_begin(struct gc_heap *heap)
{
	uint64_t used = gc_load(&heap->budget.in_use), live = gc_load(&heap->budget.live_bytes);
	/* A minor cycle does not mark survivors of the last one. */
	uint64_t most = heap->cycle.kind == GC_KIND_MINOR && used > live ? used - live : used;
	uint64_t last = heap->sizing.marked_of[heap->cycle.kind];
	uint64_t work = (uint64_t)((double)(last ? last : live) * GROWTH);
	struct gc_pace *p = &heap->budget.pace;

	if (!pace_applies(heap))
		return;
	__atomic_store_n(&p->on, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->tight, 0, __ATOMIC_RELAXED);
	/* Atomic: a mutator that still waits for the previous cycle may read these. */
	counter_set(&p->base, used);
	counter_set(&p->room, gc_headroom(heap));
	counter_set(&p->most, most);
	counter_set(&p->work, work && work < most ? work : most);
	counter_set(&p->done, 0);
	__atomic_store_n(&p->on, 1, __ATOMIC_RELEASE);
}

void gc_pace_tighten(struct gc_heap *heap, uint64_t bytes)
{
	struct gc_pace *p = &heap->budget.pace;

	if (!pace_applies(heap))
		return;
	__atomic_store_n(&p->on, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->tight, 1, __ATOMIC_RELAXED);
	counter_set(&p->base, gc_load(&heap->budget.in_use));
	/* With the marking done, gc_pace_allowed() returns base + room / 16 * 14: that is @bytes. */
	counter_set(&p->room, bytes / 14 * 16);
	counter_set(&p->work, 1);
	counter_set(&p->most, 1);
	counter_set(&p->done, 1);
	__atomic_store_n(&p->on, 1, __ATOMIC_RELEASE);
}

void gc_pace_end(struct gc_heap *heap)
{
	if (__atomic_exchange_n(&heap->budget.pace.on, 0, __ATOMIC_RELEASE))
		gc_futex_wake(&heap->budget.pace.on, INT32_MAX);
}
