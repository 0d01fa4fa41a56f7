// SPDX-License-Identifier: MIT
/* Notifies the listener of every edge, with the state at that instant. */
#include <stdio.h>

#include "../heap/headroom.h"
#include "../heap/plan.h"
#include "phase.h"

#define PROGRESS_STEP (256u * 1024)

static gc_listen_fn listener_op(const struct gc_heap *heap, size_t edge)
{
	gc_listen_fn fn = NULL;

	if (heap->listener)
		memcpy(&fn, (const char *)heap->listener->ops + edge, sizeof(fn));
	return fn;
}

static void event_fill(struct gc_heap *heap, struct gc_event *ev, uint64_t now)
{
	const struct gc_cycle *c = &heap->cycle;

	*ev = (struct gc_event){
		.time_ns = now,
		.cycle = c->number,
		.phase = c->phase,
		.cause = c->cause,
		.kind = c->kind,
		.foreground = c->foreground,
		.stw = c->stw,
		.daemon = c->daemon,
		.work_done = c->done,
		.work_total = c->total,
		.headroom = gc_headroom(heap),
		.heap_bytes = gc_load(&heap->budget.in_use),
	};
	ev->exhaust_ns = gc_rate_exhaust(&heap->budget.rate, now, ev->headroom);
}

static void event_fire(struct gc_heap *heap, size_t edge, uint64_t now, uint64_t duration)
{
	gc_listen_fn fn = listener_op(heap, edge);
	struct gc_event ev;

	if (!fn)
		return;
	event_fill(heap, &ev, now);
	ev.duration_ns = duration;
	fn(heap->listener, &ev);
}

static const struct {
	size_t begin, end;
} edges[GC_PHASE_COUNT] = {
	[GC_PHASE_MARK] = { GC_EDGE(mark_begin), GC_EDGE(mark_end) },
	[GC_PHASE_REMARK] = { GC_EDGE(remark_begin), GC_EDGE(remark_end) },
	[GC_PHASE_COPY] = { GC_EDGE(copy_begin), GC_EDGE(copy_end) },
	[GC_PHASE_SWEEP] = { GC_EDGE(sweep_begin), GC_EDGE(sweep_end) },
};

void gc_phase_begin(struct gc_heap *heap, enum gc_phase phase, uint64_t total)
{
	struct gc_cycle *c = &heap->cycle;

	c->phase = phase;
	c->phase_ns = gc_now();
	c->done = 0;
	c->total = total;
	c->next_progress = PROGRESS_STEP;
	event_fire(heap, edges[phase].begin, c->phase_ns, 0);
}

void gc_phase_end(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	uint64_t now = gc_now();

	event_fire(heap, edges[c->phase].end, now, now - c->phase_ns);
	c->phase = GC_PHASE_IDLE;
}

void gc_phase_work(struct gc_heap *heap, uint64_t done)
{
	struct gc_cycle *c = &heap->cycle;

	c->done = done;
	if (c->phase == GC_PHASE_MARK)
		__atomic_store_n(&heap->budget.pace.done, done, __ATOMIC_RELAXED);
	if (likely(done < c->next_progress))
		return;
	c->next_progress = done + PROGRESS_STEP;
	if (!listener_op(heap, GC_EDGE(progress)))
		return;
	event_fire(heap, GC_EDGE(progress), gc_now(), 0);
}

void gc_phase_cycle(struct gc_heap *heap, bool begin)
{
	gc_listen_fn fn = listener_op(heap, begin ? GC_EDGE(cycle_begin) : GC_EDGE(cycle_end));
	struct gc_cycle *c = &heap->cycle;
	uint64_t now = gc_now();
	struct gc_event ev;

	if (begin)
		c->begin_ns = now;
	else
		c->phase = GC_PHASE_IDLE;
	if (!fn)
		return;
	event_fill(heap, &ev, now);
	ev.duration_ns = now - c->begin_ns;
	ev.max_bytes = gc_load(&heap->budget.most);
	ev.allocated_bytes = gc_load(&heap->budget.granted);
	gc_space_lock(heap);
	ev.footprint_bytes = heap->plan->footprint(heap);
	gc_space_unlock(heap);
	fn(heap->listener, &ev);
}

/* requesting_stop, first_stopped, stopped, roots_done, restarting, restarted */
void gc_phase_stop(struct gc_heap *heap, size_t edge)
{
	struct gc_cycle *c = &heap->cycle;
	uint64_t now = gc_now(), since = now - c->stop_ns;
	struct gc_heap_stats *s = &heap->stats;

	if (edge == GC_EDGE(requesting_stop)) {
		c->stop_ns = now;
		c->phase = GC_PHASE_STOP;
		since = 0;
	} else if (edge == GC_EDGE(stopped)) {
		c->stw = true;
		c->phase = GC_PHASE_ROOTS;
		gc_stat_add(&s->time_to_safepoint_ns, since);
		gc_stat_max(&s->longest_ttsp_ns, since);
	} else if (edge == GC_EDGE(restarted)) {
		c->stw = false;
		c->phase = GC_PHASE_IDLE;
		gc_stat_add(&s->stw_ns, since);
		gc_stat_max(&s->longest_stw_ns, since);
	}
	event_fire(heap, edge, now,
		   edge == GC_EDGE(restarting) || edge == GC_EDGE(roots_done) ? 0 : since);
}

void gc_phase_trim(struct gc_heap *heap, bool begin, uint64_t done, uint64_t begin_ns)
{
	struct gc_cycle *c = &heap->cycle;
	uint64_t now = gc_now();

	c->phase = GC_PHASE_TRIM;
	c->cause = GC_CAUSE_TRIM;
	c->daemon = true;
	c->foreground = false;
	c->done = done;
	c->total = 0;
	event_fire(heap, begin ? GC_EDGE(trim_begin) : GC_EDGE(trim_end), now,
		   begin ? 0 : now - begin_ns);
	if (!begin)
		c->phase = GC_PHASE_IDLE;
}

void gc_phase_daemon(struct gc_heap *heap, bool up)
{
	gc_listen_fn fn = listener_op(heap, up ? GC_EDGE(daemon_started) : GC_EDGE(daemon_stopped));
	struct gc_event ev = { .time_ns = gc_now(), .daemon = true };

	if (fn)
		fn(heap->listener, &ev);
}

void gc_phase_mutator(struct gc_thread *t, bool up)
{
	gc_listen_fn fn =
		listener_op(t->heap, up ? GC_EDGE(mutator_attached) : GC_EDGE(mutator_detached));
	struct gc_event ev = { .mutator = &t->m };

	if (!fn)
		return;
	ev.time_ns = gc_now();
	fn(t->heap->listener, &ev);
}

/*
 * A mutator begins or ends to help, on its own thread. The event omits the cycle's counters, which
 * the collecting thread changes; the other fields do not change while there are helpers.
 */
void gc_phase_help(struct gc_thread *t, bool begin, uint64_t *begin_ns)
{
	const struct gc_cycle *c = &t->heap->cycle;
	gc_listen_fn fn = listener_op(t->heap, begin ? GC_EDGE(help_begin) : GC_EDGE(help_end));
	struct gc_event ev = {
		.cycle = c->number,
		.phase = c->phase,
		.cause = c->cause,
		.kind = c->kind,
		.stw = c->stw,
		.mutator = &t->m,
	};

	if (!fn)
		return;
	ev.time_ns = gc_now();
	if (begin)
		*begin_ns = ev.time_ns;
	else
		ev.duration_ns = ev.time_ns - *begin_ns;
	fn(t->heap->listener, &ev);
}

/* The thread's name in /proc */
static void thread_name(int tid, char *name, size_t size)
{
	char path[48];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)size, f))
		snprintf(name, size, "which ended without gc_mutator_detach()");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

void gc_phase_stalled(struct gc_thread *t, uint64_t ns)
{
	struct gc_heap *heap = t->heap;
	gc_listen_fn fn = listener_op(heap, GC_EDGE(stalled));
	struct gc_event ev;
	char name[48];

	gc_count(&heap->stats.stalls, 1);
	if (fn) {
		event_fill(heap, &ev, gc_now());
		ev.duration_ns = ns;
		ev.mutator = &t->m;
		fn(heap->listener, &ev);
	}
	thread_name(t->tid, name, sizeof(name));
	fprintf(stderr,
		"gchint-gc: plan=%s cycle %llu: thread %d (%s) has kept the world waiting for "
		"%.1f s: call gc_safepoint() in its loops, gc_park() before it blocks\n",
		heap->plan->name, (unsigned long long)heap->cycle.number, t->tid, name,
		(double)ns / 1e9);
}

static void event_fire_pause(struct gc_thread *t, size_t edge, enum gc_pause pause, uint64_t now,
			     uint64_t duration)
{
	struct gc_heap *heap = t->heap;
	gc_listen_fn fn = listener_op(heap, edge);

	if (fn) {
		struct gc_event ev = {
			.time_ns = now,
			.pause = pause,
			.foreground = pause == GC_PAUSE_FOREGROUND,
			.duration_ns = duration,
			.headroom = gc_headroom(heap),
			.heap_bytes = gc_load(&heap->budget.in_use),
			.mutator = &t->m,
		};
		fn(heap->listener, &ev);
	}
}

void gc_pause_begin(struct gc_thread *t, enum gc_pause pause, uint64_t *begin_ns)
{
	*begin_ns = 0;
	if (t->paused)
		return;
	t->paused = true;
	*begin_ns = gc_now();
	event_fire_pause(t, GC_EDGE(mutator_paused), pause, *begin_ns, 0);
}

void gc_pause_end(struct gc_thread *t, enum gc_pause pause, uint64_t begin_ns)
{
	uint64_t now;

	if (!begin_ns)
		return;
	now = gc_now();
	t->paused = false;
	gc_count(&t->heap->paused_ns[pause], now - begin_ns);
	event_fire_pause(t, GC_EDGE(mutator_resumed), pause, now, now - begin_ns);
}
