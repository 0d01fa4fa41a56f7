// SPDX-License-Identifier: MIT
/* Measures windows of a few cycles for policy=adaptive and does what the rule says. */
#include <errno.h>
#include <stdlib.h>

#include "adapt-rule.h"
#include "heap.h"

#define WINDOW_CYCLES 4

struct gc_adapt {
	struct gc_adapt_in in;
	unsigned int cycles;
	uint64_t begin_ns, paused, sync;
	uint64_t grown, grown_cycle;
	uint32_t lock;
};

static uint64_t paused_ns(const struct gc_heap *heap)
{
	uint64_t ns = 0;

	for (int i = 0; i < GC_PAUSE_COUNT; i++)
		ns += gc_load(&heap->paused_ns[i]);
	return ns;
}

static uint64_t sync_ns(const struct gc_heap *heap)
{
	return gc_load(&heap->stats.contention_ns) + gc_load(&heap->stats.time_to_safepoint_ns) +
	       gc_load(&heap->paused_ns[GC_PAUSE_WAIT]) + gc_load(&heap->paused_ns[GC_PAUSE_PACED]);
}

int gc_adapt_init(struct gc_heap *heap)
{
	struct gc_adapt *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->in.score[0] = a->in.score[1] = -2;
	a->in.daemon_on = true;
	a->begin_ns = gc_now();
	heap->adapt = a;
	return 0;
}

void gc_adapt_fini(struct gc_heap *heap)
{
	free(heap->adapt);
	heap->adapt = NULL;
}

/* A cycle ended; its turn is still held. */
void gc_adapt_cycle(struct gc_heap *heap)
{
	struct gc_adapt *a = heap->adapt;
	uint64_t now, paused, sync;
	double span;
	bool on;

	if (++a->cycles < WINDOW_CYCLES)
		return;
	now = gc_now();
	paused = paused_ns(heap);
	sync = sync_ns(heap);
	span = (double)(now - a->begin_ns) * (double)(heap->thread_count ? heap->thread_count : 1);
	a->in.utilisation = 1 - (double)(paused - a->paused) / span;
	a->in.sync = (double)(sync - a->sync) / span;
	a->in.windows++;
	on = gc_adapt_daemon(&a->in);
	if (on != a->in.daemon_on) {
		a->in.daemon_on = on;
		a->in.windows = 0;
		heap->stats.daemon_switches++;
		__atomic_store_n(&heap->gc.daemon_on, on, __ATOMIC_RELAXED);
	}
	a->cycles = 0;
	a->begin_ns = now;
	a->paused = paused;
	a->sync = sync;
}

/* A mutator is at the soft limit: raise the limit (true), or collect? */
bool gc_adapt_grow(struct gc_heap *heap)
{
	struct gc_adapt *a = heap->adapt;
	uint64_t limit = gc_load(&heap->soft_limit), live = gc_load(&heap->live_bytes), room;
	uint32_t effective = 0, highest = 0;
	bool grown = false;

	if (!heap->frequency || heap->frequency(&effective, &highest, heap->frequency_arg))
		return false;
	if (__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE))
		return false;
	if (a->grown_cycle != gc_load(&heap->stats.cycles)) {
		a->grown_cycle = gc_load(&heap->stats.cycles);
		a->grown = 0;
	}
	room = gc_adapt_room(effective, highest,
			     limit - a->grown > live ? limit - a->grown - live : 0, a->grown,
			     (uint64_t)heap->opt.max > limit ? (uint64_t)heap->opt.max - limit : 0);
	if (room) {
		a->grown += room;
		__atomic_store_n(&heap->soft_limit, limit + room, __ATOMIC_RELAXED);
		heap->stats.grown_instead++;
		grown = true;
	}
	__atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE);
	return grown;
}
