// SPDX-License-Identifier: MIT
/*
 * Computes the soft limit and the concurrent start after a collection. The rules are
 * pure: struct gc_sizing_in to struct gc_sizing_out.
 */
#include "sizing.h"

#include <math.h>

#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../space/bump.h"
#include "../space/pages.h"

#define DALVIK_CONCURRENT_MIN_FREE (256u << 10)
#define ART_FOREGROUND_MULTIPLIER  2.0
#define ART_MIN_AHEAD		   (128u << 10)
#define ART_MAX_AHEAD		   (512u << 10)
/* MemBalancer's trade, per MiB: what MMTk uses */
#define MEMBALANCER_C 0.2
/* A concurrent cycle may begin early by at most this part of the room. */
#define AHEAD_MOST 0.75

static double clamp_double(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* Hussein et al. 2015, equation (1) */
static void rule_hussein(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	double room = (1 - in->util) * in->live;

	out->soft = in->live + clamp_double(room, in->minfree, in->maxfree);
	out->start = out->soft - in->delta;
}

/* Dalvik 4.3: the target is live / util, so the room is a share of the heap, not of live */
static void rule_dalvik(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	double room = clamp_double(in->live * (1 / in->util - 1), in->minfree, in->maxfree);

	out->soft = in->live + room;
	out->start = room < DALVIK_CONCURRENT_MIN_FREE ? INFINITY : out->soft - in->delta;
}

/* ART 6.0, heap.cc: a process in the foreground gets twice the room */
static void rule_art(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	double m = ART_FOREGROUND_MULTIPLIER;
	double ahead = in->alloc_rate * in->gc_ns;

	out->soft = in->live + clamp_double(in->live * (1 / in->util - 1) * m, in->minfree * m,
					    in->maxfree * m);
	out->start = out->soft - clamp_double(ahead, ART_MIN_AHEAD, ART_MAX_AHEAD);
}

/* A constant size */
static void rule_fixed(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	out->soft = in->heap;
	out->start = out->soft - in->delta;
}

/* MemBalancer: the room grows with the root of live size and of allocation over GC rate */
static void rule_membalancer(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	double mib = 1 << 20, room = in->minfree;

	if (in->alloc_rate > 0 && in->gc_rate > 0)
		room = mib * sqrt(in->live / mib * in->alloc_rate / (MEMBALANCER_C * in->gc_rate));
	out->soft = in->live + fmax(room, in->delta * 2);
	out->start = out->soft - in->delta;
}

static void (*const rules[])(const struct gc_sizing_in *, struct gc_sizing_out *) = {
	[GC_SIZING_ART] = rule_art,
	[GC_SIZING_DALVIK] = rule_dalvik,
	[GC_SIZING_FIXED] = rule_fixed,
	[GC_SIZING_HUSSEIN] = rule_hussein,
	[GC_SIZING_MEMBALANCER] = rule_membalancer,
};

/* ahead=: start so early that mutators need not wait for a cycle that is as long as the last */
static void start_early(const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	double early = in->alloc_rate * in->gc_ns * in->ahead;

	if (!isfinite(out->start))
		return;
	early = fmin(early, (out->soft - in->live) * AHEAD_MOST);
	out->start = clamp_double(fmin(out->start, out->soft - early), 0, out->soft);
}

void gc_sizing_rule(int rule, const struct gc_sizing_in *in, struct gc_sizing_out *out)
{
	rules[rule](in, out);
	if (out->soft > in->max)
		out->soft = in->max;
	start_early(in, out);
}

static uint64_t bytes_of(double x)
{
	return isfinite(x) ? (uint64_t)x : UINT64_MAX;
}

static void limits_apply(struct gc_heap *heap, const struct gc_sizing_out *out)
{
	__atomic_store_n(&heap->budget.soft_limit, bytes_of(out->soft), __ATOMIC_RELAXED);
	__atomic_store_n(&heap->budget.concurrent_start, bytes_of(out->start), __ATOMIC_RELAXED);
}

void gc_sizing_init(struct gc_heap *heap)
{
	double soft = fmin((double)heap->opt.heap, (double)gc_load(&heap->budget.most));
	struct gc_sizing_out out = { soft, fmax(0, soft - (double)heap->opt.delta) };

	if (heap->opt.sizing == GC_SIZING_FIXED && heap->plan->reserve)
		out.soft /= 2;
	/* Without measurements yet */
	if (heap->opt.ahead > 0)
		out.start = out.soft / 2;
	limits_apply(heap, &out);
}

/*
 * Predict how long the next cycle will take, after one of @gc_ns. A longer cycle counts in
 * full, shorter ones are smoothed. This is CPU time on purpose: a collector that shares its CPU
 * with mutators must not begin earlier for that, as more cycles would leave them even less of
 * the CPU. Instead, mutators that get ahead of the collector wait and leave the CPU to it.
 */
static uint64_t expect_ns(struct gc_heap *heap, uint64_t gc_ns)
{
	uint64_t *known = &heap->sizing.cycle_ns_of[heap->cycle.kind], next;
	bool major = !heap->plan->generational || heap->gc.next_major;

	*known = gc_ns > *known ? gc_ns : (gc_ns + *known) / 2;
	next = heap->sizing.cycle_ns_of[major ? GC_KIND_MAJOR : GC_KIND_MINOR];
	/* There was no cycle of that enum gc_kind yet. */
	if (!next)
		next = *known;
	__atomic_store_n(&heap->sizing.cycle_ns, next, __ATOMIC_RELAXED);
	return next;
}

void gc_sizing_after(struct gc_heap *heap, uint64_t gc_ns, uint64_t cpu_ns)
{
	const struct gc_options *o = &heap->opt;
	struct gc_sizing_in in = {
		.live = (double)heap->cycle.live_bytes,
		.heap = (double)o->heap,
		.max = (double)gc_load(&heap->budget.most),
		.util = o->util,
		.minfree = (double)o->minfree,
		.maxfree = (double)o->maxfree,
		.delta = (double)o->delta,
		.ahead = o->ahead,
		.alloc_rate = heap->budget.rate.bytes_per_ns,
	};
	double marked = (double)heap->cycle.marked_bytes / (double)(gc_ns ? gc_ns : 1);
	double held = (double)gc_pages_held(heap);
	struct gc_sizing_out out;

	in.gc_ns = (double)expect_ns(heap, cpu_ns);
	/* MMTk's smoothing: .95 of the old allocation rate, .5 of the old collection rate */
	heap->sizing.mb_alloc_rate =
		heap->sizing.mb_alloc_rate > 0 ?
			.95 * heap->sizing.mb_alloc_rate + .05 * heap->budget.rate.bytes_per_ns :
			heap->budget.rate.bytes_per_ns;
	heap->sizing.mb_gc_rate =
		heap->sizing.mb_gc_rate > 0 ? .5 * heap->sizing.mb_gc_rate + .5 * marked : marked;
	in.gc_rate = heap->sizing.mb_gc_rate;
	if (o->sizing == GC_SIZING_MEMBALANCER)
		in.alloc_rate = heap->sizing.mb_alloc_rate;
	if (heap->cycle.kind == GC_KIND_MINOR && heap->plan->minor == GC_MINOR_KEEP)
		return;
	if (heap->cycle.kind == GC_KIND_MINOR && heap->plan->minor == GC_MINOR_ROOM &&
	    o->sizing != GC_SIZING_FIXED && heap->sizing.major_room > 0) {
		/* GenCMS: the young generation is the room of the last major collection */
		out.soft = fmin(in.live + heap->sizing.major_room, in.max);
		out.start = out.soft - in.delta;
		start_early(&in, &out);
	} else {
		gc_sizing_rule((int)o->sizing, &in, &out);
		/* Half of what pages do not hold stays empty, to copy to. */
		if (o->sizing == GC_SIZING_FIXED && heap->plan->reserve)
			out.soft = held + fmax(0, fmin(in.heap, in.max) - held -
							  (double)heap->bump->promise) /
						  2;
		heap->sizing.major_soft = out.soft;
		heap->sizing.major_room = out.soft - in.live;
	}
	limits_apply(heap, &out);
}

bool gc_sizing_grow(struct gc_heap *heap, size_t bytes)
{
	uint64_t want = gc_load(&heap->budget.in_use) + bytes,
		 limit = gc_load(&heap->budget.soft_limit);

	if (heap->opt.sizing == GC_SIZING_FIXED && want > limit)
		return false;
	if (want > gc_load(&heap->budget.most))
		return false;
	if (want > limit)
		__atomic_store_n(&heap->budget.soft_limit, want, __ATOMIC_RELAXED);
	return true;
}
