// SPDX-License-Identifier: MIT
/*
 * Description: the sizing and adaptive rules against numbers computed by hand, and the heap
 * against its rule: footprint, side tables, trim.
 */
#include "tap.h"
#include "tree.h"

#include <gchint/gc-listener.h>
#include <math.h>
#include <time.h>

#include "policy/adapt-rule.h"
#include "heap/heap.h"
#include "options/options.h"
#include "heap/pace.h"
#include "cycle/sizing.h"

#define MIB 1048576.0

static void expect(int rule, const char *name, struct gc_sizing_in in, double soft, double start)
{
	struct gc_sizing_out out;

	gc_sizing_rule(rule, &in, &out);
	if (!ok(fabs(out.soft - soft * MIB) < 1 &&
			(isinf(start) ? isinf(out.start) : fabs(out.start - start * MIB) < 1),
		"%s at live %.1f MiB", name, in.live / MIB))
		printf("# soft %.4f start %.4f MiB\n", out.soft / MIB, out.start / MIB);
}

static void rules(void)
{
	struct gc_sizing_in in = { .live = 20 * MIB,
				   .heap = 32 * MIB,
				   .max = 256 * MIB,
				   .util = .75,
				   .minfree = 2 * MIB,
				   .maxfree = 8 * MIB,
				   .delta = .125 * MIB };

	/* a quarter of 20 is 5; a third is 6.67 */
	expect(GC_SIZING_HUSSEIN, "hussein", in, 25, 24.875);
	expect(GC_SIZING_DALVIK, "dalvik", in, 20 + 20 / 3.0, 20 + 20 / 3.0 - .125);
	in.live = 4 * MIB; /* both rooms fall below minfree */
	expect(GC_SIZING_HUSSEIN, "hussein", in, 6, 5.875);
	expect(GC_SIZING_DALVIK, "dalvik", in, 6, 5.875);
	in.live = 100 * MIB; /* and above maxfree */
	expect(GC_SIZING_HUSSEIN, "hussein", in, 108, 107.875);
	expect(GC_SIZING_DALVIK, "dalvik", in, 108, 107.875);
	in.max = 104 * MIB;
	expect(GC_SIZING_HUSSEIN, "hussein below max", in, 104, 104);
	in.max = 256 * MIB;
	in.minfree = in.maxfree = 200 * 1024;
	expect(GC_SIZING_DALVIK, "dalvik with little free: no concurrent start", in,
	       100 + 200 / 1024.0, INFINITY);
	in = (struct gc_sizing_in){ .live = 10 * MIB,
				    .heap = 32 * MIB,
				    .max = 64 * MIB,
				    .util = .5,
				    .minfree = .5 * MIB,
				    .maxfree = 2 * MIB,
				    .delta = .125 * MIB,
				    .alloc_rate = .1,
				    .gc_ns = 3e6 };
	/* 10 MiB more wanted, twice; at most twice 2. 300000 bytes ahead. */
	expect(GC_SIZING_ART, "art", in, 14, 14 - 300000 / MIB);
	expect(GC_SIZING_FIXED, "fixed", in, 32, 32 - .125);
	/* twice the 300000 bytes that the last cycle saw allocated */
	in.ahead = 2;
	expect(GC_SIZING_FIXED, "fixed, ahead", in, 32, 32 - 600000 / MIB);
	expect(GC_SIZING_HUSSEIN, "hussein, ahead", in, 12, 12 - 600000 / MIB);
	in.gc_ns = 1e9; /* three quarters of 22 */
	expect(GC_SIZING_FIXED, "fixed, ahead of a long cycle", in, 32, 32 - 16.5);
	in.gc_ns = 3e6;
	in.ahead = 0;
	/* sqrt(10 * .1 / (.2 * .5)) = sqrt 10 */
	in.gc_rate = .5;
	expect(GC_SIZING_MEMBALANCER, "membalancer", in, 10 + sqrt(10), 10 + sqrt(10) - .125);
	in.live = 40 * MIB; /* four times the live size, twice the room */
	expect(GC_SIZING_MEMBALANCER, "membalancer, not clamped", in, 40 + 2 * sqrt(10),
	       40 + 2 * sqrt(10) - .125);
}

/* What MemBalancer goes by is smoothed: .95 of what was allocated, half of what was marked. */
static void smoothed(void)
{
	const double live = 10 * MIB;
	struct gc_heap *heap;

	if (gc_heap_create(&heap, "plan=marksweep,sizing=membalancer,policy=fg,max=256M,delta=64K",
			   NULL, NULL)) {
		ok(false, "membalancer: a heap is created");
		return;
	}
	heap->cycle.live_bytes = heap->cycle.marked_bytes = (uint64_t)live;
	heap->budget.rate.bytes_per_ns = .1;
	gc_sizing_after(heap, (uint64_t)(live / .5), 1);
	/* sqrt(10 * .1 / (.2 * .5)) */
	ok(fabs((double)heap->budget.soft_limit - live - sqrt(10) * MIB) < 2,
	   "membalancer: the first cycle sets the rates");
	ok(heap->budget.soft_limit - heap->budget.concurrent_start == 64 << 10,
	   "membalancer: the cycle starts delta below the limit");
	heap->budget.rate.bytes_per_ns = .3;
	gc_sizing_after(heap, (uint64_t)(live / 1.5), 1);
	/* sqrt(10 * .11 / (.2 * 1)) */
	if (!ok(fabs((double)heap->budget.soft_limit - live - sqrt(5.5) * MIB) < 200,
		"membalancer: later cycles change the rates gradually"))
		printf("# room %.6f MiB\n", ((double)heap->budget.soft_limit - live) / MIB);
	gc_heap_destroy(heap);
}

static void growth(void)
{
	ok(gc_adapt_room(0, 0, 1 << 20, 0, 1 << 30) == 0, "unknown frequency: collect");
	ok(gc_adapt_room(1000000, 2000000, 1 << 20, 0, 1 << 30) == 0,
	   "half of the frequency: collect");
	ok(gc_adapt_room(1500000, 2000000, 1 << 20, 0, 1 << 30) == 0,
	   "just below the threshold: collect");
	ok(gc_adapt_room(2000000, 2000000, 1 << 20, 0, 1 << 30) == 1 << 20,
	   "highest frequency: grow by the room");
	ok(gc_adapt_room(2000000, 2000000, 1 << 20, 1 << 20, 1 << 30) == 0,
	   "the heap grows only once");
	ok(gc_adapt_room(2000000, 2000000, 1 << 20, 0, 8192) == 8192,
	   "the heap never grows above max");
}

static void pace(void)
{
	struct gc_pace p = { .base = 1000, .room = 1600, .work = 500, .most = 1000 };
	uint64_t last = 0;
	bool rises = true;

	ok(gc_pace_allowed(&p) == 1100, "pace: a sixteenth of the room at once");
	p.done = 250;
	ok(gc_pace_allowed(&p) == 1000 + 100 + 650,
	   "pace: half marked, half of thirteen sixteenths more");
	p.done = 499;
	ok(gc_pace_allowed(&p) > 2390 && gc_pace_allowed(&p) < 2400,
	   "pace: an eighth is kept back");
	p.done = 500; /* twice as much as was expected: the marking is half done */
	ok(gc_pace_allowed(&p) == 1000 + 100 + 650,
	   "pace: past the estimate the upper bound counts");
	p.done = 5000;
	ok(gc_pace_allowed(&p) == 2400, "pace: past the upper bound an eighth is kept back");
	p.work = p.most;
	for (p.done = 0; p.done < 1200; p.done += 50) {
		rises &= gc_pace_allowed(&p) >= last;
		last = gc_pace_allowed(&p);
	}
	ok(gc_pace_slice(1000000, 8000000) == 250000, "pace: a wait is a 32nd of a cycle");
	ok(gc_pace_slice(1000000, 80000000) == 1000000 && gc_pace_slice(1000000, 0) == 120000 &&
		   gc_pace_slice(50000, 8000000) == 50000,
	   "pace: a wait is at most pace= and at least worth a wake-up");
	p = (struct gc_pace){ .base = 1000, .room = 1600, .work = 1, .most = 1, .done = 1 };
	ok(gc_pace_allowed(&p) == 2400, "pace: a temporary bound ignores marking");
	ok(rises, "pace: marking never lowers the bound");
}

static size_t resident(void)
{
	unsigned long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4096;
}

static void footprint(const char *plan, double slack)
{
	struct {
		struct gc_frame head;
		struct node *keep, *junk;
	} f;
	const struct gc_type *t;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	char options[128];
	double worst = 0;

	snprintf(options, sizeof(options), "plan=%s,profile=hussein-2015,trim=0,policy=fg", plan);
	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts", options);
		return;
	}
	t = tree_type(heap);
	GC_PUSH(m, f);
	f.keep = tree(m, t, 17); /* 8 MiB */
	gc_collect_full(m);
	for (int i = 0; i < 200; i++) {
		double over;

		f.junk = tree(m, t, 12);
		gc_heap_stats(heap, &s);
		over = (double)s.footprint_bytes - (double)s.soft_limit;
		if (over > worst)
			worst = over;
	}
	gc_heap_stats(heap, &s);
	/* equation (1): a quarter of live, at least 2 MiB, or what the last cycle left */
	if (!ok(s.cycles > 3 && worst <= slack,
		"%s: the footprint is within %.0f KiB of the soft limit", plan, slack / 1024))
		printf("# %.0f KiB over, limit %.2f MiB, live %.2f MiB, %llu cycles\n",
		       worst / 1024, (double)s.soft_limit / MIB, (double)s.live_bytes / MIB,
		       (unsigned long long)s.cycles);
	if (!ok(s.side_bytes <= s.footprint_bytes * 4 / 100,
		"%s: side tables take at most 4 %% of the heap", plan))
		printf("# %llu of %llu\n", (unsigned long long)s.side_bytes,
		       (unsigned long long)s.footprint_bytes);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void trim(const char *plan)
{
	struct {
		struct gc_frame head;
		struct node *keep;
	} f;
	struct timespec ts = { 0, 20000000 };
	size_t full, trimmed = 0;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	char options[128];

	snprintf(options, sizeof(options), "plan=%s,heap=96M,trim=0.2", plan);
	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts", options);
		return;
	}
	GC_PUSH(m, f);
	f.keep = tree(m, tree_type(heap), 19); /* 32 MiB */
	full = resident();
	f.keep = NULL;
	gc_collect(m);
	if (strstr(plan, "marksweep")) /* what it leaves to lazy sweeping */
		gc_collect(m);
	gc_park(m);
	for (int i = 0; i < 12500; i++) {
		nanosleep(&ts, NULL);
		gc_heap_stats(heap, &s);
		trimmed = resident();
		if (s.trimmed_bytes >= 28 * MIB && full > trimmed + 28 * MIB)
			break;
	}
	gc_unpark(m);
	if (!ok(s.trims && s.trimmed_bytes >= 28 * MIB && full > trimmed &&
			full - trimmed >= 28 * MIB,
		"%s: a trim lowers RSS", plan))
		printf("# %llu trims, %.1f MiB; resident %.1f then %.1f MiB\n",
		       (unsigned long long)s.trims, (double)s.trimmed_bytes / MIB,
		       (double)full / MIB, (double)trimmed / MIB);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

int main(void)
{
	rules();
	smoothed();
	growth();
	pace();
	footprint("cms", 16 * 1024);
	footprint("marksweep", 16 * 1024);
	footprint("gencms", 16 * 1024);
	footprint("immix", 32 * 1024);
	/* What is asked for is an order to the daemon, after which its idle timer runs. */
	trim("cms,policy=bg");
	trim("marksweep");
	return done();
}
