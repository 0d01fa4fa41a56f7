// SPDX-License-Identifier: MIT
/* Description: policy=adaptive: concurrent or stop-the-world, by prediction. */
#include "tap.h"

#include <string.h>

#include "cycle/adapt.h"
#include "policy/choice.h"
#include "heap/heap.h"

#define MIB 1048576.0
#define MS  1e6

/*
 * A heap of 28 MiB with 12 alive, marked in 30 ms; two mutators that allocate a MiB in 1 ms; the
 * cycle begins 10 MiB before the limit.
 */
static struct gc_choice_in late(void)
{
	return (struct gc_choice_in){
		.seen = { [GC_MODE_CONCURRENT] = { .work = 12 * MIB,
						   .ns = 30 * MS,
						   .cpu_ns = 30 * MS,
						   .period = 12 * MIB,
						   .cycles = 1 } },
		.mode = GC_MODE_CONCURRENT,
		.alloc_rate = MIB / MS,
		.headroom = 10 * MIB,
		.room = 16 * MIB,
		.mutators = 2,
		.cpus = 4,
	};
}

static bool near(double a, double b)
{
	return a > b * .999 && a < b * 1.001;
}

static void prediction(void)
{
	struct gc_choice_in in = late();
	struct gc_choice_out out;

	gc_choice(&in, &out);
	ok(near(out.need_ns, 30 * MS) && near(out.left_ns, 10 * MS),
	   "marking takes 30 ms, the headroom lasts for 10 ms");
	ok(near(out.stall_ns[GC_MODE_CONCURRENT], 20 * MS) &&
		   near(out.stall_ns[GC_MODE_STW], 30 * MS),
	   "the predicted wait is 20 ms, that of a stop 30 ms");
	ok(near(out.cost[GC_MODE_CONCURRENT], (2 * 20 + 30) * MS / (12 * MIB)) &&
		   near(out.cost[GC_MODE_STW], (2 * 30 + 30) * MS / (16 * MIB)),
	   "the cost counts waiting and working threads per allocated byte");
	in.cpus = 2;
	gc_choice(&in, &out);
	ok(near(out.left_ns, 15 * MS),
	   "with three threads on two CPUs mutators allocate less meanwhile");
	in.seen[GC_MODE_CONCURRENT].ns = 45 * MS;
	gc_choice(&in, &out);
	ok(near(out.stall_ns[GC_MODE_STW], 30 * MS),
	   "a stop needs only the CPU time of a concurrent cycle");
	in = late();
	in.cpus = 3;
	gc_choice(&in, &out);
	ok(near(out.left_ns, 10 * MS), "three threads on three CPUs do not share");
	in.seen[GC_MODE_CONCURRENT].period = 0;
	gc_choice(&in, &out);
	ok(near(out.cost[GC_MODE_CONCURRENT], (2 * 20 + 30) * MS),
	   "a period of nothing counts as one byte");
	in.seen[GC_MODE_CONCURRENT].period = 1.5;
	gc_choice(&in, &out);
	ok(near(out.cost[GC_MODE_CONCURRENT], (2 * 20 + 30) * MS / 1.5),
	   "a period of more than a byte counts as it is");
	in.missed_ns = 5 * MS;
	gc_choice(&in, &out);
	ok(near(out.stall_ns[GC_MODE_CONCURRENT], 25 * MS),
	   "the error of earlier predictions is added");
}

static void ways(void)
{
	struct gc_choice_in in = late();
	struct gc_choice_out out;

	ok(gc_choice(&in, &out) == GC_MODE_STW, "late and a cheaper stop: stop-the-world");
	in.seen[GC_MODE_CONCURRENT].cycles = 0;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "no measurements: concurrent");
	in = late();
	in.alloc_rate = in.headroom = 0;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "unknown allocation rate: concurrent");
	in = late();
	in.seen[GC_MODE_CONCURRENT].ns = 9 * MS;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "in time: concurrent at any cost");
	in.mode = GC_MODE_STW;
	in.seen[GC_MODE_STW] = (struct gc_choice_seen){
		.work = 9 * MIB, .ns = 1 * MS, .cpu_ns = 2 * MS, .period = 16 * MIB, .cycles = 3
	};
	in.seen[GC_MODE_CONCURRENT].ns = 9.5 * MS;
	ok(gc_choice(&in, &out) == GC_MODE_STW,
	   "after a stop: concurrent only with a tenth of the time left");
	in.seen[GC_MODE_CONCURRENT].ns = 8.9 * MS;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "with that margin: concurrent");
	/* A little late, and hardly anything dies beside it: the stop costs more than the wait. */
	in = late();
	in.seen[GC_MODE_CONCURRENT].ns = 11 * MS;
	in.seen[GC_MODE_CONCURRENT].period = 15 * MIB;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "a little late: concurrent");
	in.seen[GC_MODE_CONCURRENT].cycles = 2;
	ok(gc_choice(&in, &out) == GC_MODE_STW,
	   "late after two cycles: one stop is tried to measure it");
	in.seen[GC_MODE_STW] = (struct gc_choice_seen){
		.work = 9 * MIB, .ns = 30 * MS, .cpu_ns = 30 * MS, .period = 16 * MIB, .cycles = 1
	};
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT,
	   "a stop that was more expensive: concurrent");
	in.seen[GC_MODE_STW].cycles = 0;
	in.seen[GC_MODE_CONCURRENT].ns = 9 * MS;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "in time: no stop is tried");
	in.seen[GC_MODE_CONCURRENT].ns = 11 * MS;
	/* The same, but two share a stop's work and end in half of the time. */
	in.seen[GC_MODE_STW] = (struct gc_choice_seen){
		.work = 9 * MIB, .ns = 2 * MS, .cpu_ns = 12 * MS, .period = 16 * MIB, .cycles = 3
	};
	ok(gc_choice(&in, &out) == GC_MODE_STW,
	   "a measured stop as short as the wait: stop-the-world");
	in.seen[GC_MODE_STW].cpu_ns = 200 * MS;
	ok(gc_choice(&in, &out) == GC_MODE_CONCURRENT, "unless it takes too much CPU time");
}

static void means(void)
{
	struct gc_choice_seen s = { 0 }, last = { 8, 4, 2, 16, 0 };

	gc_choice_see(&s, &last);
	ok(s.work == 8 && s.ns == 4 && s.cpu_ns == 2 && s.period == 16 && s.cycles == 1,
	   "the first cycle sets the mean");
	last = (struct gc_choice_seen){ 0, 0, 0, 0, 0 };
	gc_choice_see(&s, &last);
	ok(s.work == 4 && s.ns == 2 && s.cpu_ns == 1 && s.period == 8 && s.cycles == 2,
	   "the last cycle counts half");
	ok(gc_choice_stretch(0, 2000000) == 1 && gc_choice_stretch(2000000, 0) == 1,
	   "unknown frequency: no stretch");
	ok(gc_choice_stretch(1000000, 2000000) == 1.5,
	   "half of the frequency: half of the time is memory-bound");
	ok(gc_choice_stretch(2000000, 2000000) == 1, "the highest frequency: no stretch");
}

struct node {
	struct gc_header header;
	struct node *next;
	uint64_t payload[6];
};

/* @keep nodes stay alive, as many again die every so often: a list is marked by one thread. */
static void churn(struct gc_mutator *m, const struct gc_type *type, long keep, long count)
{
	struct {
		struct gc_frame head;
		struct node *kept, *list, *fresh;
	} f;

	GC_PUSH(m, f);
	for (long i = 0; i < keep + count; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		if (!f.fresh)
			continue;
		if (i < keep) {
			gc_init(&f.fresh->next, f.kept);
			f.kept = f.fresh;
		} else {
			gc_init(&f.fresh->next, i % 1000 ? f.list : NULL);
			f.list = f.fresh;
		}
	}
	GC_POP(m, f);
}

/* Half speed, as it were: of all that is asked. */
static int frequency(uint32_t *effective_khz, uint32_t *highest_khz, void *arg)
{
	++*(unsigned int *)arg;
	*effective_khz = 1000000;
	*highest_khz = 2000000;
	return 0;
}

/* struct seen - cycles of a mutator that marked all, and with the world stopped */
struct seen {
	struct gc_listener base;
	unsigned int alone, major;
};

static void mark_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct seen *s = (struct seen *)self;

	if (event->cause != GC_CAUSE_ALLOC || !event->foreground || !event->stw)
		return;
	s->alone++;
	s->major += event->kind == GC_KIND_MAJOR;
}

static const struct gc_listener_ops seen_ops = { .mark_begin = mark_begin };

/* A heap that is nearly full of what is alive, once told that the next cycle is to be alone */
static void heaps(void)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	static const char *const plans[] = { "cms", "cmsfly", "gencms" };
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	unsigned int asked;
	char options[128];

	for (unsigned int i = 0; i < 3; i++) {
		struct seen seen = { .base = { .ops = &seen_ops } };

		asked = 0;
		snprintf(options, sizeof(options),
			 "plan=%s,policy=adaptive,pace=0,heap=6M,sizing=fixed", plans[i]);
		if (gc_heap_create(&heap, options, &seen.base, NULL)) {
			ok(false, "%s starts", options);
			return;
		}
		gc_frequency_source(heap, frequency, &asked);
		heap->gc.daemon_on = false;
		gc_mutator_attach(heap, &m);
		churn(m, gc_type_register(heap, &d, NULL), 50000, 1000000);
		gc_mutator_detach(m);
		gc_heap_stats(heap, &s);
		ok(seen.alone > 0 && seen.major > 0, "%s: stop-the-world, and of the whole heap",
		   plans[i]);
		ok(asked >= s.cycles, "%s: the frequency source is called", plans[i]);
		gc_heap_destroy(heap);
	}
}

/*
 * Marking beside mutators took 30 ms, three times what the headroom lasts: alone. Short stops say
 * nothing of the next marking beside them: still alone. One in time does: back.
 */
static void kept_apart(void)
{
	struct gc_mutator *m;
	struct gc_heap *heap;

	if (gc_heap_create(&heap, "plan=cms,policy=adaptive,heap=28M,max=28M,sizing=fixed", NULL,
			   NULL)) {
		ok(false, "a heap of 28 MiB");
		return;
	}
	gc_mutator_attach(heap, &m);
	heap->budget.live_bytes = 12 * (uint64_t)MIB;
	heap->budget.soft_limit = 28 * (uint64_t)MIB;
	heap->budget.concurrent_start = 18 * (uint64_t)MIB;
	heap->budget.rate.bytes_per_ns = MIB / MS;
	heap->cycle.marked_bytes = 12 * (uint64_t)MIB;
	heap->cycle.cause = GC_CAUSE_CONCURRENT;
	heap->cycle.alone = false;
	heap->budget.granted += 12 * (uint64_t)MIB;
	gc_adapt_cycle(heap, (uint64_t)(30 * MS), (uint64_t)(30 * MS));
	ok(!heap->gc.daemon_on && heap->stats.daemon_switches == 1,
	   "late: the next cycle is stop-the-world");
	for (int i = 0; i < 4; i++) {
		heap->cycle.cause = GC_CAUSE_ALLOC;
		heap->cycle.alone = true;
		heap->budget.granted += 16 * (uint64_t)MIB;
		gc_adapt_cycle(heap, (uint64_t)MS, (uint64_t)MS);
	}
	ok(!heap->gc.daemon_on && heap->stats.daemon_switches == 1,
	   "short stops: the following cycles are stop-the-world");
	for (int i = 0; i < 4; i++) {
		heap->cycle.cause = GC_CAUSE_CONCURRENT;
		heap->cycle.alone = false;
		heap->budget.granted += 12 * (uint64_t)MIB;
		gc_adapt_cycle(heap, (uint64_t)MS, (uint64_t)MS);
	}
	ok(heap->gc.daemon_on && heap->stats.daemon_switches == 2,
	   "a short concurrent cycle: back to concurrent");
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

int main(void)
{
	prediction();
	ways();
	means();
	kept_apart();
	heaps();
	return done();
}
