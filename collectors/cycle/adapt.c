// SPDX-License-Identifier: MIT
/* policy=adaptive: measures what each type of cycle costs and applies the rules to that. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "../policy/adapt-rule.h"
#include "../policy/choice.h"
#include "adapt.h"

struct gc_adapt {
	struct gc_choice_in in;
	uint64_t granted, waited; /* when the last cycle ended */
	double predicted_ns; /* predicted wait of each mutator in the next concurrent cycle */
	uint64_t grown, grown_cycle;
	uint32_t lock;
};

int gc_adapt_init(struct gc_heap *heap)
{
	struct gc_adapt *a = calloc(1, sizeof(*a));
	cpu_set_t cpus;

	if (!a)
		return -ENOMEM;
	a->in.mode = GC_MODE_CONCURRENT;
	a->in.cpus = 1;
	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) > 1)
		a->in.cpus = (unsigned int)CPU_COUNT(&cpus);
	heap->sizing.adapt = a;
	return 0;
}

void gc_adapt_fini(struct gc_heap *heap)
{
	free(heap->sizing.adapt);
	heap->sizing.adapt = NULL;
}

/* How much longer it took than at the highest frequency; 1 where the frequency is unknown. */
static double adapt_stretch(const struct gc_heap *heap)
{
	uint32_t effective = 0, highest = 0;

	if (!heap->sizing.frequency ||
	    heap->sizing.frequency(&effective, &highest, heap->sizing.frequency_arg))
		return 1;
	return gc_choice_stretch(effective, highest);
}

static uint64_t waited_ns(const struct gc_heap *heap)
{
	return gc_load(&heap->paused_ns[GC_PAUSE_WAIT]) + gc_load(&heap->paused_ns[GC_PAUSE_PACED]);
}

/* Smooth the difference between the measured and the predicted wait of a concurrent cycle. */
static void adapt_compare(struct gc_adapt *a, double waited_ns)
{
	double missed = waited_ns / a->in.mutators - a->predicted_ns;

	a->in.missed_ns = (a->in.missed_ns + missed) / 2;
}

void gc_adapt_cycle(struct gc_heap *heap, uint64_t ns, uint64_t cpu_ns)
{
	uint64_t limit = gc_load(&heap->budget.soft_limit),
		 start = gc_load(&heap->budget.concurrent_start);
	uint64_t granted = gc_load(&heap->budget.granted), live = gc_load(&heap->budget.live_bytes);
	const struct gc_cycle *c = &heap->cycle;
	uint64_t waited = waited_ns(heap);
	struct gc_adapt *a = heap->sizing.adapt;
	double slow = adapt_stretch(heap);
	struct gc_choice_seen last = {
		.work = (double)c->marked_bytes,
		.ns = (double)ns / slow,
		.cpu_ns = (double)cpu_ns / slow,
	};
	struct gc_choice_out out;
	enum gc_mode mode;

	a->in.room = live < limit ? (double)(limit - live) : 0;
	/* Before the first cycle the allocated bytes include what stays alive: hence the bound. */
	if (granted > a->granted)
		last.period = fmin((double)(granted - a->granted), a->in.room);
	a->granted = granted;
	a->in.mutators = __atomic_load_n(&heap->mutators.count, __ATOMIC_RELAXED);
	a->in.mutators += !a->in.mutators;
	if (c->cause == GC_CAUSE_CONCURRENT)
		adapt_compare(a, (double)(waited - a->waited));
	a->waited = waited;
	/* An explicit cycle comes before memory runs out: its period would distort the mean. */
	if (c->alone || c->cause == GC_CAUSE_CONCURRENT)
		gc_choice_see(&a->in.seen[c->alone ? GC_MODE_STW : GC_MODE_CONCURRENT], &last);
	a->in.alloc_rate = heap->budget.rate.bytes_per_ns;
	a->in.headroom = start < limit ? (double)(limit - start) : 0;
	mode = gc_choice(&a->in, &out);
	/* Without missed_ns: compared with its own correction, an error would never decay. */
	a->predicted_ns = fmax(out.need_ns - out.left_ns, 0);
	if (mode == a->in.mode)
		return;
	a->in.mode = mode;
	gc_stat_add(&heap->stats.daemon_switches, 1);
	__atomic_store_n(&heap->gc.daemon_on, mode == GC_MODE_CONCURRENT, __ATOMIC_RELAXED);
}

bool gc_adapt_grow(struct gc_heap *heap)
{
	struct gc_adapt *a = heap->sizing.adapt;
	uint64_t limit = gc_load(&heap->budget.soft_limit),
		 live = gc_load(&heap->budget.live_bytes), room;
	uint32_t effective = 0, highest = 0;
	bool grown = false;

	if (!heap->sizing.frequency ||
	    heap->sizing.frequency(&effective, &highest, heap->sizing.frequency_arg))
		return false;
	if (__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE))
		return false;
	if (a->grown_cycle != gc_load(&heap->stats.cycles)) {
		a->grown_cycle = gc_load(&heap->stats.cycles);
		a->grown = 0;
	}
	room = gc_adapt_room(
		effective, highest, limit - a->grown > live ? limit - a->grown - live : 0, a->grown,
		gc_load(&heap->budget.most) > limit ? gc_load(&heap->budget.most) - limit : 0);
	if (room) {
		a->grown += room;
		__atomic_store_n(&heap->budget.soft_limit, limit + room, __ATOMIC_RELAXED);
		gc_stat_add(&heap->stats.grown_instead, 1);
		grown = true;
	}
	__atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE);
	return grown;
}
