// SPDX-License-Identifier: MIT
/*
 * What the lab adds to gchint-bench for its rivals: linked in with
 * --wrap=gc_heap_create, it listens beside the program's own listener.
 *
 *	LAB_HINT=1	hint every phase through libgchint
 *	LAB_NICE=N	the collector's daemon runs at this nice value
 *	LAB_CLAMP=N	and with this utilisation clamp (uclamp max)
 */
#define _GNU_SOURCE
#include <gchint.h>
#include <gchint/gc-listener.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/sched/types.h>, which clashes with <sched.h> */
struct sched_attr_clamp {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define FLAG_KEEP_ALL  0x18
#define FLAG_CLAMP_MAX 0x40

static bool hint;
static int nice_value;
static int clamp;

static void fail(const char *what)
{
	fprintf(stderr, "rival: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static unsigned int cause_of(const struct gc_event *e)
{
	switch (e->cause) {
	case GC_CAUSE_ALLOC:
		return GCHINT_CAUSE_ALLOCATION;
	case GC_CAUSE_CONCURRENT:
		return GCHINT_CAUSE_THRESHOLD;
	case GC_CAUSE_EXPLICIT:
		return GCHINT_CAUSE_EXPLICIT;
	case GC_CAUSE_TRIM:
		return GCHINT_CAUSE_TIMER;
	case GC_CAUSE_OOM:
		return GCHINT_CAUSE_OOM;
	default:
		return GCHINT_CAUSE_UNKNOWN;
	}
}

static void begin(const struct gc_event *e, unsigned int phase)
{
	struct gchint_detail d = {
		.size = sizeof(d),
		.cause = cause_of(e),
		.work_done = e->work_done,
		.work_total = e->work_total,
		.stall_ns = e->exhaust_ns,
	};
	unsigned int flags = e->stw	   ? GCHINT_F_STW :
			     e->foreground ? GCHINT_F_FOREGROUND :
					     GCHINT_F_CONCURRENT;

	if (hint)
		gchint_begin_detail(gchint_self(), phase, flags, &d);
}

static void end(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	if (hint)
		gchint_phase_end();
}

static void on_stop(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_SAFEPOINT);
}

/* The world stands: what follows until roots_done are the roots. */
static void on_stopped(struct gc_listener *self, const struct gc_event *e)
{
	end(self, e);
	begin(e, GCHINT_PHASE_ROOTS);
}

static void on_mark(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_MARK);
}

static void on_remark(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_REMARK);
}

static void on_copy(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_COPY);
}

static void on_sweep(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_SWEEP);
}

static void on_trim(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	begin(e, GCHINT_PHASE_TRIM);
}

/* Whatever is still open when the mutators go on: nothing is. */
static void on_restarting(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	if (hint)
		gchint_abandon(gchint_self());
}

static void on_progress(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (hint)
		gchint_progress(gchint_self(), e->work_done, e->work_total, e->exhaust_ns);
}

static void on_daemon(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	if (hint)
		gchint_self();
	if (nice_value && setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice_value))
		fail("nice");
	if (clamp) {
		struct sched_attr_clamp a = {
			.size = sizeof(a),
			.flags = FLAG_KEEP_ALL | FLAG_CLAMP_MAX,
			.util_max = (uint32_t)clamp,
		};

		if (syscall(SYS_sched_setattr, 0, &a, 0))
			fail("utilisation clamp");
	}
}

static const struct gc_listener_ops ops = {
	.requesting_stop = on_stop,
	.stopped = on_stopped,
	.roots_done = end,
	.restarting = on_restarting,
	.mark_begin = on_mark,
	.mark_end = end,
	.remark_begin = on_remark,
	.remark_end = end,
	.copy_begin = on_copy,
	.copy_end = end,
	.sweep_begin = on_sweep,
	.sweep_end = end,
	.trim_begin = on_trim,
	.trim_end = end,
	.progress = on_progress,
	.daemon_started = on_daemon,
};

static int number(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

int __real_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err);
int __wrap_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err);

int __wrap_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err)
{
	static struct gc_listener rival = { &ops };
	static struct gc_listener_chain chain;

	hint = number("LAB_HINT");
	nice_value = number("LAB_NICE");
	clamp = number("LAB_CLAMP");
	if (hint) {
		int backend = gchint_init(0);

		errno = backend < 0 ? -backend : ENODEV;
		if (backend != GCHINT_BACKEND_DEVICE)
			fail("libgchint");
	}
	if (!hint && !nice_value && !clamp)
		return __real_gc_heap_create(out, options, listener, err);
	if (!listener)
		return __real_gc_heap_create(out, options, &rival, err);
	gc_listener_chain_init(&chain, listener, &rival);
	return __real_gc_heap_create(out, options, &chain.base, err);
}
