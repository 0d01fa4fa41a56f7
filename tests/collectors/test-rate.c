// SPDX-License-Identifier: MIT
/*
 * Description: the allocation rate and the instant when the headroom will be used up, computed
 * by hand, and as a listener sees them.
 */
#include "tap.h"

#include <gchint/gc-listener.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "policy/rate.h"

#define MS  1000000ull
#define MIB 1048576.0

static void near(double got, double want, const char *what)
{
	if (!ok(fabs(got - want) <= fabs(want) * 1e-9, "%s", what))
		printf("# %.9g, not %.9g\n", got, want);
}

static void by_hand(void)
{
	struct gc_rate r = { .since = { .now = 1000 * MS } };
	struct gc_rate_in in = { .now = 1100 * MS, .threads = 1 };

	ok(!gc_rate_exhaust(&r, in.now, 1 << 20), "without a rate the instant is unknown");
	in.granted = 1000000;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .01, "the first interval sets the rate");
	ok(gc_rate_exhaust(&r, in.now, 500000) == 1150 * MS,
	   "the instant is now plus headroom over rate");

	in.now += 10000;
	in.granted += 1000000;
	ok(!gc_rate_sample(&r, &in), "a short interval is no sample");
	near(r.bytes_per_ns, .01, "a short interval does not change the rate");
	in.now += 100 * MS - 10000;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .01, "a short interval is part of the next one");

	in.now += 10 * MS;
	in.granted += 1000;
	in.paused_ns += 9 * MS;
	gc_rate_sample(&r, &in);
	ok(r.bytes_per_ns > .0099 && r.bytes_per_ns <= .01,
	   "two cycles in quick succession have little weight");

	/* 100 ms, of which the one mutator ran 25: four times what the clock says */
	r.weight = 0;
	in.now += 100 * MS;
	in.granted += 1000000;
	in.paused_ns += 75 * MS;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .04, "time of collecting and waiting is subtracted");
	in.now += 1000 * MS;
	in.granted += 1000000;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, (.04 * .5 + .001) / 1.5, "a long idle time is one interval");

	r.weight = 0;
	in.threads = 4;
	in.now += 100 * MS;
	in.granted += 1000000;
	in.paused_ns += 200 * MS;
	in.stopped_ns += 20 * MS;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .02, "pauses are divided by the number of threads");

	r.weight = 0;
	in.now += 100 * MS;
	in.granted += 1000000;
	in.paused_ns += 50 * MS;
	in.stopped_ns += 50 * MS;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .02, "parked threads do not shorten the stop of the world");

	r.weight = 0;
	in.now += 160 * MS;
	in.granted += 1000000;
	in.paused_ns += 4 * 160 * MS;
	gc_rate_sample(&r, &in);
	near(r.bytes_per_ns, .1, "at least a sixteenth of the time counts");

	r.bytes_per_ns = 1e-12;
	ok(!gc_rate_exhaust(&r, in.now, 1ull << 62), "an instant beyond the clock is unknown");
}

/* ---- as a listener hears it ------------------------------------------------ */

struct node {
	struct gc_header header;
	struct node *next;
	long pad[6];
};

struct ear {
	struct gc_listener base;
	double worst, best; /* told time to exhaustion over what the program's pace makes it */
	double bytes_per_ns;
	uint64_t heard, full;
};

/*
 * What is told when concurrent marking begins: the headroom must be what the limit leaves
 * and last as long as the program's own pace says. Skips the first cycles.
 */
static void marking(struct gc_listener *self, const struct gc_event *e)
{
	struct ear *ear = (struct ear *)self;
	double told, want;

	ear->full = e->headroom;
	if (e->cycle < 4 || !e->exhaust_ns || e->stw || e->headroom < 65536)
		return;
	told = (double)(e->exhaust_ns - e->time_ns);
	want = (double)e->headroom / ear->bytes_per_ns;
	ear->heard++;
	if (ear->heard == 1 || told / want > ear->best)
		ear->best = told / want;
	if (ear->heard == 1 || told / want < ear->worst)
		ear->worst = told / want;
}

static const struct gc_listener_ops ear_ops = { .mark_begin = marking };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * Allocates 64-byte nodes, 4 KiB at a time, at most at @bytes_per_ns: who was held up does
 * not catch up. Returns the pace that came out.
 */
static double steady(struct gc_mutator *m, const struct gc_type *t, double bytes_per_ns,
		     double bytes, bool by_self)
{
	struct {
		struct gc_frame head;
		struct node *list;
	} f;
	uint64_t start = now_ns(), last = start;
	double done = 0;

	GC_PUSH(m, f);
	for (long i = 0; done < bytes; i++) {
		struct node *n = GC_NEW(m, t, struct node);

		gc_init(&n->next, i % 8000 ? f.list : NULL);
		f.list = n;
		done += sizeof(*n);
		if (i % 64)
			continue;
		if (by_self && !(i % 65536))
			gc_collect(m);
		gc_park(m);
		while ((double)(now_ns() - last) * bytes_per_ns < 64 * sizeof(*n)) {
			struct timespec ts = { 0, 50000 };

			nanosleep(&ts, NULL);
		}
		gc_unpark(m);
		last = now_ns();
	}
	GC_POP(m, f);
	return done / (double)(now_ns() - start);
}

static void heard(const char *options, bool by_self)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct ear ear = { .base = { &ear_ops }, .bytes_per_ns = .04 };
	struct gc_mutator *m;
	struct gc_heap *heap;
	double pace;

	if (gc_heap_create(&heap, options, &ear.base, NULL) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts", options);
		return;
	}
	pace = steady(m, gc_type_register(heap, &d, NULL), ear.bytes_per_ns, 40 * MIB, by_self);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (!ok(ear.heard && ear.worst > .3 && ear.best * pace < 3 * ear.bytes_per_ns,
		"%s%s: the headroom lasts until the predicted instant", options,
		by_self ? ", collected by the mutator" : ""))
		printf("# told %.3f to %.3f of what %.3f bytes/ns make it, %llu times; ran at "
		       "%.3f\n",
		       ear.worst, ear.best, ear.bytes_per_ns, (unsigned long long)ear.heard, pace);
}

static void headroom(const char *options, double least, double most)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct ear ear = { .base = { &ear_ops }, .bytes_per_ns = 1 };
	struct gc_mutator *m;
	struct gc_heap *heap;

	if (gc_heap_create(&heap, options, &ear.base, NULL) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts", options);
		return;
	}
	gc_type_register(heap, &d, NULL);
	gc_collect_full(m);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (!ok((double)ear.full >= least * MIB && (double)ear.full <= most * MIB,
		"%s: the headroom ends where a mutator waits", options))
		printf("# %.2f MiB\n", (double)ear.full / MIB);
}

int main(void)
{
	by_hand();
	heard("plan=cms,sizing=fixed,heap=6M", false);
	heard("plan=cms,heap=6M", true);
	heard("plan=cms,policy=fg,heap=6M", true);
	headroom("plan=cms,pace=0,heap=4M,max=64M", 3.9, 4);
	/* who is paced must leave an eighth */
	headroom("plan=cms,heap=4M,max=64M", 3.4, 3.5);
	/* the daemon collects alone: mutators go on beyond the limit */
	headroom("plan=cms,policy=bg,heap=4M,max=64M", 63.9, 64);
	return done();
}
