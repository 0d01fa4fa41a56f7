// SPDX-License-Identifier: MIT
/*
 * Description: the sharing of a stop's work, step by step: places of helpers, the handing over
 * of stacks and arrays, the end, and the counters.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <heap/heap.h>
#include <thread/help.h>
#include <heap/mark-stack.h>
#include <sched.h>

/* Of thread/help.c */
#define BATCH 128

static void *object[1000];
static int loops, joined;
static struct gc_helper *places[4];
static uint32_t seen;

static void never(struct gc_helper *k)
{
	(void)k;
	loops++;
}

static void second(struct gc_helper *k);

/* The collecting thread, which has the only word in this: the others come from here. */
static void first(struct gc_helper *k)
{
	uint32_t known = seen;

	places[loops++] = k;
	if (loops > 1) {
		second(k);
		return;
	}
	ok(gc_help_called(heap, &seen) && seen != known && !gc_help_called(heap, &seen),
	   "a call is new only once");
	gc_help_join(heap, NULL);
	gc_help_join(heap, NULL);
	gc_help_join(heap, NULL);
	ok(loops == 3, "two of three places are free");
	ok(!gc_help_more(k) && !gc_help_called(heap, &known),
	   "when no helper has work all is done, and no call is open");
	gc_help_join(heap, NULL);
	ok(loops == 3, "a late helper finds no place");
}

static void second(struct gc_helper *k)
{
	k->mark.bytes = 7 + joined;
	k->mark.objects = 1;
	k->reported = 100;
	joined++;
}

static void places_are_given(void)
{
	struct gc_helper *k;
	int n = 0;

	if (!open_heap("plan=marksweep,trim=0,workers=3,markstack=8K"))
		return;
	ok(gc_help_stack_bytes(heap) == BATCH * sizeof(void *) + 2 * 8192 &&
		   stats().mark_stack_bytes == BATCH * sizeof(void *) + 3 * 8192,
	   "there are two more stacks, and the buffer");
	ok(!gc_help_called(heap, &seen) && !gc_help_share(heap, never) && !loops,
	   "without waiting mutators nothing is shared");
	heap->gc.waiting = 1;
	ok(gc_help_share(heap, first) && loops == 3 && joined == 2,
	   "with a waiting mutator the work is shared");
	for (k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k), n++)
		if (k != places[n] || k != gc_help_place(heap, (unsigned int)n) ||
		    gc_help_index(k) != (unsigned int)n || k->first != !n || k->mutator ||
		    k->mark.heap != heap || k->mark.stack != (n ? &k->own : &heap->stack))
			break;
	ok(n == 3 && !k, "three took part, the first one with the heap's stack");
	ok(gc_help_reported(heap) == 200, "the bytes that the others reported are added up");
	loops = 1;
	ok(gc_help_share(heap, second) && gc_help_next(heap, NULL)->mark.objects == 1 &&
		   !gc_help_reported(heap) && !gc_help_next(heap, gc_help_next(heap, NULL)),
	   "the next sharing begins with zero counters");
	heap->gc.waiting = 0;
	stop();
}

/* ---- what is handed over ---- */

static int stage, taken;
static size_t had, got, left;
static bool right, whole;
static struct gc_mark_part part_got, part_left;
static unsigned int parts_got;
static uint32_t part_from, part_to;

static void taker(struct gc_helper *k)
{
	struct gc_mark_stack *s = k->mark.stack;

	right = gc_help_more(k);
	got = (size_t)(s->top - s->base);
	for (size_t i = 0; i < got; i++)
		right &= s->base[i] == &object[i];
	parts_got = s->parts;
	if (s->parts)
		part_got = s->part[0];
	s->top = s->base;
	s->parts = 0;
	__atomic_store_n(&taken, 1, __ATOMIC_RELEASE);
	whole = !gc_help_more(k);
}

static void *run_taker(void *arg)
{
	(void)arg;
	gc_help_join(heap, NULL);
	return NULL;
}

static void giver(struct gc_helper *k)
{
	struct gc_mark_stack *s = k->mark.stack;
	pthread_t thread;

	if (stage++) {
		taker(k);
		return;
	}
	for (size_t i = 0; i < had; i++)
		*s->top++ = &object[i];
	if (part_to)
		s->part[s->parts++] = (struct gc_mark_part){ object, part_from, part_to };
	gc_help_give(k);
	right = (size_t)(s->top - s->base) == had;
	ok(right, "%zu objects: without idle helpers nothing is handed over", had);
	pthread_create(&thread, NULL, run_taker, NULL);
	while ((size_t)(s->top - s->base) == had && (!s->parts || s->part[0].end == part_to)) {
		gc_help_give(k);
		sched_yield();
	}
	left = (size_t)(s->top - s->base);
	for (size_t i = 0; i < left; i++)
		right &= s->base[i] == &object[had - left + i];
	ok(right, "%zu objects: the newest %zu stay, in order", had, left);
	part_left = s->part[0];
	s->top = s->base;
	s->parts = 0;
	/* Who gave would take it back. */
	while (!__atomic_load_n(&taken, __ATOMIC_ACQUIRE))
		sched_yield();
	ok(!gc_help_more(k), "no work is left then");
	pthread_join(thread, NULL);
}

static void half_is_given(size_t objects, uint32_t from, uint32_t to, size_t want, uint32_t half)
{
	if (!open_heap("plan=marksweep,trim=0,workers=2"))
		return;
	had = objects;
	part_from = from;
	part_to = to;
	parts_got = 0;
	stage = taken = 0;
	heap->gc.waiting = 1;
	gc_help_share(heap, giver);
	heap->gc.waiting = 0;
	ok(right && whole && got == want && left == had - want,
	   "%zu objects: the oldest %zu are handed over, in order, and all is done", had, want);
	if (half)
		ok(parts_got == 1 && part_got.array == object && part_got.next == half &&
			   part_got.end == to && part_left.next == from && part_left.end == half,
		   "of the references %u to %u those from %u on are handed over", from, to, half);
	else
		ok(!parts_got, "a single reference of an array is not handed over");
	stop();
}

/* ---- how many ---- */

static void numbers(void)
{
	static const struct {
		const char *options;
		bool shares;
	} rows[] = {
		{ "plan=marksweep,trim=0,workers=1", false },
		{ "plan=marksweep,trim=0,workers=2", true },
		{ "plan=marksweep,trim=0,workers=2,help=0", false },
		{ "plan=marksweep,trim=0,workers=2,overflow=card", false },
		{ "plan=semispace,trim=0,workers=2,help=0", true },
		{ "plan=semispace,trim=0,workers=1", false },
		{ "plan=gss,trim=0,workers=2,help=0", true },
	};
	cpu_set_t before, one;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!open_heap(rows[i].options))
			continue;
		ok(!heap->help == !rows[i].shares, "%s: %s shares", rows[i].options,
		   rows[i].shares ? "it" : "it works alone");
		if (!heap->help)
			ok(!gc_help_stack_bytes(heap) && !gc_help_called(heap, &seen),
			   "%s: without help there are no stacks and no call", rows[i].options);
		stop();
	}
	ok(gc_workers_max(&(struct gc_options){ .workers = 64 }) == 64 &&
		   gc_workers_max(&(struct gc_options){ .workers = 1 }) == 1,
	   "workers= sets the number");
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	ok(gc_workers_max(&(struct gc_options){ 0 }) == 1, "one CPU has one worker");
	sched_setaffinity(0, sizeof(before), &before);
	ok(gc_workers_max(&(struct gc_options){ 0 }) ==
		   (unsigned int)(CPU_COUNT(&before) < 4 ? CPU_COUNT(&before) : 4),
	   "one worker per CPU, at most four");
}

int main(void)
{
	numbers();
	places_are_given();
	half_is_given(2, 0, 0, 1, 0);
	half_is_given(3, 0, 0, 1, 0);
	half_is_given(255, 0, 0, 127, 0);
	half_is_given(256, 0, 0, 128, 0);
	half_is_given(258, 0, 0, 128, 0);
	half_is_given(700, 0, 0, 128, 0);
	half_is_given(0, 10, 20, 0, 15);
	half_is_given(0, 10, 12, 0, 11);
	half_is_given(10, 3, 20, 5, 11);
	half_is_given(10, 3, 4, 5, 0);
	return done();
}
