// SPDX-License-Identifier: MIT
/*
 * Cycles, one at a time, run by a mutator in the foreground or by the daemon. gc.lock protects
 * the right to collect and the daemon's orders; no thread waits for a safepoint while it holds
 * the lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../heap/budget.h"
#include "../heap/headroom.h"
#include "../heap/order.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../thread/help.h"
#include "../thread/safepoint.h"
#include "../thread/stack.h"
#include "../thread/threads.h"
#include "../trace/verify.h"
#include "adapt.h"
#include "collect.h"
#include "sizing.h"

static void waiting_add(struct gc_heap *heap, uint32_t more)
{
	__atomic_fetch_add(&heap->gc.waiting, more, __ATOMIC_SEQ_CST);
}

static void control_step(struct gc_heap *heap, enum gc_cycle_event event)
{
	gc_cycle_step(&heap->gc.control, event);
}

/* Acquire the right to collect if it is free; else @self parks until memory is freed: false. */
static bool cycle_acquire_or_wait(struct gc_heap *heap, struct gc_thread *self)
{
	struct gc_cycle_control *control = &heap->gc.control, seen;
	uint32_t called = 0;
	uint64_t begin;

	pthread_mutex_lock(&heap->gc.lock);
	if (gc_cycle_step(control, GC_CYCLE_BEGIN)) {
		pthread_mutex_unlock(&heap->gc.lock);
		if (self && self->stack)
			gc_stack_save(self->stack);
		return true;
	}
	seen = *control;
	if (self) {
		gc_pause_begin(self, GC_PAUSE_WAIT, &begin);
		gc_state_park(self);
		waiting_add(heap, 1);
	}
	/* Both counters: the next cycle may have begun before this thread wakes up. */
	while (control->freed == seen.freed && control->ended == seen.ended) {
		if (!self || !gc_help_called(heap, &called)) {
			pthread_cond_wait(&heap->gc.done, &heap->gc.lock);
			continue;
		}
		pthread_mutex_unlock(&heap->gc.lock);
		gc_help_join(heap, self);
		pthread_mutex_lock(&heap->gc.lock);
	}
	if (self)
		waiting_add(heap, UINT32_MAX);
	pthread_mutex_unlock(&heap->gc.lock);
	if (self) {
		gc_state_unpark(self);
		gc_pause_end(self, GC_PAUSE_WAIT, begin);
	}
	return false;
}

/* Objects wait for their finalizers: report that, without a lock. */
static void finalizer_call(struct gc_heap *heap)
{
	void (*fn)(void *arg);
	void *arg;

	pthread_mutex_lock(&heap->roots.lock);
	fn = heap->weak.finalized_more ? heap->weak.finalizer : NULL;
	arg = heap->weak.finalizer_arg;
	heap->weak.finalized_more &= !fn;
	pthread_mutex_unlock(&heap->roots.lock);
	if (fn)
		fn(arg);
}

void gc_cycle_release(struct gc_heap *heap)
{
	gc_pace_end(heap);
	pthread_mutex_lock(&heap->gc.lock);
	control_step(heap, GC_CYCLE_END);
	/*
	 * In a stop-the-world plan mutators run the cycles without an order to the daemon: restart
	 * its idle timer here, but not after a trim by the daemon itself.
	 */
	heap->gc.active += !heap->plan->concurrent && !heap->cycle.daemon;
	if (gc_daemon_up(heap))
		pthread_cond_signal(&heap->gc.order);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
	finalizer_call(heap);
}

void gc_cycle_init(struct gc_heap *heap)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&heap->gc.done, &attr);
	pthread_cond_init(&heap->gc.order, &attr);
	pthread_condattr_destroy(&attr);
}

void gc_cycle_forked(struct gc_heap *heap)
{
	/* Those that waited are still counted in the conditions: destroying them would hang. */
	gc_cycle_init(heap);
	heap->gc.waiting = 0;
	heap->gc.daemon_lost |= heap->gc.daemon_up;
	heap->gc.daemon_up = false;
}

static void cycle_set(struct gc_heap *heap, struct gc_thread *self, enum gc_cause cause, bool full)
{
	struct gc_cycle *c = &heap->cycle;

	memset(c, 0, sizeof(*c));
	c->number = heap->stats.cycles + 1;
	c->cause = cause;
	c->self = self;
	c->daemon = !self;
	c->foreground = self != NULL;
	c->alone = heap->sizing.adapt && c->foreground && cause == GC_CAUSE_ALLOC &&
		   !__atomic_load_n(&heap->gc.daemon_on, __ATOMIC_RELAXED);
	c->full = full;
	c->kind = GC_KIND_MAJOR;
}

void gc_cycle_acquire(struct gc_heap *heap, struct gc_thread *self)
{
	while (!cycle_acquire_or_wait(heap, self))
		;
	cycle_set(heap, self, GC_CAUSE_STRESS, false);
}

struct boost {
	bool raised;
	int nice;
};

/*
 * Priority for foreground work. lift is Dalvik's rule: only a thread with nice above 0
 * is lifted, to 0. A nice value asks for that priority; when the system refuses, a
 * nice above 0 still goes to 0 if it can. A refusal is counted, not an error.
 */
static void boost_begin(struct gc_heap *heap, struct gc_thread *self, struct boost *b)
{
	const char *how = heap->opt.boost;
	int target = 0;

	b->raised = false;
	if (!strcmp(how, "off"))
		return;
	errno = 0;
	b->nice = getpriority(PRIO_PROCESS, (id_t)self->tid);
	if (errno)
		return;
	if (strcmp(how, "lift"))
		target = atoi(how);
	if (b->nice <= target)
		return;
	if (!setpriority(PRIO_PROCESS, (id_t)self->tid, target) ||
	    (target < 0 && b->nice > 0 && !setpriority(PRIO_PROCESS, (id_t)self->tid, 0))) {
		b->raised = true;
		gc_stat_add(&heap->stats.boosts, 1);
	} else {
		gc_stat_add(&heap->stats.boosts_refused, 1);
	}
}

static void boost_end(struct gc_thread *self, const struct boost *b)
{
	if (b->raised)
		setpriority(PRIO_PROCESS, (id_t)self->tid, b->nice);
}

/* Mutators that run or are paused; a parked one neither waits for the heap nor uses it. */
static uint32_t threads_at_work(struct gc_heap *heap)
{
	uint32_t n = 0;

	pthread_mutex_lock(&heap->mutators.lock);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		n += !__atomic_load_n(&t->away, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&heap->mutators.lock);
	return n + !n;
}

/* Sample the allocation rate and the overhead limit as a cycle begins. */
static void cycle_sample(struct gc_heap *heap, uint64_t now, enum gc_cause cause)
{
	struct gc_rate_in in = {
		.now = now,
		.granted = gc_load(&heap->budget.granted),
		.stopped_ns = heap->stats.stw_ns,
		.threads = __atomic_load_n(&heap->mutators.count, __ATOMIC_RELAXED),
	};
	struct gc_overhead_in over = { .now = now, .limit = (uint64_t)heap->opt.max };

	for (int i = 0; i < GC_PAUSE_COUNT; i++)
		in.paused_ns += gc_load(&heap->paused_ns[i]);
	in.threads += !in.threads;
	gc_rate_sample(&heap->budget.rate, &in);
	over.paused_ns = in.paused_ns;
	over.granted = in.granted;
	over.threads = threads_at_work(heap);
	pthread_mutex_lock(&heap->gc.lock);
	gc_overhead_sample(&heap->budget.overhead, &over,
			   cause == GC_CAUSE_ALLOC || cause == GC_CAUSE_OOM ||
				   cause == GC_CAUSE_CONCURRENT);
	pthread_mutex_unlock(&heap->gc.lock);
}

bool gc_collect_refuses(struct gc_heap *heap)
{
	bool refuses;

	pthread_mutex_lock(&heap->gc.lock);
	refuses = gc_overhead_refuses(&heap->budget.overhead, gc_headroom_most(heap));
	pthread_mutex_unlock(&heap->gc.lock);
	return refuses;
}

/* The caller has the right to collect. */
static void cycle_run(struct gc_heap *heap, struct gc_thread *self, enum gc_cause cause, bool full)
{
	uint64_t cpu = gc_cpu_now(), begin = gc_now(), usable_ns;
	struct gc_heap_stats *s = &heap->stats;
	uint64_t helped = gc_load(&s->gc_cpu_ns);
	struct gc_cycle *c = &heap->cycle;

	cycle_set(heap, self, cause, full);
	cycle_sample(heap, begin, cause);
	gc_phase_cycle(heap, true);
	if (heap->opt.verify & GC_VERIFY_PRE)
		gc_verify_pre(heap);
	heap->plan->collect(heap);
	/* Memory ran out: do not leave free memory to lazy sweeping. */
	while (cause == GC_CAUSE_OOM && heap->plan->sweep && heap->plan->sweep(heap))
		;
	gc_external_collected(heap);
	gc_stat_add(&s->cycles, 1);
	gc_stat_add(&s->by_cause[cause], 1);
	if (c->kind == GC_KIND_MINOR)
		gc_stat_add(&s->minors, 1);
	else
		gc_stat_add(&s->majors, 1);
	gc_stat_add(&s->foreground_cycles, c->foreground);
	__atomic_store_n(&heap->budget.live_bytes, c->live_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&heap->budget.live_objects, c->marked_objects, __ATOMIC_RELAXED);
	heap->sizing.marked_of[c->kind] = c->marked_bytes;
	gc_stat_max(&s->peak_live_bytes, c->live_bytes);
	gc_stat_add(&s->marked_bytes, c->marked_bytes);
	gc_stat_add(&s->marked_objects, c->marked_objects);
	gc_stat_max(&s->mark_stack_peak, gc_mark_stack_peak(&heap->stack));
	gc_mark_stack_rest(&heap->stack);
	usable_ns = (c->usable_ns ? c->usable_ns : gc_now()) - begin;
	gc_sizing_after(heap, usable_ns, (c->usable_ns ? c->usable_cpu_ns : gc_cpu_now()) - cpu);
	if (heap->sizing.adapt)
		gc_adapt_cycle(heap, usable_ns,
			       gc_cpu_now() - cpu + gc_load(&s->gc_cpu_ns) - helped);
	gc_count(&s->gc_cpu_ns, gc_cpu_now() - cpu);
	if (full && cause == GC_CAUSE_OOM)
		__atomic_store_n(&heap->budget.full_cycle, c->number, __ATOMIC_RELAXED);
	gc_phase_cycle(heap, false);
}

static int daemon_create(struct gc_heap *heap);

static enum gc_outcome run_or_wait(struct gc_heap *heap, struct gc_thread *self,
				   enum gc_cause cause, bool full, bool wait_only)
{
	struct boost boost = { false, 0 };
	uint64_t begin;

	if (wait_only) {
		uint64_t pause, seen;

		gc_pause_begin(self, GC_PAUSE_WAIT, &pause);
		gc_state_park(self);
		pthread_mutex_lock(&heap->gc.lock);
		seen = heap->gc.control.freed;
		gc_order_locked(heap, GC_CYCLE_NEEDED);
		while (heap->gc.control.freed == seen && !heap->gc.quit)
			pthread_cond_wait(&heap->gc.done, &heap->gc.lock);
		pthread_mutex_unlock(&heap->gc.lock);
		gc_state_unpark(self);
		gc_pause_end(self, GC_PAUSE_WAIT, pause);
		return GC_WAITED;
	}
	if (!cycle_acquire_or_wait(heap, self))
		return GC_WAITED;
	if (unlikely(heap->gc.daemon_lost)) {
		/* Without a thread for it, mutators collect. */
		heap->gc.daemon_lost = false;
		daemon_create(heap);
	}
	gc_pause_begin(self, GC_PAUSE_FOREGROUND, &begin);
	if (cause == GC_CAUSE_ALLOC || cause == GC_CAUSE_OOM)
		boost_begin(heap, self, &boost);
	cycle_run(heap, self, cause, full);
	boost_end(self, &boost);
	gc_cycle_release(heap);
	gc_pause_end(self, GC_PAUSE_FOREGROUND, begin);
	return GC_COLLECTED;
}

enum gc_outcome gc_run_cycle(struct gc_heap *heap, struct gc_thread *self, enum gc_cause cause,
			     bool full, bool wait_only)
{
	int state = gc_cancel_defer();
	enum gc_outcome outcome = run_or_wait(heap, self, cause, full, wait_only);

	gc_cancel_allow(state);
	return outcome;
}

void gc_collect_all(struct gc_heap *heap, struct gc_thread *self)
{
	uint64_t at;

	pthread_mutex_lock(&heap->gc.lock);
	/* A cycle under way does not count: it began before this call. */
	at = gc_load(&heap->stats.cycles) + gc_cycle_running(heap->gc.control.state);
	pthread_mutex_unlock(&heap->gc.lock);
	while (gc_run_cycle(heap, self, GC_CAUSE_OOM, true, false) == GC_WAITED &&
	       gc_load(&heap->budget.full_cycle) <= at)
		;
}

/* ---- the daemon ------------------------------------------------------- */

static void daemon_trim(struct gc_heap *heap)
{
	uint64_t begin, bytes, cpu = gc_cpu_now();

	if (!cycle_acquire_or_wait(heap, NULL))
		return;
	if (heap->opt.trim_collects) {
		heap->gc.next_major = true;
		cycle_run(heap, NULL, GC_CAUSE_TRIM, true);
	}
	cycle_set(heap, NULL, GC_CAUSE_TRIM, false);
	begin = gc_now();
	gc_phase_trim(heap, true, 0, begin);
	gc_space_lock(heap);
	bytes = heap->plan->release(heap);
	gc_space_unlock(heap);
	gc_stat_add(&heap->stats.trims, 1);
	gc_stat_add(&heap->stats.trimmed_bytes, bytes);
	gc_phase_trim(heap, false, bytes, begin);
	gc_count(&heap->stats.gc_cpu_ns, gc_cpu_now() - cpu);
	gc_cycle_release(heap);
}

static void timespec_add(struct timespec *ts, double seconds)
{
	ts->tv_sec += (time_t)floor(seconds);
	ts->tv_nsec += (long)(fmod(seconds, 1) * 1e9);
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_nsec -= 1000000000;
		ts->tv_sec++;
	}
}

/* Waits for an order; false after trim= idle seconds, if @timed. Holds gc.lock. */
static bool order_wait(struct gc_heap *heap, bool timed)
{
	struct timespec until = { 0 };
	uint64_t active = heap->gc.active;

	if (timed)
		active--;
	while (!gc_cycle_due(heap->gc.control.state) && !heap->gc.quit) {
		if (heap->gc.active != active) {
			active = heap->gc.active;
			timed = heap->opt.trim > 0;
			clock_gettime(CLOCK_MONOTONIC, &until);
			timespec_add(&until, heap->opt.trim);
		}
		if (!timed)
			pthread_cond_wait(&heap->gc.order, &heap->gc.lock);
		else if (pthread_cond_timedwait(&heap->gc.order, &heap->gc.lock, &until) ==
				 ETIMEDOUT &&
			 heap->gc.active == active)
			return gc_cycle_due(heap->gc.control.state) || heap->gc.quit;
	}
	return true;
}

static void *daemon_main(void *arg)
{
	struct gc_heap *heap = arg;
	/* Dalvik's idle timer runs only after a collection; the paper's runs all the time. */
	bool timed = true;

	gc_phase_daemon(heap, true);
	pthread_mutex_lock(&heap->gc.lock);
	for (;;) {
		bool ordered = order_wait(heap, timed);
		enum gc_cause cause = heap->gc.control.state == GC_CYCLE_DUE_EXPLICIT ?
					      GC_CAUSE_EXPLICIT :
					      GC_CAUSE_CONCURRENT;

		if (heap->gc.quit)
			break;
		if (ordered)
			control_step(heap, GC_CYCLE_SERVE);
		pthread_mutex_unlock(&heap->gc.lock);
		if (ordered) {
			cycle_run(heap, NULL, cause, false);
			gc_cycle_release(heap);
		} else {
			daemon_trim(heap);
		}
		timed = ordered || heap->opt.trim_collects;
		pthread_mutex_lock(&heap->gc.lock);
	}
	pthread_mutex_unlock(&heap->gc.lock);
	gc_phase_daemon(heap, false);
	return NULL;
}

static void daemon_set(struct gc_heap *heap, bool up)
{
	__atomic_store_n(&heap->gc.daemon_up, up, __ATOMIC_RELAXED);
}

/* 0, or errno of pthread_create() */
static int daemon_create(struct gc_heap *heap)
{
	pthread_attr_t attr;
	cpu_set_t cpus;
	int ret;

	pthread_attr_init(&attr);
	if (heap->opt.pin >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)heap->opt.pin, &cpus);
		pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	}
	daemon_set(heap, true);
	ret = gc_thread_create(&heap->gc.daemon, &attr, "gc-daemon", daemon_main, heap);
	pthread_attr_destroy(&attr);
	if (ret)
		daemon_set(heap, false);
	return ret;
}

int gc_daemon_start(struct gc_heap *heap, struct gc_error *err)
{
	int ret;

	if (heap->opt.policy == GC_POLICY_FG || (!heap->plan->concurrent && heap->opt.trim <= 0))
		return 0;
	heap->gc.daemon_on = heap->plan->concurrent;
	ret = daemon_create(heap);
	if (ret) {
		if (ret == EINVAL && heap->opt.pin >= 0)
			return gc_fail(err, -EINVAL,
				       "pin=%lld: no such CPU here; give an online one",
				       (long long)heap->opt.pin);
		return gc_fail(err, -EAGAIN, "no thread for the GC daemon; policy=fg needs none");
	}
	return 0;
}

void gc_daemon_stop(struct gc_heap *heap)
{
	if (!gc_daemon_up(heap))
		return;
	pthread_mutex_lock(&heap->gc.lock);
	heap->gc.quit = true;
	pthread_cond_signal(&heap->gc.order);
	pthread_cond_broadcast(&heap->gc.done);
	pthread_mutex_unlock(&heap->gc.lock);
	pthread_join(heap->gc.daemon, NULL);
	daemon_set(heap, false);
}
