// SPDX-License-Identifier: MIT
/*
 * Description: threads, policies, the listener's order of events, priority and placement.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

struct node {
	struct gc_header header;
	struct node *next;
	long pad;
};

/* ---- a listener that knows the order of events -------------------------- */

struct order {
	struct gc_listener base;
	bool in_cycle, in_stop, stw;
	enum gc_phase phase;
	uint64_t events, stops, last_ns, phases[GC_PHASE_COUNT], headroom_seen, exhaust_seen;
	uint64_t unpaired, daemon_cycles, foreground_cycles, paused[GC_PAUSE_COUNT],
		resumed[GC_PAUSE_COUNT];
	int cpu, daemons, attached, detached, astray;
	char wrong[128];
};

static struct order *order_of(struct gc_listener *self)
{
	return (struct order *)self;
}

static void check(struct order *o, const struct gc_event *e, bool good, const char *what)
{
	o->events++;
	if (e->time_ns < o->last_ns)
		good = false;
	o->last_ns = e->time_ns;
	o->headroom_seen += e->headroom > 0;
	o->exhaust_seen += e->exhaust_ns >= e->time_ns && e->exhaust_ns;
	if (!good && !o->wrong[0])
		snprintf(o->wrong, sizeof(o->wrong), "%s at cycle %llu phase %d stw %d", what,
			 (unsigned long long)e->cycle, e->phase, e->stw);
}

#define ON(name) static void name(struct gc_listener *self, const struct gc_event *e)

ON(cycle_begin)
{
	struct order *o = order_of(self);

	check(o, e, !o->in_cycle && !o->stw && e->cycle, "cycle_begin");
	o->in_cycle = true;
	o->daemon_cycles += e->daemon;
	o->foreground_cycles += e->foreground;
}

ON(cycle_end)
{
	struct order *o = order_of(self);

	check(o, e, o->in_cycle && !o->stw && !o->phase, "cycle_end");
	o->in_cycle = false;
}

ON(requesting_stop)
{
	struct order *o = order_of(self);

	check(o, e, o->in_cycle && !o->stw && !o->in_stop && !o->phase, "requesting_stop");
	o->in_stop = true;
}

ON(first_stopped)
{
	struct order *o = order_of(self);

	check(o, e, o->in_stop && !o->stw && !e->stw && e->phase == GC_PHASE_STOP, "first_stopped");
}

ON(stopped)
{
	struct order *o = order_of(self);

	check(o, e, o->in_stop && !o->stw && e->stw, "stopped");
	o->stw = true;
	o->in_stop = false;
	o->stops++;
}

ON(restarting)
{
	check(order_of(self), e, order_of(self)->stw, "restarting");
}

ON(restarted)
{
	struct order *o = order_of(self);

	check(o, e, o->stw && !e->stw, "restarted");
	o->stw = false;
}

ON(phase_begin)
{
	struct order *o = order_of(self);

	check(o, e, o->in_cycle && !o->phase, "phase_begin");
	o->phase = e->phase;
	o->phases[e->phase]++;
}

ON(phase_end)
{
	struct order *o = order_of(self);

	check(o, e, o->phase == e->phase, "phase_end");
	o->phase = GC_PHASE_IDLE;
}

ON(progress)
{
	struct order *o = order_of(self);

	check(o, e, o->phase == e->phase && e->work_done > 0, "progress");
}

static __thread struct gc_event pause_began;

ON(paused)
{
	pause_began = *e;
	__atomic_fetch_add(&order_of(self)->paused[e->pause], 1, __ATOMIC_RELAXED);
}

ON(resumed)
{
	__atomic_fetch_add(&order_of(self)->unpaired,
			   !pause_began.time_ns || pause_began.pause != e->pause ||
				   e->duration_ns != e->time_ns - pause_began.time_ns,
			   __ATOMIC_RELAXED);
	pause_began.time_ns = 0;
	__atomic_fetch_add(&order_of(self)->resumed[e->pause], 1, __ATOMIC_RELAXED);
}

ON(daemon_started)
{
	(void)e;
	order_of(self)->cpu = sched_getcpu();
	__atomic_fetch_add(&order_of(self)->daemons, 1, __ATOMIC_RELAXED);
}

static __thread const struct gc_mutator *own;

ON(attached)
{
	struct order *o = order_of(self);

	own = e->mutator;
	__atomic_fetch_add(&o->attached, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&o->astray, !e->mutator || !e->time_ns, __ATOMIC_RELAXED);
}

ON(detached)
{
	struct order *o = order_of(self);

	__atomic_fetch_add(&o->detached, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&o->astray, e->mutator != own, __ATOMIC_RELAXED);
}

static const struct gc_listener_ops order_ops = {
	.cycle_begin = cycle_begin,
	.cycle_end = cycle_end,
	.requesting_stop = requesting_stop,
	.first_stopped = first_stopped,
	.stopped = stopped,
	.restarting = restarting,
	.restarted = restarted,
	.mark_begin = phase_begin,
	.mark_end = phase_end,
	.remark_begin = phase_begin,
	.remark_end = phase_end,
	.copy_begin = phase_begin,
	.copy_end = phase_end,
	.sweep_begin = phase_begin,
	.sweep_end = phase_end,
	.progress = progress,
	.mutator_attached = attached,
	.mutator_detached = detached,
	.mutator_paused = paused,
	.mutator_resumed = resumed,
	.daemon_started = daemon_started,
};

/* ---- a program that allocates ------------------------------------------ */

static struct gc_heap *heap;
static const struct gc_type *type;

static void churn(struct gc_mutator *m, long count)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;

	GC_PUSH(m, f);
	for (long i = 0; i < count; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		/* A heap that is full for a moment refuses; the program goes on. */
		if (!f.fresh) {
			gc_collect(m);
			continue;
		}
		gc_init(&f.fresh->next, i % 20000 ? f.list : NULL);
		f.list = f.fresh;
	}
	GC_POP(m, f);
}

static void *worker(void *arg)
{
	struct gc_mutator *m;

	if (gc_mutator_attach(heap, &m))
		return NULL;
	for (int i = 0; i < 40; i++) {
		churn(m, 20000);
		gc_park(m);
		sched_yield();
		gc_unpark(m);
	}
	gc_mutator_detach(m);
	return arg;
}

static bool start(const char *options, struct gc_listener *l)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_error err;

	if (gc_heap_create(&heap, options, l, &err)) {
		printf("# %s\n", err.text);
		return false;
	}
	type = gc_type_register(heap, &d, NULL);
	return true;
}

/* Times that mutators got too far ahead of the daemon, of all heaps */
static uint64_t held_up;

static void crowd(const char *options, struct order *o, struct gc_heap_stats *s)
{
	pthread_t t[4];

	memset(o, 0, sizeof(*o));
	o->base.ops = &order_ops;
	if (!start(options, &o->base)) {
		ok(false, "%s starts", options);
		return;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	gc_heap_stats(heap, s);
	ok(!gc_heap_destroy(heap), "%s: four threads attached and detached", options);
	if (!ok(!o->wrong[0] && o->events > 20 && o->stops && !o->in_cycle && !o->stw,
		"%s: events come in order", options))
		printf("# %s (%llu events)\n", o->wrong, (unsigned long long)o->events);
	if (!ok(o->headroom_seen && o->exhaust_seen, "%s: headroom and its end are reported",
		options))
		printf("# %llu and %llu times in %llu cycles\n",
		       (unsigned long long)o->headroom_seen, (unsigned long long)o->exhaust_seen,
		       (unsigned long long)s->cycles);
	ok(o->attached == 4 && o->detached == 4 && !o->astray,
	   "%s: each mutator attaches and detaches on its own thread", options);
	ok(!o->unpaired, "%s: a pause ends with the class that it began with", options);
	held_up += o->paused[GC_PAUSE_PACED];
	for (int i = 0; i < GC_PAUSE_COUNT; i++)
		if (o->paused[i] != o->resumed[i])
			ok(false, "%s: pauses of class %d end", options, i);
}

static void busy(struct gc_mutator *m, const char *what, int want)
{
	int before, after;
	struct gc_heap_stats s;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	setpriority(PRIO_PROCESS, (id_t)tid, 5);
	before = getpriority(PRIO_PROCESS, (id_t)tid);
	churn(m, 400000);
	after = getpriority(PRIO_PROCESS, (id_t)tid);
	gc_heap_stats(heap, &s);
	if (s.boosts_refused && want)
		printf("ok %d %s # SKIP raising priority is refused here\n", ++tap_count, what);
	else if (!ok(before == 5 && after == 5 && (want ? s.boosts > 0 : !s.boosts), "%s", what))
		printf("# nice %d then %d, %llu boosts\n", before, after,
		       (unsigned long long)s.boosts);
}

/* In a child: the priority of this process stays as it is. */
static int priority(void *arg)
{
	const char *boost = arg;
	struct gc_mutator *m;
	char options[128], what[128];

	snprintf(options, sizeof(options), "plan=cms,policy=fg,boost=%s,heap=2M", boost);
	snprintf(what, sizeof(what), "boost=%s", boost);
	if (!start(options, NULL) || gc_mutator_attach(heap, &m))
		return 1;
	busy(m, what, strcmp(boost, "off") != 0);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	return tap_bad;
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss,nursery=512K",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct order o;
	char options[128], text[256];
	cpu_set_t cpus;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "plan=%s,heap=4M", plans[i]);
		crowd(options, &o, &s);
	}
	crowd("plan=cms,heap=4M,policy=fg", &o, &s);
	ok(!o.daemon_cycles && o.foreground_cycles && !o.daemons, "fg: there is no daemon");
	ok(!s.by_cause[GC_CAUSE_CONCURRENT], "fg: no GC-CONC");
	crowd("plan=cms,heap=4M,policy=bg", &o, &s);
	ok(o.daemon_cycles && !o.foreground_cycles && o.daemons == 1,
	   "bg: only the daemon collects");
	ok(!o.paused[GC_PAUSE_FOREGROUND] && !s.by_cause[GC_CAUSE_ALLOC],
	   "bg: no foreground pause");
	crowd("plan=cms,heap=4M,policy=adaptive", &o, &s);
	ok(o.daemons == 1, "adaptive: there is a daemon");

	/* the daemon on a chosen core: the first one that this process may use */
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &cpus))
			continue;
		snprintf(options, sizeof(options), "plan=cms,heap=4M,pin=%d", cpu);
		crowd(options, &o, &s);
		ok(o.daemons == 1 && o.cpu == cpu, "pin=%d: the daemon runs there", cpu);
	}

	ok(held_up > 0, "a mutator that is ahead of the daemon has a paced pause");

	/* bg leaves explicit requests to the daemon and does not wait */
	memset(&o, 0, sizeof(o));
	o.base.ops = &order_ops;
	if (start("plan=cms,policy=bg", &o.base) && !gc_mutator_attach(heap, &m)) {
		struct timespec ts = { 0, 5000000 };

		gc_collect(m);
		gc_park(m);
		for (int i = 0; i < 50000; i++) {
			nanosleep(&ts, NULL);
			gc_heap_stats(heap, &s);
			if (s.by_cause[GC_CAUSE_EXPLICIT])
				break;
		}
		gc_unpark(m);
		ok(s.by_cause[GC_CAUSE_EXPLICIT] == 1 && !s.foreground_cycles,
		   "bg: GC-EXPLICIT signals the daemon");
		ok(gc_heap_destroy(heap) == -16, "a heap with a mutator is not destroyed");
		gc_mutator_detach(m);
		gc_heap_destroy(heap);
	}
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		static const char *const boosts[] = { "off", "lift", "-5" };
		int status = child(priority, (void *)(uintptr_t)boosts[i], text, sizeof(text));

		tap_count++; /* the child printed it */
		tap_bad += status != 0;
	}
	return done();
}
