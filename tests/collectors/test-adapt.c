// SPDX-License-Identifier: MIT
/*
 * Description: policy=adaptive: what is measured in each cycle, and by how much the heap grows,
 * on a heap with scripted figures. Includes the source file to see its private state.
 */
#define _GNU_SOURCE
#include "tap.h"

#include "cycle/adapt.c"
#include "heap/heap.h"

#define MIB (1 << 20)
#define MS  1000000

static struct gc_heap *heap;
static struct gc_adapt *adapt;

static uint32_t speed; /* kHz; 0: the kernel reports nothing */

static int frequency(uint32_t *effective_khz, uint32_t *highest_khz, void *arg)
{
	(void)arg;
	if (!speed)
		return -ENODATA;
	*effective_khz = speed;
	*highest_khz = 2000000;
	return 0;
}

/* 28 MiB of which 12 live; a cycle begins at 18; a MiB is allocated in a ms. */
static bool open_heap(void)
{
	if (gc_heap_create(&heap, "plan=cms,policy=adaptive,heap=28M,max=40M,sizing=fixed", NULL,
			   NULL))
		return ok(false, "a heap of 28 MiB");
	adapt = heap->sizing.adapt;
	heap->budget.live_bytes = 12 * MIB;
	heap->budget.soft_limit = 28 * MIB;
	heap->budget.concurrent_start = 18 * MIB;
	heap->budget.rate.bytes_per_ns = (double)MIB / MS;
	heap->budget.granted = 0;
	return true;
}

static void cycle(enum gc_cause cause, bool alone, unsigned int mb, unsigned int ms)
{
	heap->cycle.cause = cause;
	heap->cycle.alone = alone;
	heap->cycle.marked_bytes = 12 * MIB;
	heap->budget.granted += (uint64_t)mb * MIB;
	gc_adapt_cycle(heap, (uint64_t)ms * MS, 2 * (uint64_t)ms * MS);
}

static bool saw(enum gc_mode way, unsigned int cycles, double work, double ns, double cpu_ns,
		double period)
{
	const struct gc_choice_seen *s = &adapt->in.seen[way];

	if (s->cycles == cycles && s->work == work && s->ns == ns && s->cpu_ns == cpu_ns &&
	    s->period == period)
		return true;
	printf("# %u cycles: %.0f bytes, %.0f ns, %.0f ns of CPUs, every %.0f bytes\n", s->cycles,
	       s->work, s->ns, s->cpu_ns, s->period);
	return false;
}

static void cycles(void)
{
	if (!open_heap())
		return;
	ok(adapt->in.mode == GC_MODE_CONCURRENT && adapt->in.cpus >= 1 &&
		   !adapt->in.seen[0].cycles && !adapt->in.seen[1].cycles,
	   "the first cycle is concurrent, with no measurements");
	cycle(GC_CAUSE_CONCURRENT, false, 11, 4);
	ok(saw(GC_MODE_CONCURRENT, 1, 12 * MIB, 4 * MS, 8 * MS, 11 * MIB) &&
		   !adapt->in.seen[GC_MODE_STW].cycles,
	   "a concurrent cycle adds its bytes, time and count");
	ok(adapt->in.room == 16 * MIB && adapt->in.headroom == 10 * MIB &&
		   adapt->in.alloc_rate == (double)MIB / MS && adapt->in.mutators == 1,
	   "room, headroom and rate are the heap's; no mutator counts as one");
	cycle(GC_CAUSE_ALLOC, true, 16, 6);
	ok(saw(GC_MODE_STW, 1, 12 * MIB, 6 * MS, 12 * MS, 16 * MIB) &&
		   saw(GC_MODE_CONCURRENT, 1, 12 * MIB, 4 * MS, 8 * MS, 11 * MIB),
	   "a stop-the-world cycle is measured separately");
	cycle(GC_CAUSE_EXPLICIT, false, 5, 60);
	ok(adapt->in.seen[0].cycles == 1 && adapt->in.seen[1].cycles == 1,
	   "an explicit concurrent cycle is not measured");
	cycle(GC_CAUSE_EXPLICIT, true, 15, 8);
	ok(saw(GC_MODE_STW, 2, 12 * MIB, 7 * MS, 14 * MS, 15.5 * MIB),
	   "an explicit stop-the-world cycle is, and its period begins at the cycle before");
	cycle(GC_CAUSE_CONCURRENT, false, 0, 4);
	ok(saw(GC_MODE_CONCURRENT, 2, 12 * MIB, 4 * MS, 8 * MS, 5.5 * MIB),
	   "nothing allocated: the period is 0");
	cycle(GC_CAUSE_CONCURRENT, false, 100, 4);
	ok(saw(GC_MODE_CONCURRENT, 3, 12 * MIB, 4 * MS, 8 * MS, 10.75 * MIB),
	   "the period is at most the room");
	heap->budget.live_bytes = heap->budget.concurrent_start = 28 * MIB;
	cycle(GC_CAUSE_CONCURRENT, false, 1, 4);
	ok(adapt->in.room == 0 && adapt->in.headroom == 0, "at the limit room and headroom are 0");
	heap->budget.live_bytes = heap->budget.concurrent_start = 29 * MIB;
	cycle(GC_CAUSE_CONCURRENT, false, 1, 4);
	ok(adapt->in.room == 0 && adapt->in.headroom == 0,
	   "beyond the limit room and headroom are 0");
	gc_heap_destroy(heap);
}

static void speeds(void)
{
	if (!open_heap())
		return;
	gc_frequency_source(heap, frequency, NULL);
	speed = 1000000;
	cycle(GC_CAUSE_CONCURRENT, false, 11, 6);
	ok(saw(GC_MODE_CONCURRENT, 1, 12 * MIB, 4 * MS, 8 * MS, 11 * MIB),
	   "at half the frequency the time is stretched by one and a half");
	speed = 0;
	cycle(GC_CAUSE_ALLOC, true, 11, 6);
	ok(saw(GC_MODE_STW, 1, 12 * MIB, 6 * MS, 12 * MS, 11 * MIB),
	   "an unknown frequency stretches nothing");
	gc_heap_destroy(heap);
}

/* Marking takes 14 ms where the headroom lasts for 10: 4 are foreseen to be waited. */
static void misses(void)
{
	if (!open_heap())
		return;
	adapt->in.cpus = 4;
	cycle(GC_CAUSE_CONCURRENT, false, 12, 14);
	ok(adapt->in.missed_ns == 0 && adapt->predicted_ns == 4 * MS,
	   "no wait and no prediction: 4 ms are predicted for the next cycle");
	heap->paused_ns[GC_PAUSE_WAIT] += 7 * MS;
	heap->paused_ns[GC_PAUSE_PACED] += 3 * MS;
	cycle(GC_CAUSE_CONCURRENT, false, 12, 14);
	ok(adapt->in.missed_ns == 3 * MS && adapt->predicted_ns == 4 * MS,
	   "a wait of 10 ms: half of the error is kept, apart from the prediction");
	heap->paused_ns[GC_PAUSE_WAIT] += 5 * MS;
	cycle(GC_CAUSE_ALLOC, true, 12, 14);
	ok(adapt->in.missed_ns == 3 * MS && adapt->in.mode == GC_MODE_CONCURRENT,
	   "a stop-the-world cycle leaves the error unchanged");
	/* Back from a stop it had to be in time by a tenth: of 10 ms 9 were left. */
	ok(adapt->predicted_ns == 5 * MS, "a tenth of the headroom is reserved");
	heap->paused_ns[GC_PAUSE_WAIT] += 2 * MS;
	heap->mutators.count = 2;
	cycle(GC_CAUSE_CONCURRENT, false, 12, 14);
	ok(adapt->in.missed_ns == -MS / 2 && adapt->in.mutators == 2,
	   "the wait is the mean of the mutators in this cycle");
	ok(adapt->predicted_ns == 4 * MS,
	   "a wait shorter than predicted does not lower the prediction");
	heap->paused_ns[GC_PAUSE_WAIT] += 8 * MS;
	cycle(GC_CAUSE_CONCURRENT, false, 12, 2);
	ok(adapt->in.missed_ns == -MS / 4 && adapt->predicted_ns == 0,
	   "a cycle that ends in time: nothing is predicted, regardless of the error");
	cycle(GC_CAUSE_CONCURRENT, false, 12, 2);
	cycle(GC_CAUSE_CONCURRENT, false, 12, 2);
	ok(adapt->in.missed_ns == -MS / 16 && adapt->predicted_ns == 0,
	   "the error is halved by each cycle");
	heap->mutators.count = 0;
	gc_heap_destroy(heap);
}

static bool grows(unsigned int limit_mb, unsigned int grown_mb, unsigned int times)
{
	const bool grown = gc_adapt_grow(heap);

	if (grown == (times > 0) && heap->budget.soft_limit == (uint64_t)limit_mb * MIB &&
	    adapt->grown == (uint64_t)grown_mb * MIB && !adapt->lock)
		return true;
	printf("# %d: limit %llu, grown %llu\n", grown, (unsigned long long)heap->budget.soft_limit,
	       (unsigned long long)adapt->grown);
	return false;
}

static void growth(void)
{
	if (!open_heap())
		return;
	ok(!gc_adapt_grow(heap) && heap->budget.soft_limit == 28 * MIB,
	   "without a frequency source the heap does not grow");
	gc_frequency_source(heap, frequency, NULL);
	speed = 0;
	ok(!gc_adapt_grow(heap) && heap->budget.soft_limit == 28 * MIB,
	   "with an unknown frequency the heap does not grow");
	speed = 1000000;
	ok(grows(28, 0, 0) && !heap->stats.grown_instead,
	   "at a low frequency the heap does not grow");
	speed = 2000000;
	heap->budget.live_bytes = 20 * MIB;
	ok(grows(36, 8, 1) && heap->stats.grown_instead == 1,
	   "at the highest frequency it grows by the room");
	ok(grows(36, 8, 0) && heap->stats.grown_instead == 1, "it grows once per cycle");
	heap->stats.cycles++;
	ok(grows(40, 4, 1) && heap->stats.grown_instead == 2,
	   "in the next cycle it grows up to max=");
	heap->stats.cycles++;
	ok(grows(40, 0, 0), "it does not grow beyond max=");
	heap->budget.soft_limit = 28 * MIB;
	heap->budget.live_bytes = 28 * MIB;
	ok(grows(28, 0, 0), "it does not grow where all is live");
	heap->budget.live_bytes = 20 * MIB;
	adapt->lock = 1;
	ok(!gc_adapt_grow(heap) && heap->budget.soft_limit == 28 * MIB && adapt->lock == 1,
	   "one thread at a time grows the heap");
	adapt->lock = 0;
	gc_heap_destroy(heap);
}

int main(void)
{
	cycles();
	speeds();
	misses();
	growth();
	return done();
}
