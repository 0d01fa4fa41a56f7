// SPDX-License-Identifier: MIT
/*
 * Description: the Dalvik seed's triggers and generations: when a cycle begins, whether it is
 * minor or major, the limit afterwards, and that marking returns to concurrent in time.
 */
#include "alone.h"

#include <gchint/gc-listener.h>
#include <math.h>
#include <time.h>

#define MIB 1048576.0

struct node {
	struct gc_header header;
	struct node *left, *right;
	long pad;
};

struct frame {
	struct gc_frame head;
	struct node *keep, *junk;
};

static const struct gc_type *type, *array;

static bool start(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };

	if (!open_heap(options))
		return false;
	type = gc_type_register(heap, &d, NULL);
	array = gc_type_register(heap, &a, NULL);
	return true;
}

/* @count nodes in a row from @f->keep on */
static void grow(struct frame *f, long count)
{
	while (count--) {
		f->junk = GC_NEW(m, type, struct node);
		gc_init(&f->junk->left, f->keep);
		f->keep = f->junk;
	}
}

static void drop(long count)
{
	while (count--)
		GC_NEW(m, type, struct node);
}

#define LONG 250 /* seconds: for a cycle that must come */

/* Parked until the daemon finished a cycle after @cycles, or for so many seconds. */
static void await(uint64_t cycles, int seconds)
{
	struct timespec ts = { 0, 2000000 };

	gc_park(m);
	for (int i = 0; i < seconds * 500 && stats().cycles <= cycles; i++)
		nanosleep(&ts, NULL);
	gc_unpark(m);
}

/* Parked until memory has been given back, which is no cycle. */
static void await_trim(void)
{
	struct timespec ts = { 0, 2000000 };

	gc_park(m);
	for (int i = 0; i < LONG * 500 && !stats().trims; i++)
		nanosleep(&ts, NULL);
	gc_unpark(m);
}

static void triggers(void)
{
	struct frame f;
	struct gc_heap_stats s;
	double live;

	if (!start("plan=cms,profile=hussein-2015,policy=fg,heap=8M,trim=0"))
		return;
	GC_PUSH(m, f);
	/* 8 MiB of 32 bytes fit, one more does not */
	drop(8 * 32768 - 2048);
	ok(stats().cycles == 0, "fg: no collection below the soft limit");
	drop(4096);
	s = stats();
	ok(s.cycles == 1 && s.by_cause[GC_CAUSE_ALLOC] == 1 && s.foreground_cycles == 1,
	   "fg: GC-ALLOC at the soft limit");
	grow(&f, 12 * 32768);
	gc_collect_full(m);
	s = stats();
	live = (double)s.live_bytes;
	ok(fabs(live - 12 * MIB) < 64 * 1024, "live bytes are the reachable bytes (%.2f MiB)",
	   live / MIB);
	ok(fabs((double)s.soft_limit - live * 1.25) < 4096,
	   "equation (1): a quarter of 12 MiB is above minfree");
	GC_POP(m, f);
	stop();

	if (!start("plan=cms,profile=hussein-2015,heap=8M,trim=0"))
		return;
	drop(8 * 32768 - 4096 - 2048);
	ok(stats().cycles == 0 && stats().concurrent_start == stats().soft_limit - 131072,
	   "no collection below the concurrent start");
	drop(4096);
	await(0, LONG);
	s = stats();
	ok(s.cycles >= 1 && s.by_cause[GC_CAUSE_CONCURRENT] >= 1,
	   "GC-CONC at the concurrent start");
	stop();
}

static void generations(void)
{
	struct gc_heap_stats s;
	struct frame f;

	if (!start("plan=gencms,heap=64M,trim=0,ahead=0,verify=all"))
		return;
	GC_PUSH(m, f);
	grow(&f, 4 * 32768);
	gc_collect(m);
	s = stats();
	ok(s.majors == 1 && s.live_objects == 4 * 32768, "gencms: the first collection is major");
	grow(&f, 32768);
	f.keep = NULL;
	grow(&f, 1000);
	gc_collect(m);
	s = stats();
	/* survivors stay although they died; of the young only what is reachable stays */
	if (!ok(s.majors == 1 && s.minors == 1 && s.live_objects == 4 * 32768 + 1000,
		"gencms: GC-EXPLICIT is minor and keeps the survivors"))
		printf("# %llu majors %llu minors %llu objects\n", (unsigned long long)s.majors,
		       (unsigned long long)s.minors, (unsigned long long)s.live_objects);
	ok(s.soft_limit > s.live_bytes, "gencms: the young generation has room");
	/* On a busy machine the limit may come before the daemon does: a minor GC-ALLOC. */
	for (int i = 0; i < 20 && s.majors < 2; i++) {
		if (s.concurrent_start > s.heap_bytes)
			drop((long)(s.concurrent_start - s.heap_bytes) / 32);
		drop(8192);
		await(s.cycles, 1);
		s = stats();
	}
	if (!ok(s.majors == 2 && s.live_objects < 200000,
		"gencms: the next GC-CONC is major, as noted"))
		printf("# %llu majors %llu minors %llu objects\n", (unsigned long long)s.majors,
		       (unsigned long long)s.minors, (unsigned long long)s.live_objects);
	GC_POP(m, f);
	stop();
}

/* In a heap of fixed size the kind of a collection goes by what either costs. */
static void prices(bool lasting)
{
	const uint32_t ring = 256 * 1024; /* 8 MiB of nodes */
	struct gc_heap_stats s;
	struct frame f;

	if (!start("plan=gencms,policy=fg,sizing=fixed,heap=32M,max=40M,trim=0"))
		return;
	GC_PUSH(m, f);
	f.keep = gc_alloc_array(m, array, ring);
	for (uint32_t i = 0; i < 24 * ring; i++) {
		f.junk = GC_NEW(m, type, struct node);
		if (!lasting || i < ring)
			gc_write(m, f.keep, (void **)((char *)f.keep + 8) + i % ring, f.junk);
	}
	s = stats();
	if (lasting)
		ok(s.minors >= 3 * s.majors && s.majors,
		   "gencms: minor collections where survivors live on (%llu to %llu)",
		   (unsigned long long)s.minors, (unsigned long long)s.majors);
	else
		ok(s.majors >= s.minors && s.minors,
		   "gencms: major collections where survivors die by the next one (%llu to %llu)",
		   (unsigned long long)s.majors, (unsigned long long)s.minors);
	GC_POP(m, f);
	stop();
}

static void trims(void)
{
	struct gc_heap_stats s;

	if (!start("plan=gencms,profile=hussein-2015,trim=0.1"))
		return;
	gc_collect(m);
	await(1, LONG);
	s = stats();
	ok(s.by_cause[GC_CAUSE_TRIM] > 0 && s.majors >= 2,
	   "hussein-2015: an idle heap is collected, by gencms in a major collection");
	stop();
	if (!start("plan=cms,profile=dalvik-4.3,trim=0.1"))
		return;
	await_trim();
	s = stats();
	ok(!s.cycles && s.trims, "dalvik-4.3: an idle heap is trimmed, not collected");
	stop();
}

/* A remark pause that finds much to do gives up and tries again. */
static void limits(const char *overflow)
{
	const uint32_t n = 200000;
	struct gc_heap_stats s;
	struct frame f;
	char options[160];

	snprintf(options, sizeof(options),
		 "plan=cms,heap=64M,sizing=fixed,remark-limit=1,preclean=0,overflow=%s,"
		 "markstack=4K,verify=trace+post",
		 overflow);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.keep = gc_alloc_array(m, array, n);
	for (uint32_t i = 0; i < n; i++) {
		f.junk = GC_NEW(m, type, struct node);
		gc_write(m, f.keep, (void **)((char *)f.keep + 8) + i, f.junk);
	}
	gc_collect(m);
	s = stats();
	if (!ok(s.remark_timeouts > 0 && s.live_objects == n + 1,
		"overflow=%s: a remark that times out returns to concurrent marking and loses "
		"nothing",
		overflow))
		printf("# %llu timeouts, %llu objects\n", (unsigned long long)s.remark_timeouts,
		       (unsigned long long)s.live_objects);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	triggers();
	generations();
	prices(true);
	prices(false);
	trims();
	limits("card");
	limits("card+clear");
	limits("card+filter");
	return done();
}
