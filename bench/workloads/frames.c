// SPDX-License-Identifier: MIT
/*
 * A program that draws: at each tick of a display a thread allocates a frame's objects, drops
 * those of the frame before, computes and sleeps until the next tick. A frame that is not
 * done by then is missed, and the next begins at the tick after. Each frame is drawn,
 * however late, so that the work is the same for every governor.
 */
#include "lib/random.h"
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct node {
	HEAP_HEADER
	struct node *next;
	uint64_t number, payload[5];
};

struct frames {
	const struct heap_type *node, *refs;
	uint64_t hz, frames, alloc, work, lasting, swing, seed;
};

struct worker {
	const struct frames *p;
	struct bench *b;
	struct heap_thread *t;
	struct {
		struct heap_frame head;
		struct node *frame; /* what this frame has allocated */
		struct node *before; /* what the display shows */
		struct heap_refs *lasting;
	} f;
	struct random draw;
	struct totals totals;
};

static const struct setting settings[] = {
	{ "alloc", "96K", "bytes that a frame allocates, on average" },
	{ "frames", "120", "frames per thread" },
	{ "hz", "60", "ticks per second" },
	{ "lasting", "4M",
	  "bytes that live all the time, a thread; a frame replaces a few of them" },
	{ "seed", "1", "thread i draws from seed+i" },
	{ "swing", "50", "maximum deviation of a frame's work and allocation, in per cent" },
	{ "threads", "1", "threads, each with its own frames; 0: as many as CPUs" },
	{ "work", "2000000", "steps of computation per frame, on average" },
	{ NULL, NULL, NULL },
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int frames_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind node = {
		.name = "Node",
		.size = sizeof(struct node),
		.refs = HEAP_REF(struct node, next),
	};
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	const struct settings *s = &b->settings;
	struct frames *p = calloc(1, sizeof(*p));
	int code;

	b->state = p;
	if (!p)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(s, "alloc", sizeof(struct node), 1 << 30, &p->alloc, err)) ||
	    (code = settings_size(s, "frames", 1, 1 << 20, &p->frames, err)) ||
	    (code = settings_size(s, "hz", 1, 1000, &p->hz, err)) ||
	    (code = settings_size(s, "lasting", sizeof(struct node), 1 << 30, &p->lasting, err)) ||
	    (code = settings_size(s, "seed", 0, UINT32_MAX, &p->seed, err)) ||
	    (code = settings_size(s, "swing", 0, 100, &p->swing, err)) ||
	    (code = settings_size(s, "work", 0, UINT32_MAX, &p->work, err)))
		return code;
	p->node = workload_type(b, &node, err);
	p->refs = workload_type(b, &refs, err);
	b->request_count = p->frames * (uint64_t)b->threads;
	b->requests = calloc(b->request_count, sizeof(*b->requests));
	b->deadline_ns = (int64_t)(1000000000 / p->hz);
	b->steps_total = b->request_count;
	return p->node && p->refs && b->requests ? 0 : -ENOMEM;
}

static struct node *new_node(struct worker *w, uint64_t number)
{
	struct node *n = HEAP_NEW(w->t, w->p->node, struct node);

	if (n) {
		n->number = number;
		totals_add(&w->totals, sizeof(*n));
	}
	return n;
}

/* One chain of the lasting set: @count nodes that all hold the number of its slot. */
static int build_chain(struct worker *w, uint64_t slot, uint64_t count)
{
	w->f.frame = NULL;
	for (uint64_t i = 0; i < count; i++) {
		struct node *n = new_node(w, slot);

		if (!n)
			return -ENOMEM;
		heap_init(&n->next, w->f.frame);
		w->f.frame = n;
	}
	heap_store(w->t, w->f.lasting, &w->f.lasting->ref[slot], w->f.frame);
	return 0;
}

#define CHAIN 16 /* nodes of a chain */

static int build_lasting(struct worker *w)
{
	uint64_t chains = w->p->lasting / (CHAIN * sizeof(struct node)) + 1;
	int code = 0;

	w->f.lasting = heap_array(w->t, w->p->refs, (uint32_t)chains);
	if (!w->f.lasting)
		return -ENOMEM;
	for (uint64_t i = 0; !code && i < chains; i++)
		code = build_chain(w, i, CHAIN);
	return code;
}

static int check_chain(struct worker *w, uint64_t slot)
{
	uint64_t count = 0;

	for (const struct node *n = w->f.lasting->ref[slot]; n; n = n->next, count++)
		if (n->number != slot)
			return -EILSEQ;
	return count == CHAIN ? 0 : -EILSEQ;
}

/* @average, varied at random by up to the setting "swing". */
static uint64_t average_swing(struct worker *w, uint64_t average)
{
	double by = (2 * random_unit(&w->draw) - 1) * (double)w->p->swing / 100;

	return (uint64_t)((double)average * (1 + by));
}

static int draw_frame(struct worker *w, uint64_t frame, uint64_t chains)
{
	uint64_t nodes = average_swing(w, w->p->alloc) / sizeof(struct node) + 1;
	uint64_t work = average_swing(w, w->p->work), sum = frame;
	int code = build_chain(w, (uint64_t)random_below(&w->draw, (int32_t)chains), CHAIN);

	w->f.frame = NULL;
	for (uint64_t i = 0; !code && i < nodes; i++) {
		struct node *n = new_node(w, frame);

		if (!n)
			return -ENOMEM;
		heap_init(&n->next, w->f.frame);
		w->f.frame = n;
	}
	for (uint64_t i = 0; i < work; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	w->totals.checksum += sum;
	for (const struct node *n = w->f.before; !code && n; n = n->next)
		code = n->number + 1 == frame ? 0 : -EILSEQ;
	w->f.before = w->f.frame;
	return code;
}

static void wait_until(struct worker *w, int64_t ns)
{
	const struct timespec at = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	heap_park(w->t);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	heap_unpark(w->t);
}

static int frames_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct frames *p = b->state;
	struct worker w = { .p = p, .b = b, .t = t };
	struct request *r = &b->requests[p->frames * (uint64_t)index];
	uint64_t chains = p->lasting / (CHAIN * sizeof(struct node)) + 1;
	int64_t period = b->deadline_ns, tick;
	int code;

	random_seed(&w.draw, (int64_t)p->seed + index);
	HEAP_PUSH(t, w.f);
	code = build_lasting(&w);
	tick = now_ns() + period;
	for (uint64_t i = 0; !code && i < p->frames; i++) {
		wait_until(&w, tick);
		r[i].start = tick;
		code = draw_frame(&w, i + 1, chains);
		r[i].end = now_ns();
		/* The first tick that is not over. */
		do
			tick += period;
		while (tick < r[i].end);
		bench_step(b);
	}
	for (uint64_t i = 0; !code && i < chains; i++)
		code = check_chain(&w, i);
	HEAP_POP(t, w.f);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_frames = {
	.name = "frames",
	.summary = "frames at the ticks of a display, 60 or 90 per second",
	.stresses = "a deadline that a collection may make a frame miss; idle between frames",
	.settings = settings,
	.prepare = frames_prepare,
	.run = frames_run,
};
