// SPDX-License-Identifier: MIT
/*
 * Description: first_stopped fires when the first mutator has stopped, and not before; the
 * heap's figures of stops equal those that a listener measures.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <time.h>

#define GIVE_UP 250.0 /* seconds */

static struct gc_heap *heap;
static int asked, waits, stops, quit, attached;

static void count(int *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_SEQ_CST);
}

static int of(int *n)
{
	return __atomic_load_n(n, __ATOMIC_SEQ_CST);
}

static void requesting_stop(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	count(&asked);
}

static void first_stopped(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	count(&waits);
}

static void stopped(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	count(&stops);
}

static const struct gc_listener_ops ops = {
	.requesting_stop = requesting_stop,
	.first_stopped = first_stopped,
	.stopped = stopped,
};
static struct gc_listener listener = { &ops };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Is somebody asked to stop who has not? */
static bool pending(void)
{
	return of(&asked) > of(&stops);
}

static bool waited(void)
{
	return of(&waits) > 0;
}

static bool company(void)
{
	return of(&attached) > 0;
}

/* Without a safepoint. */
static bool soon(bool (*what)(void), double seconds)
{
	double end = now() + seconds;

	while (!what() && now() < end)
		;
	return what();
}

/* Stops wherever it is asked to. */
static void *obey(void *arg)
{
	struct gc_mutator *m;

	(void)arg;
	if (gc_mutator_attach(heap, &m))
		return NULL;
	count(&attached);
	while (!of(&quit))
		gc_safepoint(m);
	gc_mutator_detach(m);
	return NULL;
}

/* The daemon collects, and this thread lets it wait for a while. */
static void one(const char *plan, int others, bool want)
{
	const struct timespec while_ns = { 0, 20000000 };
	char options[64];
	struct gc_mutator *m;
	struct gc_error err = { .text = "no memory for a mutator" };
	pthread_t thread;
	bool still;

	snprintf(options, sizeof(options), "%s,policy=bg,trim=0", plan);
	if (gc_heap_create(&heap, options, &listener, &err) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts: %s", options, err.text);
		return;
	}
	asked = waits = stops = quit = attached = 0;
	if (others) {
		pthread_create(&thread, NULL, obey, NULL);
		ok(soon(company, GIVE_UP), "%s: another mutator runs", plan);
	}
	/* The call is a safepoint itself: it may be over before it is back. */
	for (int i = 0; i < 200 && !soon(pending, 0.1); i++)
		gc_collect(m);
	if (want)
		ok(soon(waited, GIVE_UP), "%s: one mutator waits for the other", plan);
	else
		nanosleep(&while_ns, NULL);
	still = pending();
	if (!ok(still && (of(&waits) > 0) == want && of(&waits) <= of(&asked), "%s, %d more: %s",
		plan, others,
		want ? "first_stopped fires once" : "no first_stopped for a running mutator"))
		printf("# asked %d times, waited %d times, stopped %d times\n", of(&asked),
		       of(&waits), of(&stops));
	while (pending())
		gc_safepoint(m);
	ok(of(&stops) > 0, "%s, %d more: the world stops", plan, others);
	count(&quit);
	gc_park(m);
	if (others)
		pthread_join(thread, NULL);
	gc_unpark(m);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

/* What a listener adds up itself */
static struct {
	uint64_t to_stop, longest_to_stop, stopped, longest, wrong;
	bool stw;
} heard;

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void asks(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	heard.wrong += e->duration_ns || e->stw || e->phase != GC_PHASE_STOP;
}

static void stands(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	heard.wrong += heard.stw || !e->stw || e->phase != GC_PHASE_ROOTS;
	heard.stw = true;
	heard.to_stop += e->duration_ns;
	heard.longest_to_stop = most(heard.longest_to_stop, e->duration_ns);
}

static void within(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	heard.wrong += e->stw != heard.stw || e->duration_ns;
}

static void goes_on(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	heard.wrong += !heard.stw || e->stw || e->phase != GC_PHASE_IDLE;
	heard.stw = false;
	heard.stopped += e->duration_ns;
	heard.longest = most(heard.longest, e->duration_ns);
}

static const struct gc_listener_ops adds_up = {
	.requesting_stop = asks,
	.stopped = stands,
	.roots_done = within,
	.restarting = within,
	.restarted = goes_on,
};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A heap and its only mutator; NULL, and a test that failed: no such heap. */
static struct gc_mutator *alone(const char *options, struct gc_listener *hears)
{
	struct gc_error err = { .text = "no memory for a mutator" };
	struct gc_mutator *m;

	if (!gc_heap_create(&heap, options, hears, &err) && !gc_mutator_attach(heap, &m))
		return m;
	ok(false, "%s starts: %s", options, err.text);
	return NULL;
}

static void figures(const char *options)
{
	struct gc_listener adding = { &adds_up };
	struct gc_type_desc d = { .name = "node", .size = 16, .refs = 2 };
	struct {
		struct gc_frame head;
		void *list, *fresh;
	} f;
	const struct gc_type *type;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	uint64_t cpu;

	memset(&heard, 0, sizeof(heard));
	m = alone(options, &adding);
	if (!m)
		return;
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	for (int i = 0; i < 20000; i++) {
		f.fresh = gc_alloc(m, type);
		gc_init((void **)f.fresh + 1, f.list);
		f.list = f.fresh;
	}
	cpu = cpu_ns();
	for (int i = 0; i < 5; i++)
		gc_collect_full(m);
	cpu = cpu_ns() - cpu;
	gc_heap_stats(heap, &s);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (!ok(!heard.wrong && s.time_to_safepoint_ns == heard.to_stop &&
			s.longest_ttsp_ns == heard.longest_to_stop && s.stw_ns == heard.stopped &&
			s.longest_stw_ns == heard.longest && s.stw_ns >= s.time_to_safepoint_ns &&
			s.longest_stw_ns < s.stw_ns,
		"%s: the time of stops is what a listener measured", options))
		printf("# %llu wrong, %llu (%llu) to stop, %llu (%llu) stopped\n",
		       (unsigned long long)heard.wrong, (unsigned long long)s.time_to_safepoint_ns,
		       (unsigned long long)s.longest_ttsp_ns, (unsigned long long)s.stw_ns,
		       (unsigned long long)s.longest_stw_ns);
	if (!ok(s.gc_cpu_ns && s.gc_cpu_ns <= cpu && s.gc_cpu_ns >= cpu / 4,
		"%s: the CPU time of collecting is that of the process", options))
		printf("# %llu of %llu ns\n", (unsigned long long)s.gc_cpu_ns,
		       (unsigned long long)cpu);
}

static struct {
	uint64_t bytes, wrong;
	int over;
} trim;

static void trim_begin(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	trim.wrong += e->phase != GC_PHASE_TRIM || e->cause != GC_CAUSE_TRIM || !e->daemon ||
		      e->foreground || e->stw || e->duration_ns || e->work_done;
}

static void trim_end(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	trim.wrong += e->phase != GC_PHASE_TRIM || e->cause != GC_CAUSE_TRIM || !e->daemon ||
		      e->foreground || !e->duration_ns;
	__atomic_fetch_add(&trim.bytes, e->work_done, __ATOMIC_SEQ_CST);
	count(&trim.over);
}

/* The figures are what was heard; there may be more than one on a busy machine. */
static bool trimmed(void)
{
	struct gc_heap_stats s;

	gc_heap_stats(heap, &s);
	return s.trims && s.trims == (uint64_t)of(&trim.over) && s.trimmed_bytes &&
	       s.trimmed_bytes == __atomic_load_n(&trim.bytes, __ATOMIC_SEQ_CST);
}

/* A trim says what it is, and how much it gave back. */
static void trims(const char *options)
{
	static const struct gc_listener_ops trim_ops = { .trim_begin = trim_begin,
							 .trim_end = trim_end };
	struct gc_listener trim_listener = { &trim_ops };
	struct gc_type_desc d = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	const struct gc_type *type;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	bool good;

	memset(&trim, 0, sizeof(trim));
	m = alone(options, &trim_listener);
	if (!m)
		return;
	type = gc_type_register(heap, &d, NULL);
	for (int i = 0; i < 100; i++)
		gc_alloc_array(m, type, 30000);
	gc_collect_full(m);
	gc_park(m);
	good = soon(trimmed, GIVE_UP);
	gc_unpark(m);
	gc_heap_stats(heap, &s);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (!ok(good && !trim.wrong, "%s: a trim reports its cause and the bytes that it released",
		options))
		printf("# %d trims, %llu wrong, %llu of %llu bytes\n", trim.over,
		       (unsigned long long)trim.wrong, (unsigned long long)trim.bytes,
		       (unsigned long long)s.trimmed_bytes);
}

int main(void)
{
	one("plan=cms", 0, false);
	one("plan=cms", 1, true);
	figures("plan=cms,policy=fg,trim=0,workers=0");
	figures("plan=gss,trim=0,workers=0");
	figures("plan=immix,trim=0,workers=0");
	figures("plan=marksweep,trim=0,workers=0");
	figures("plan=semispace,trim=0,workers=0");
	trims("plan=marksweep,trim=0.3");
	trims("plan=semispace,trim=0.3");
	return done();
}
