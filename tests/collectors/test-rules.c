// SPDX-License-Identifier: MIT
/* Description: policy without mechanism at its edges: sizing, promotion, the length of cycles. */
#include "tap.h"

#include <math.h>

#include "heap/heap.h"
#include "cycle/sizing.h"
#include "plan/promote.h"

static void membalancer(void)
{
	struct gc_sizing_in in = { .live = 1e6, .max = 1e9, .delta = 1e5, .minfree = 5e4 };
	struct gc_sizing_out out;

	gc_sizing_rule(GC_SIZING_MEMBALANCER, &in, &out);
	ok(out.soft == 1.2e6 && out.start == 1.1e6,
	   "membalancer: without measurements the room is at least twice delta");
	in.minfree = 3e5;
	gc_sizing_rule(GC_SIZING_MEMBALANCER, &in, &out);
	ok(out.soft == 1.3e6, "membalancer: without measurements the room is minfree");
	in.alloc_rate = in.gc_rate = 1;
	gc_sizing_rule(GC_SIZING_MEMBALANCER, &in, &out);
	ok(fabs(out.soft - 1e6 - 1048576 * sqrt(1e6 / 1048576 / 0.2)) < 1,
	   "membalancer: the room grows with the square root");
	in.alloc_rate = 1e-6;
	gc_sizing_rule(GC_SIZING_MEMBALANCER, &in, &out);
	ok(out.soft == 1.2e6, "membalancer: a low allocation rate has a room of twice delta");
}

/* What is known of a cycle's length: a longer one counts at once. */
static void length(void)
{
	struct gc_heap *heap;

	if (gc_heap_create(&heap, "plan=gencms,trim=0", NULL, NULL)) {
		ok(false, "a heap is created");
		return;
	}
	heap->cycle.kind = GC_KIND_MAJOR;
	heap->gc.next_major = true;
	gc_sizing_after(heap, 1, 1000);
	ok(heap->sizing.cycle_ns == 1000, "the first cycle predicts the next one");
	gc_sizing_after(heap, 1, 400);
	ok(heap->sizing.cycle_ns == 700, "a shorter cycle counts half");
	gc_sizing_after(heap, 1, 1600);
	ok(heap->sizing.cycle_ns == 1600, "a longer cycle counts fully");
	gc_sizing_after(heap, 1, 1600);
	ok(heap->sizing.cycle_ns == 1600, "a cycle of the same length changes nothing");
	heap->gc.next_major = false;
	gc_sizing_after(heap, 1, 1600);
	ok(heap->sizing.cycle_ns == 1600, "without a minor cycle the major one predicts it");
	heap->cycle.kind = GC_KIND_MINOR;
	gc_sizing_after(heap, 1, 50);
	ok(heap->sizing.cycle_ns == 50,
	   "the next minor cycle is predicted from the last minor one");
	heap->gc.next_major = true;
	gc_sizing_after(heap, 1, 60);
	ok(heap->sizing.cycle_ns == 1600,
	   "the next major cycle is predicted from the last major one");
	gc_heap_destroy(heap);
}

static bool restricted(uint64_t held, uint64_t met, uint64_t others, uint64_t others_met)
{
	struct gc_promotion p = { .held = { held, others }, .met = { met, others_met } };

	gc_promotion_end(&p);
	return p.restrict_bucket[0];
}

static void promotion(void)
{
	struct gc_promotion p = { .held = { 100 }, .held_now = { 7 } };

	ok(restricted(32, 0, 100, 50), "tuned: 32 objects of a size are enough");
	ok(!restricted(31, 0, 100, 50), "tuned: 31 objects of a size are not enough");
	ok(!restricted(100, 50, 100, 50), "tuned: a size at the mean is not held back");
	ok(restricted(100, 49, 100, 50), "tuned: a size above the mean is held back");
	ok(!restricted(100, 51, 100, 50), "tuned: a size below the mean is not held back");
	ok(!restricted(0, 0, 100, 0), "tuned: an unknown size is not held back");
	gc_promotion_end(&p);
	ok(p.held[0] == 107 && !p.held_now[0] && p.collections == 1,
	   "tuned: objects held back now are evaluated at the next collection");
}

/* gss: a whole collection after threshold= bytes were promoted, not before */
static void threshold(void)
{
	static const struct gc_type_desc d = { .name = "node", .size = 32, .refs = 2 };
	const uint64_t after = 1 << 20, nursery = 256 << 10;
	const struct gc_type *type;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct {
		struct gc_frame head;
		void **list, **fresh;
	} f;

	if (gc_heap_create(&heap, "plan=gss,nursery=256K,large=8K,threshold=1M,trim=0,workers=1",
			   NULL, NULL) ||
	    gc_mutator_attach(heap, &m)) {
		ok(false, "a heap is created");
		return;
	}
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	for (long i = 0; i < 24 << 15; i++) {
		f.fresh = gc_alloc(m, type);
		gc_init((char *)f.fresh + 8, f.list);
		f.list = f.fresh;
	}
	gc_heap_stats(heap, &s);
	if (!ok(s.promoted_bytes > 8 * after && s.majors >= s.promoted_bytes / (after + nursery) &&
			s.majors <= s.promoted_bytes / after + 1,
		"gss: each threshold= of promoted bytes causes a whole collection"))
		printf("# %llu promoted, %llu whole\n", (unsigned long long)s.promoted_bytes,
		       (unsigned long long)s.majors);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void pace(void)
{
	struct gc_pace p = { .base = 1000, .room = 1600, .work = 100, .most = 200 };

	ok(gc_pace_allowed(&p) == 1100, "pace: a sixteenth of the room at once");
	p.done = 50;
	ok(gc_pace_allowed(&p) == 1000 + 100 + 650,
	   "pace: with half of the work done, half of the rest");
	p.done = 100;
	ok(gc_pace_allowed(&p) == 1000 + 100 + 650,
	   "pace: past the estimate the upper bound counts");
	p.done = 200;
	ok(gc_pace_allowed(&p) == 2400, "pace: an eighth is left after the marking");
}

int main(void)
{
	membalancer();
	length();
	promotion();
	threshold();
	pace();
	return done();
}
