// SPDX-License-Identifier: MIT
/*
 * Description: between the edges of a cycle: when progress is reported and how it paces
 * mutators, what an order does to the state and the pace, and when a waiting thread is no longer
 * counted.
 */
#include "tap.h"

#include <heap/heap.h>
#include <heap/order.h>
#include <listener/phase.h>
#include <thread/threads.h>

#define K 1024u

static struct gc_heap *heap;
static struct gc_mutator *m;
static int told;
static struct gc_event last;

static void progress(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	told++;
	last = *e;
}

static const struct gc_listener_ops ops = { .progress = progress };
static struct gc_listener listener = { &ops };
static const struct gc_listener_ops no_ops;
static struct gc_listener deaf = { &no_ops };

static bool open_with(struct gc_listener *l)
{
	return ok(!gc_heap_create(&heap, "plan=cms,policy=fg,heap=8M", l, NULL) &&
			  !gc_mutator_attach(heap, &m),
		  "a heap");
}

static void stop(void)
{
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void steps(void)
{
	if (!open_with(&listener))
		return;
	gc_phase_begin(heap, GC_PHASE_MARK, 1000 * K);
	gc_phase_work(heap, 256 * K - 1);
	ok(!told && heap->cycle.done == 256 * K - 1 && heap->budget.pace.done == 256 * K - 1,
	   "progress below 256 KiB is not reported but paces mutators");
	gc_phase_work(heap, 256 * K);
	ok(told == 1 && last.work_done == 256 * K && last.work_total == 1000 * K &&
		   last.phase == GC_PHASE_MARK && !last.duration_ns && last.time_ns,
	   "progress is reported at 256 KiB");
	gc_phase_work(heap, 512 * K - 1);
	ok(told == 1, "progress is not reported again before the next 256 KiB");
	gc_phase_work(heap, 512 * K + 5);
	ok(told == 2 && last.work_done == 512 * K + 5,
	   "progress is reported again after the next 256 KiB");
	gc_phase_work(heap, 768 * K + 4);
	ok(told == 2, "a step begins at the last report");
	gc_phase_work(heap, 768 * K + 5);
	ok(told == 3 && heap->budget.pace.done == 768 * K + 5, "steps are exact to the byte");
	gc_phase_end(heap);
	ok(heap->cycle.phase == GC_PHASE_IDLE, "after the end there is no phase");
	gc_phase_begin(heap, GC_PHASE_SWEEP, 7);
	ok(heap->cycle.phase == GC_PHASE_SWEEP && !heap->cycle.done && heap->cycle.total == 7,
	   "the next phase begins at 0");
	gc_phase_work(heap, 256 * K);
	ok(told == 4 && last.phase == GC_PHASE_SWEEP && heap->budget.pace.done == 768 * K + 5,
	   "sweeping reports progress but does not pace mutators");
	gc_phase_end(heap);
	stop();
	if (!open_with(&deaf))
		return;
	gc_phase_begin(heap, GC_PHASE_MARK, 7);
	gc_phase_work(heap, 256 * K);
	gc_phase_work(heap, 600 * K);
	ok(told == 4 && heap->cycle.next_progress == 856 * K, "without a listener steps advance");
	gc_phase_end(heap);
	stop();
}

static void orders(void)
{
	if (!open_with(NULL))
		return;
	gc_order_daemon(heap, GC_CYCLE_PASSED);
	gc_order_daemon(heap, GC_CYCLE_REQUESTED);
	ok(heap->gc.control.state == GC_CYCLE_IDLE && !heap->budget.pace.on,
	   "without a daemon nothing is ordered");
	/* As if there were one */
	heap->gc.daemon_up = true;
	gc_order_daemon(heap, GC_CYCLE_REQUESTED);
	ok(heap->gc.control.state == GC_CYCLE_DUE_EXPLICIT && !heap->budget.pace.on,
	   "an explicit request does not pace mutators");
	heap->gc.control.state = GC_CYCLE_IDLE;
	gc_order_daemon(heap, GC_CYCLE_PASSED);
	ok(heap->gc.control.state == GC_CYCLE_DUE && heap->budget.pace.on == 1,
	   "passing the concurrent start paces mutators");
	heap->budget.pace.on = 0;
	gc_order_daemon(heap, GC_CYCLE_NEEDED);
	ok(heap->gc.control.state == GC_CYCLE_DUE && !heap->budget.pace.on,
	   "mutators are paced once per order");
	gc_cycle_step(&heap->gc.control, GC_CYCLE_SERVE);
	heap->budget.pace.on = 1;
	gc_cycle_usable(heap);
	ok(heap->gc.control.state == GC_CYCLE_FREED && heap->gc.control.freed == 1 &&
		   !heap->gc.control.ended && !heap->budget.pace.on && heap->cycle.usable_ns &&
		   heap->cycle.usable_cpu_ns,
	   "usable memory ends pacing, and its time is recorded");
	gc_order_daemon(heap, GC_CYCLE_NEEDED);
	ok(heap->gc.control.state == GC_CYCLE_FREED_DUE && !heap->budget.pace.on,
	   "an order during sweeping stays pending and does not pace mutators");
	heap->gc.control.state = GC_CYCLE_IDLE;
	heap->gc.daemon_up = false;
	stop();
}

/* ---- who waits ---- */

static int collecting;

static void cycle_begin(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	__atomic_store_n(&collecting, 1, __ATOMIC_SEQ_CST);
	/* Until the other has come to wait: it is counted, and is no runner. */
	while (gc_threads_wait(heap) != 1)
		usleep(100);
}

static void *wait_for_it(void *arg)
{
	struct gc_mutator *other;

	(void)arg;
	if (gc_mutator_attach(heap, &other))
		return NULL;
	while (!__atomic_load_n(&collecting, __ATOMIC_SEQ_CST))
		gc_safepoint(other);
	gc_collect(other);
	gc_mutator_detach(other);
	return NULL;
}

static void waiting(void)
{
	static const struct gc_listener_ops waits = { .cycle_begin = cycle_begin };
	static struct gc_listener begins = { &waits };
	pthread_t other;

	if (!open_with(&begins))
		return;
	ok(!gc_threads_wait(heap), "no thread waits");
	pthread_create(&other, NULL, wait_for_it, NULL);
	gc_collect(m);
	gc_park(m);
	pthread_join(other, NULL);
	gc_unpark(m);
	ok(!gc_threads_wait(heap) && heap->stats.cycles == 1, "a thread waited and was woken up");
	ok(heap->gc.control.state == GC_CYCLE_IDLE && heap->gc.control.ended == 1 &&
		   heap->gc.control.freed == 1,
	   "one cycle ran and ended");
	stop();
}

/* ---- how much is to be marked ---- */

static uint64_t expected, marked;

static void mark_begin(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	expected = e->work_total;
	marked = 0;
}

static void mark_end(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	marked = e->work_done > marked ? e->work_done : marked;
}

static const struct gc_type *type_of_size(uint32_t size)
{
	const struct gc_type_desc desc = { .name = "data", .size = size };

	return gc_type_register(heap, &desc, NULL);
}

/* 512 KiB that are kept, and 2000 of garbage */
static void fill(void **kept, const struct gc_type *large, const struct gc_type *small)
{
	*kept = gc_alloc(m, large);
	for (unsigned int i = 0; i < 2000; i++)
		gc_alloc(m, small);
}

static void estimate(const char *plan)
{
	static const struct gc_listener_ops marks = { .mark_begin = mark_begin,
						      .mark_end = mark_end };
	static struct gc_listener marker = { &marks };
	const struct gc_type *large, *small;
	struct {
		struct gc_frame head;
		void *kept;
	} f;
	char options[96];

	snprintf(options, sizeof(options), "plan=%s,policy=fg,sizing=fixed,heap=8M,max=8M", plan);
	if (!ok(!gc_heap_create(&heap, options, &marker, NULL) && !gc_mutator_attach(heap, &m),
		"%s: a heap", plan))
		return;
	large = type_of_size(512 * K);
	small = type_of_size(K);
	GC_PUSH(m, f);
	fill(&f.kept, large, small);
	gc_collect(m);
	ok(expected >= 2000 * K, "%s: the first cycle may mark all that is in use", plan);
	fill(&f.kept, large, small);
	gc_collect(m);
	ok(expected >= 512 * K && expected < 1000 * K && marked >= 512 * K,
	   "%s: the next is expected to mark as much as the last, not the garbage", plan);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	steps();
	estimate("cms");
	estimate("marksweep");
	estimate("immix");
	orders();
	waiting();
	return done();
}
