// SPDX-License-Identifier: MIT
/*
 * Description: a mutator that is about to resume while the next stop begins does not run: the
 * two instructions in which it could are stretched. A mutator that only allocates stops, too.
 */
#include "tap.h"

#include <time.h>

#include "cycle/collect.h"
#include "heap/futex.h"
#include "thread/help.h"
#include "listener/phase.h"
#include "thread/safepoint.h"
#include "thread/threads.h"

/* Every store of the file under test comes by here first. */
static void before(const void *word, unsigned int value);
#define __atomic_store_n(p, v, order) (before(p, (unsigned int)(v)), __atomic_store_n(p, v, order))
#include "thread/safepoint.c"
#undef __atomic_store_n

static struct gc_heap *heap;
static struct gc_mutator *m;
static struct gc_thread *victim;
static int armed, in_window, stopped_again, ran, quit, attached;

static int get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void rest(void)
{
	struct timespec ts = { 0, 100000 };

	nanosleep(&ts, NULL);
}

static void before(const void *word, unsigned int value)
{
	if (!get(&armed) || !victim || word != (const void *)&victim->state || value != GC_RUNNING)
		return;
	set(&armed, 0);
	set(&in_window, 1);
	while (!get(&stopped_again))
		rest();
}

static void *poll(void *arg)
{
	bool parks = arg != NULL;
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return NULL;
	victim = gc_thread(own);
	set(&attached, 1);
	while (!get(&quit)) {
		if (parks) {
			gc_park(own);
			while (!get(&armed) && !get(&quit))
				rest();
			gc_unpark(own);
		} else {
			gc_safepoint(own);
		}
		if (get(&in_window))
			set(&ran, 1);
	}
	victim = NULL;
	gc_mutator_detach(own);
	return NULL;
}

static void window(bool parks)
{
	pthread_t thread;

	if (gc_heap_create(&heap, "plan=marksweep,trim=0", NULL, NULL) ||
	    gc_mutator_attach(heap, &m)) {
		ok(false, "a heap is created");
		return;
	}
	armed = in_window = stopped_again = ran = quit = attached = 0;
	pthread_create(&thread, NULL, poll, parks ? &heap : NULL);
	while (!get(&attached))
		rest();
	gc_cycle_acquire(heap, gc_thread(m));
	if (!parks) {
		gc_world_stop(heap);
		set(&armed, 1);
		gc_world_restart(heap);
	} else {
		set(&armed, 1);
	}
	while (!get(&in_window))
		rest();
	/* The collector sees it stopped, or parked. */
	gc_world_stop(heap);
	set(&stopped_again, 1);
	for (int i = 0; i < 1000 && !get(&ran); i++)
		rest();
	ok(!get(&ran), "a mutator that returns from %s stops before it touches the heap",
	   parks ? "native code" : "a stop");
	set(&quit, 1);
	gc_world_restart(heap);
	gc_cycle_release(heap);
	gc_park(m);
	pthread_join(thread, NULL);
	gc_unpark(m);
	ok(get(&ran), "it runs again when the world restarts");
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

/* ---- a program that only allocates --------------------------------------- */

static uint32_t length;
static const struct gc_type *bytes;

static void *allocate(void *arg)
{
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return arg;
	set(&attached, 1);
	while (!(__atomic_load_n(&own->poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP))
		rest();
	gc_alloc_array(own, bytes, length);
	/* Who is still asked to stop has not. */
	set(&ran, __atomic_load_n(&own->poll, __ATOMIC_SEQ_CST) & GC_POLL_STOP);
	gc_mutator_detach(own);
	return NULL;
}

static void allocation(uint32_t size)
{
	const struct gc_type_desc d = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	pthread_t thread;

	if (gc_heap_create(&heap, "plan=marksweep,trim=0", NULL, NULL) ||
	    gc_mutator_attach(heap, &m)) {
		ok(false, "a heap is created");
		return;
	}
	bytes = gc_type_register(heap, &d, NULL);
	length = size;
	attached = ran = 0;
	pthread_create(&thread, NULL, allocate, NULL);
	while (!get(&attached))
		rest();
	gc_collect(m);
	pthread_join(thread, NULL);
	ok(!get(&ran), "a mutator that allocates %u bytes stops on request", size);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

int main(void)
{
	allocation(8);
	allocation(100000);
	window(false);
	window(true);
	return done();
}
