// SPDX-License-Identifier: MIT
/*
 * Description: a mutator that waits for another one's collection has a wait pause from begin to
 * end.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>

#define GIVE_UP 250000 /* milliseconds */

static struct gc_heap *heap;
static int collecting, beside, told[GC_PAUSE_COUNT], over[GC_PAUSE_COUNT], wrong;
static __thread struct gc_event began;

static void await(int *what)
{
	for (int i = 0; i < GIVE_UP && !__atomic_load_n(what, __ATOMIC_SEQ_CST); i++)
		usleep(1000);
}

/* The first cycle begins when the other thread waits for it. */
static void cycle_begin(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	__atomic_store_n(&collecting, 1, __ATOMIC_SEQ_CST);
	await(&told[GC_PAUSE_WAIT]);
}

/* What is free is known by then: nobody waits until all of it is swept. */
static void sweep_begin(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (!e->stw) {
		await(&over[GC_PAUSE_WAIT]);
		__atomic_store_n(&beside, __atomic_load_n(&over[GC_PAUSE_WAIT], __ATOMIC_SEQ_CST),
				 __ATOMIC_SEQ_CST);
	}
}

static void paused(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	began = *e;
	__atomic_add_fetch(&told[e->pause], 1, __ATOMIC_SEQ_CST);
}

static void resumed(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (!began.time_ns || began.pause != e->pause || began.mutator != e->mutator ||
	    e->foreground != (e->pause == GC_PAUSE_FOREGROUND) ||
	    e->duration_ns != e->time_ns - began.time_ns)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	began.time_ns = 0;
	__atomic_add_fetch(&over[e->pause], 1, __ATOMIC_SEQ_CST);
}

static const struct gc_listener_ops ops = {
	.cycle_begin = cycle_begin,
	.sweep_begin = sweep_begin,
	.mutator_paused = paused,
	.mutator_resumed = resumed,
};
static struct gc_listener listener = { &ops };

static void *wait_for_it(void *arg)
{
	struct gc_mutator *m;

	(void)arg;
	if (gc_mutator_attach(heap, &m))
		return NULL;
	while (!__atomic_load_n(&collecting, __ATOMIC_SEQ_CST))
		gc_safepoint(m);
	gc_collect(m);
	gc_mutator_detach(m);
	return NULL;
}

static void both(const char *options, bool sweeps_beside)
{
	struct gc_heap_stats s;
	struct gc_error err;
	struct gc_mutator *m;
	pthread_t other;

	collecting = beside = wrong = 0;
	memset(told, 0, sizeof(told));
	memset(over, 0, sizeof(over));
	if (gc_heap_create(&heap, options, &listener, &err) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts: %s", options, err.text);
		return;
	}
	pthread_create(&other, NULL, wait_for_it, NULL);
	gc_collect(m);
	gc_park(m);
	pthread_join(other, NULL);
	gc_unpark(m);
	gc_heap_stats(heap, &s);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (!ok(told[GC_PAUSE_FOREGROUND] == 1 && over[GC_PAUSE_FOREGROUND] == 1 &&
			told[GC_PAUSE_WAIT] == 1 && over[GC_PAUSE_WAIT] == 1 && !wrong &&
			s.cycles == 1 && beside == sweeps_beside,
		"%s: one mutator collects, one waits for it, and both pauses are reported",
		options))
		printf("# foreground %d and %d, waits %d and %d, %d not as they began, %llu "
		       "cycles, %d over before the sweep was\n",
		       told[GC_PAUSE_FOREGROUND], over[GC_PAUSE_FOREGROUND], told[GC_PAUSE_WAIT],
		       over[GC_PAUSE_WAIT], wrong, (unsigned long long)s.cycles, beside);
}

int main(void)
{
	both("plan=cms,policy=fg,heap=2M,max=16M", true);
	both("plan=gencms,policy=fg,heap=2M,max=16M", true);
	both("plan=immix,heap=2M,max=16M", false);
	both("plan=marksweep,heap=2M,max=16M", false);
	both("plan=semispace,heap=2M,max=16M", false);
	return done();
}
