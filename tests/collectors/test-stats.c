// SPDX-License-Identifier: MIT
/*
 * Description: gc_heap_stats() can be called at any time on any thread: counters only grow, and
 * no value is read while it is written (the thread sanitizer checks that).
 */
#include "tap.h"

#include <gchint/gc.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define STEPS 60000

struct node {
	struct gc_header header;
	struct node *next;
	long pad;
};

static struct gc_heap *heap;
static const struct gc_type *type, *bytes;
static int quit;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *ask(void *arg)
{
	struct gc_heap_stats a, b;
	long *backwards = arg;

	gc_heap_stats(heap, &a);
	while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST)) {
		gc_heap_stats(heap, &b);
		/* Of two members the later may be many cycles on: each word is whole, not all. */
		*backwards += b.cycles < a.cycles || b.marked_bytes < a.marked_bytes ||
			      b.stw_ns < a.stw_ns || b.peak_live_bytes < a.peak_live_bytes ||
			      a.majors + a.minors > b.cycles + 1;
		a = b;
		sched_yield();
	}
	return NULL;
}

static void churn(struct gc_mutator *m)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
		void *array;
	} f;

	GC_PUSH(m, f);
	for (int i = 0; i < STEPS; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		if (f.fresh) {
			gc_init(&f.fresh->next, i % 5000 ? f.list : NULL);
			f.list = f.fresh;
		}
		if (i % 500 == 0)
			f.array = gc_alloc_array(m, bytes, 20000);
		if (i % 9999 == 0)
			gc_collect(m);
	}
	GC_POP(m, f);
}

static void *work(void *arg)
{
	struct gc_mutator *m;

	(void)arg;
	if (gc_mutator_attach(heap, &m))
		return NULL;
	churn(m);
	gc_mutator_detach(m);
	return NULL;
}

static void watch(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	pthread_t asker, worker[2];
	uint64_t begin = now(), took;
	struct gc_heap_stats s;
	struct gc_error err;
	long backwards = 0;

	if (gc_heap_create(&heap, options, NULL, &err)) {
		ok(false, "%s starts: %s", options, err.text);
		return;
	}
	type = gc_type_register(heap, &d, NULL);
	bytes = gc_type_register(heap, &b, NULL);
	quit = 0;
	pthread_create(&asker, NULL, ask, &backwards);
	for (int i = 0; i < 2; i++)
		pthread_create(&worker[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(worker[i], NULL);
	__atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
	pthread_join(asker, NULL);
	gc_heap_stats(heap, &s);
	took = now() - begin;
	gc_heap_destroy(heap);
	/* Two workers and the daemon. */
	if (!ok((s.contentions || !s.contention_ns) && s.contention_ns <= 3 * took,
		"%s: the wait for the heap's lock is below the elapsed time", options))
		printf("# %llu times, %llu ns of %llu\n", (unsigned long long)s.contentions,
		       (unsigned long long)s.contention_ns, (unsigned long long)took);
	ok(!backwards, "%s: counters only grow while they are read concurrently", options);
}

int main(void)
{
	watch("plan=cms,heap=2M,max=16M,trim=0.01");
	watch("plan=cms,policy=adaptive,heap=2M,max=16M");
	watch("plan=cmsfly,heap=2M,max=16M,sizing=membalancer");
	watch("plan=gencms,heap=2M,max=16M");
	watch("plan=gencms,policy=bg,heap=2M,max=16M,overflow=card,markstack=4K");
	watch("plan=gss,nursery=1M,heap=2M,max=16M,threshold=256K,trim=0.01");
	watch("plan=immix,heap=2M,max=16M,defrag=always");
	watch("plan=marksweep,heap=2M,max=16M,trim=0.01");
	watch("plan=marksweep,heap=2M,max=16M,profiler=64K");
	watch("plan=semispace,heap=2M,max=16M,trim=0.01");
	watch("plan=stickyimmix,heap=2M,max=16M");
	return done();
}
