// SPDX-License-Identifier: MIT
/*
 * The only file of the collectors that knows libgchint. A cycle is one phase of the
 * thread that runs it, from cycle_begin to cycle_end; what is done within replaces it
 * step by step, so that nobody sees a moment without.
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

/* Also while those who wait mark with it: what their time is worth is the governor's to say. */
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

static void fill(struct gchint_detail *d, const struct gc_event *event)
{
	memset(d, 0, sizeof(*d));
	d->size = sizeof(*d);
	d->cause = cause_of(event);
	d->work_done = event->work_done;
	d->work_total = event->work_total;
	d->stall_ns = event->exhaust_ns;
}

static void next(struct gc_listener *self, const struct gc_event *event, unsigned int phase,
		 unsigned int more)
{
	struct gc_listener_gchint *l = listener_of(self);
	struct gchint_detail d;

	fill(&d, event);
	l->urgent = is_urgent(l, event);
	gchint_next_detail(gchint_self(), phase, flags_of(event, l->urgent) | more, &d);
}

static void cycle_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_gchint *l = listener_of(self);
	struct gchint_detail d;

	fill(&d, event);
	l->urgent = is_urgent(l, event);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_COLLECT, flags_of(event, l->urgent), &d);
}

static void cycle_end(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_end(gchint_self());
}

/*
 * Who was asked to stop does its own work until it does, and comes no sooner by a
 * frequency that it would not be given for that.
 */
static void requesting_stop(struct gc_listener *self, const struct gc_event *event)
{
	next(self, event, GCHINT_PHASE_SAFEPOINT, 0);
}

/* From here on one waits for the others. */
static void first_stopped(struct gc_listener *self, const struct gc_event *event)
{
	next(self, event, GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
}

static void stopped(struct gc_listener *self, const struct gc_event *event)
{
	next(self, event, GCHINT_PHASE_ROOTS, 0);
}

static void between(struct gc_listener *self, const struct gc_event *event)
{
	next(self, event, GCHINT_PHASE_COLLECT, 0);
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

static void work(struct gc_listener *self, const struct gc_event *event)
{
	next(self, event, phase_of(event), 0);
}

static void progress(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_gchint *l = listener_of(self);

	/* A mutator began or ceased to wait since the last edge. */
	if (is_urgent(l, event) != l->urgent) {
		work(self, event);
		return;
	}
	gchint_progress(gchint_self(), event->work_done, event->work_total, event->exhaust_ns);
}

static void trim_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gchint_detail d;

	(void)self;
	fill(&d, event);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_TRIM, GCHINT_F_CONCURRENT, &d);
}

/*
 * Also one that is only held to the marking's pace: while it is, the instant at which the
 * heap runs out stays away because it is, and says nothing of hurry.
 */
static bool waits(const struct gc_event *event)
{
	return event->pause == GC_PAUSE_WAIT || event->pause == GC_PAUSE_PACED;
}

/*
 * The governor serves as mutators those that it was told of, and one that never waits for the
 * collector would be told of by nothing else. Nor is a system call left to its first pause.
 */
static void mutator_attached(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_self();
}

/* What the thread does from now on is not the heap's. */
static void mutator_detached(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_detach(gchint_self());
}

/* What a mutator does in the foreground the cycle's own events say. */
static void mutator_paused(struct gc_listener *self, const struct gc_event *event)
{
	if (!waits(event))
		return;
	__atomic_fetch_add(&listener_of(self)->waiting, 1, __ATOMIC_RELAXED);
	gchint_begin(gchint_self(), GCHINT_PHASE_WAIT, GCHINT_F_FOREGROUND);
}

static void mutator_resumed(struct gc_listener *self, const struct gc_event *event)
{
	if (!waits(event))
		return;
	__atomic_fetch_sub(&listener_of(self)->waiting, 1, __ATOMIC_RELAXED);
	gchint_end(gchint_self());
}

/*
 * A mutator that helps is in the phase that it shares, whatever it was in and whatever its
 * role, and then in that again.
 */
static void help_begin(struct gc_listener *self, const struct gc_event *event)
{
	struct gchint_detail d;

	(void)self;
	fill(&d, event);
	gchint_begin_detail(gchint_self(), phase_of(event), flags_of(event, true), &d);
}

static void help_end(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	gchint_end(gchint_self());
}

/* The daemon only ever does concurrent work; its pauses are told phase by phase. */
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
	.stopped = stopped,
	.restarted = between,
	.mark_begin = work,
	.mark_end = between,
	.remark_begin = work,
	.remark_end = between,
	.copy_begin = work,
	.copy_end = between,
	.sweep_begin = work,
	.sweep_end = between,
	.trim_begin = trim_begin,
	.trim_end = cycle_end,
	.progress = progress,
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
	int ret = gchint_policy(l->session, -1, &p);

	if (ret)
		return ret;
	*effective_khz = p.cur_khz;
	*highest_khz = p.hw_max_khz;
	return 0;
}
