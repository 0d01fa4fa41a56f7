// SPDX-License-Identifier: MIT
/*
 * Mono (6.8) with SGen: mono --profile=gchint program.exe, this library being found by the
 * name libmono-profiler-gchint.so (LD_LIBRARY_PATH, or installed).
 *
 * On the thread that triggered the collection:
 *
 *	PRE_STOP_WORLD_LOCKED	safepoint, STW		threads are being stopped
 *	POST_STOP_WORLD		collect, STW
 *	START(generation)	copy (0) or mark, STW
 *	END			collect, STW
 *	POST_START_WORLD	none
 *
 * With the default collector a major collection may start in one pause and end in
 * another: the first has no END, the last no START of it. Between them a worker marks and
 * sweeps concurrently, which no event reports: the worker is recognised by its name and has a
 * standing role. If there are several (a parallel mode), they also work in the pauses, which
 * are announced for them.
 */
#include <stddef.h>
#include <string.h>

#include <gchint.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/profiler.h>

#include "../common/start.h"
#include "../common/tasks.h"
#include "../common/variables.h"

#define WORKERS 64

static struct {
	pid_t tid;
	struct gchint_thread *handle;
} workers[WORKERS];
static int worker_count; /* grows only; released after its entry is written */
static int in_pause;

static void worker_consider(struct gchint_session *session, pid_t tid, const char *name)
{
	struct gchint_thread *handle;
	int n;

	if (strcmp(name, "SGen worker\n") != 0)
		return;
	for (n = 0; n < worker_count; n++)
		if (workers[n].tid == tid)
			return;
	if (n == WORKERS || gchint_attach(session, tid, GCHINT_ROLE_CONCURRENT, NULL, &handle))
		return;
	workers[n].tid = tid;
	workers[n].handle = handle;
	__atomic_store_n(&worker_count, n + 1, __ATOMIC_RELEASE);
}

/*
 * The collector's lock is held. A worker found during a pause takes part from the next pause
 * on.
 */
static void workers_pause(int begin)
{
	int n;

	if (begin)
		in_pause = __atomic_load_n(&worker_count, __ATOMIC_ACQUIRE);
	for (n = 0; n < in_pause && in_pause > 1; n++) {
		if (begin)
			gchint_begin(workers[n].handle, GCHINT_PHASE_COLLECT, GCHINT_F_STW);
		else
			gchint_end(workers[n].handle);
	}
}

/* The phase that was announced last. Protected by the collector's lock. */
static unsigned int now;

static void phase_switch(unsigned int phase)
{
	if (now != phase)
		gchint_phase_next(phase, GCHINT_F_STW);
	now = phase;
}

/* How much is in use Mono says only to who does not hold the collector's lock. */
static void heap_report(uint32_t generation)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;

	heap.when = GCHINT_HEAP_AFTER;
	heap.committed = (uint64_t)mono_gc_get_heap_size();
	heap.generation = generation;
	gchint_heap(gchint_self(), &heap);
}

static void on_event(MonoProfiler *profiler, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool serial)
{
	(void)profiler;
	(void)serial;
	switch (event) {
	case MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED:
		now = GCHINT_PHASE_SAFEPOINT;
		gchint_phase_begin(now, GCHINT_F_STW);
		break;
	case MONO_GC_EVENT_START:
		phase_switch(generation ? GCHINT_PHASE_MARK : GCHINT_PHASE_COPY);
		break;
	case MONO_GC_EVENT_POST_STOP_WORLD:
		workers_pause(1);
		phase_switch(GCHINT_PHASE_COLLECT);
		break;
	case MONO_GC_EVENT_END:
		phase_switch(GCHINT_PHASE_COLLECT);
		heap_report(generation);
		break;
	case MONO_GC_EVENT_POST_START_WORLD:
		workers_pause(0);
		gchint_phase_end();
		tasks_rescan();
		break;
	default:
		break;
	}
}

/* Mono finds this function by the profiler's name. */
__attribute__((visibility("default"))) void mono_profiler_init_gchint(const char *options);

void mono_profiler_init_gchint(const char *options)
{
	static int started;
	struct gchint_session *session;

	(void)options;
	adapter_forget("mono");
	/* Mono calls this once for each --profile option. */
	if (started++ || !adapter_start("libgchint-mono.so", &session))
		return;
	adapter_fork();
	tasks_watch(session, worker_consider);
	mono_profiler_set_gc_event_callback(mono_profiler_create(NULL), on_event);
}
