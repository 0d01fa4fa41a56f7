// SPDX-License-Identifier: MIT
/*
 * The only file of the collectors that knows libgchint. A cycle is one phase of the
 * thread that runs it, from cycle_begin to cycle_end. Each step within the cycle replaces
 * the phase instead of ending it, so that no reader sees the thread without a phase.
 */
#include <gchint.h>
#include <gchint/gc-listener-gchint.h>
#include <string.h>

/* A stall nearer than this makes concurrent work urgent. */
#define NEAR_NS 1000000

static struct gc_listener_gchint *listener_of(struct gc_listener *self)
{
	return (struct gc_listener_gchint *)self;
}

static unsigned int cause_of(const struct gc_event *event)
{
	static const unsigned int causes[GC_CAUSE_COUNT] = {
		[GC_CAUSE_ALLOC] = GCHINT_CAUSE_ALLOCATION,
		[GC_CAUSE_CONCURRENT] = GCHINT_CAUSE_THRESHOLD,
		[GC_CAUSE_EXPLICIT] = GCHINT_CAUSE_EXPLICIT,
		[GC_CAUSE_TRIM] = GCHINT_CAUSE_TIMER,
		[GC_CAUSE_STRESS] = GCHINT_CAUSE_UNKNOWN,
		[GC_CAUSE_OOM] = GCHINT_CAUSE_OOM,
	};

	return causes[event->cause];
}

/* Waiting mutators that help to mark still count as waiting: the governor weighs their delay. */
static bool is_urgent(struct gc_listener_gchint *l, const struct gc_event *event)
{
	return !event->stw && !event->foreground &&
	       (__atomic_load_n(&l->waiting, __ATOMIC_RELAXED) ||
		(event->exhaust_ns && event->exhaust_ns < event->time_ns + NEAR_NS));
}

static unsigned int flags_of(const struct gc_event *event, bool urgent)
{
	if (event->stw)
		return GCHINT_F_STW;
	if (event->foreground)
		return GCHINT_F_FOREGROUND;
	return GCHINT_F_CONCURRENT | (urgent ? GCHINT_F_URGENT : 0);
}

static void detail_fill(struct gchint_detail *d, const struct gc_event *event)
{
	memset(d, 0, sizeof(*d));
	d->size = sizeof(*d);
	d->cause = cause_of(event);
	d->work_done = event->work_done;
	d->work_total = event->work_total;
	d->stall_ns = event->exhaust_ns;
}

static void phase_next(struct gc_listener *self, const struct gc_event *event, unsigned int phase,
		       unsigned int more)
{
	struct gc_listener_gchint *l = listener_of(self);
	struct gchint_detail d;

	detail_fill(&d, event);
	l->urgent = is_urgent(l, event);
	gchint_next_detail(gchint_self(), phase, flags_of(event, l->urgent) | more, &d);
}

static void heap_report(const struct gc_event *event, unsigned int when)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;

	heap.when = when;
	heap.used = event->heap_bytes;
	heap.committed = event->footprint_bytes;
	heap.limit = event->max_bytes;
	heap.allocated = event->allocated_bytes;
	heap.generation = event->kind == GC_KIND_MINOR ? 0 : 1;
	gchint_heap(gchint_self(), &heap);
}

static void cycle_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_gchint *l = listener_of(self);
	struct gchint_detail d;

	detail_fill(&d, event);
	l->urgent = is_urgent(l, event);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_COLLECT, flags_of(event, l->urgent), &d);
	heap_report(event, GCHINT_HEAP_BEFORE);
}

static void cycle_end(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	heap_report(event, GCHINT_HEAP_AFTER);
	gchint_end(gchint_self());
}

static void trim_end(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_end(gchint_self());
}

/*
 * Not GCHINT_F_STW yet: mutators run until they reach a safepoint, and a higher frequency of
 * the collecting thread does not get them there sooner.
 */
static void requesting_stop(struct gc_listener *self, const struct gc_event *event)
{
	phase_next(self, event, GCHINT_PHASE_SAFEPOINT, 0);
}

/* From here on a stopped mutator waits for the others. */
static void first_stopped(struct gc_listener *self, const struct gc_event *event)
{
	phase_next(self, event, GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
}

static void world_stopped(struct gc_listener *self, const struct gc_event *event)
{
	phase_next(self, event, GCHINT_PHASE_ROOTS, 0);
}

static void phase_end(struct gc_listener *self, const struct gc_event *event)
{
	phase_next(self, event, GCHINT_PHASE_COLLECT, 0);
}

static unsigned int phase_of(const struct gc_event *event)
{
	switch (event->phase) {
	case GC_PHASE_MARK:
		return GCHINT_PHASE_MARK;
	case GC_PHASE_REMARK:
		return GCHINT_PHASE_REMARK;
	case GC_PHASE_COPY:
		return GCHINT_PHASE_COPY;
	case GC_PHASE_SWEEP:
		return GCHINT_PHASE_SWEEP;
	default:
		return GCHINT_PHASE_COLLECT;
	}
}

static void phase_begin(struct gc_listener *self, const struct gc_event *event)
{
	phase_next(self, event, phase_of(event), 0);
}

static void progress_update(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_gchint *l = listener_of(self);

	/* A mutator began or ceased to wait since the last edge. */
	if (is_urgent(l, event) != l->urgent) {
		phase_begin(self, event);
		return;
	}
	gchint_progress(gchint_self(), event->work_done, event->work_total, event->exhaust_ns);
}

static void trim_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gchint_detail d;

	(void)self;
	detail_fill(&d, event);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_TRIM, GCHINT_F_CONCURRENT, &d);
}

/*
 * A paced mutator counts as waiting, too: pacing keeps moving the predicted exhaustion of the
 * heap further away, so that the prediction alone would not make the cycle urgent.
 */
static bool pause_is_wait(const struct gc_event *event)
{
	return event->pause == GC_PAUSE_WAIT || event->pause == GC_PAUSE_PACED;
}

/*
 * Registers the thread now: the governor treats only registered threads as mutators, and one
 * that never waits for the collector would not be registered later. It also keeps the system
 * call out of the first pause.
 */
static void mutator_attached(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_self();
}

/* The thread may live on, but no longer works on this heap. */
static void mutator_detached(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_detach(gchint_self());
}

/* Waits only: a collection in the foreground is reported by the events of its cycle. */
static void mutator_paused(struct gc_listener *self, const struct gc_event *event)
{
	if (!pause_is_wait(event))
		return;
	__atomic_fetch_add(&listener_of(self)->waiting, 1, __ATOMIC_RELAXED);
	gchint_begin(gchint_self(), GCHINT_PHASE_WAIT, GCHINT_F_FOREGROUND);
}

static void mutator_resumed(struct gc_listener *self, const struct gc_event *event)
{
	if (!pause_is_wait(event))
		return;
	__atomic_fetch_sub(&listener_of(self)->waiting, 1, __ATOMIC_RELAXED);
	gchint_end(gchint_self());
}

/*
 * A helping mutator takes on the phase of the work that it shares, nested in its own phase,
 * which resumes afterwards.
 */
static void help_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gchint_detail d;

	(void)self;
	detail_fill(&d, event);
	gchint_begin_detail(gchint_self(), phase_of(event), flags_of(event, true), &d);
}

static void help_end(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_end(gchint_self());
}

/* The daemon's role is concurrent; the phases of its pauses set GCHINT_F_STW themselves. */
static void daemon_started(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_set_role(gchint_self(), GCHINT_ROLE_CONCURRENT, NULL);
}

static const struct gc_listener_ops ops = {
	.cycle_begin = cycle_begin,
	.cycle_end = cycle_end,
	.requesting_stop = requesting_stop,
	.first_stopped = first_stopped,
	.stopped = world_stopped,
	.restarted = phase_end,
	.mark_begin = phase_begin,
	.mark_end = phase_end,
	.remark_begin = phase_begin,
	.remark_end = phase_end,
	.copy_begin = phase_begin,
	.copy_end = phase_end,
	.sweep_begin = phase_begin,
	.sweep_end = phase_end,
	.trim_begin = trim_begin,
	.trim_end = trim_end,
	.progress = progress_update,
	.help_begin = help_begin,
	.help_end = help_end,
	.mutator_attached = mutator_attached,
	.mutator_detached = mutator_detached,
	.mutator_paused = mutator_paused,
	.mutator_resumed = mutator_resumed,
	.daemon_started = daemon_started,
};

int gc_listener_gchint_open(struct gc_listener_gchint *listener, unsigned int flags)
{
	memset(listener, 0, sizeof(*listener));
	listener->base.ops = &ops;
	return gchint_open(&listener->session, flags);
}

void gc_listener_gchint_close(struct gc_listener_gchint *listener)
{
	gchint_close(listener->session);
	listener->session = NULL;
}

int gc_listener_gchint_frequency(uint32_t *effective_khz, uint32_t *highest_khz, void *arg)
{
	struct gc_listener_gchint *l = arg;
	struct gchint_policy p = { .size = sizeof(p) };
	int ret = gchint_get_policy(l->session, -1, &p);

	if (ret)
		return ret;
	*effective_khz = p.cur_khz;
	*highest_khz = p.hw_max_khz;
	return 0;
}
