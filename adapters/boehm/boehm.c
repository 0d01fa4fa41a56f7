// SPDX-License-Identifier: MIT
/*
 * The Boehm collector (libgc 8). It reports the stages of a collection to the callback set by
 * GC_set_on_collection_event(), on the thread that triggered the collection. The collector's
 * lock is held, and for some stages the other threads are stopped by signals at arbitrary
 * points: on_event() makes no GC_ call but GC_get_prof_stats_unsafe(), which reads variables,
 * allocates nothing, takes no lock, and uses no stdio.
 * The stages map to phases as follows:
 *
 *	PRE_STOP_WORLD		safepoint, STW		threads are being stopped
 *	MARK_START		mark, STW		roots included
 *	MARK_END		collect, STW		threads are being started
 *	PRE_START_WORLD		collect, STW		the same, when a mark was abandoned
 *	POST_START_WORLD	none
 *	RECLAIM_START		sweep, foreground	finalizers, free lists, unmapping
 *	RECLAIM_END		none
 *
 * How full the heap is, by blocks, is reported at PRE_STOP_WORLD and at RECLAIM_END, before which
 * blocks without a live object have been freed.
 *
 * Between an abandoned mark and the next PRE_STOP_WORLD (incremental mode) mutators mark
 * a little at each allocation, and most sweeping is done at allocation too. libgc reports
 * neither, so neither is hinted.
 *
 * Marker threads get no callback. They work only within the pause, so a standing role is
 * enough. They are recognised by the name that libgc gives each of them at its start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define GC_NO_THREAD_REDIRECTS
#define GC_THREADS
#include <gc/gc.h>
#include <gchint.h>

#include "../common/start.h"
#include "../common/tasks.h"
#include "gchint-boehm.h"

#define MARKER "GC-marker-"

/*
 * Weak, because a program without libgc must load with this library, too. A program that opens
 * libgc later with dlopen() and without RTLD_GLOBAL, as a Python module does, does not add it
 * to the global scope; collector_find_late() then finds it through its caller.
 */
#pragma weak GC_set_on_collection_event
#pragma weak GC_get_on_collection_event
#pragma weak GC_get_prof_stats_unsafe

static void (*set_event)(GC_on_collection_event_proc) = GC_set_on_collection_event;
static GC_on_collection_event_proc (*get_event)(void) = GC_get_on_collection_event;

/* Reads the collector's counts for a caller that holds its lock; NULL: not in this libgc. */
static size_t (*stats_read)(struct GC_prof_stats_s *, size_t) = GC_get_prof_stats_unsafe;

static GC_on_collection_event_proc chained;
static int installed;
/* A mark has begun and not ended. Protected by the collector's lock. */
static int marking;
/*
 * Set while the chained callback runs, which may call on_event() itself. Protected by the
 * collector's lock.
 */
static int in_chained;

/*
 * Why this thread is in the collector: an explicit request, or initialisation. Initial-exec,
 * because no callback may allocate TLS.
 */
static __thread int asked __attribute__((tls_model("initial-exec")));
static __thread int starting __attribute__((tls_model("initial-exec")));
/* The calls that set these variables resolve to the wrappers below. */
static int causes_known;
/* The collector was loaded after this library and found through its caller. */
static int late;

static uint32_t cause_infer(void)
{
	if (asked)
		return GCHINT_CAUSE_EXPLICIT;
	return causes_known && !starting ? GCHINT_CAUSE_ALLOCATION : GCHINT_CAUSE_UNKNOWN;
}

static void heap_report(unsigned int when)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;
	struct GC_prof_stats_s stats;

	/* The members up to bytes_allocd_since_gc are those of all versions. */
	if (!stats_read ||
	    stats_read(&stats, sizeof(stats)) < offsetof(struct GC_prof_stats_s, gc_no))
		return;
	heap.when = when;
	heap.used = stats.heapsize_full - stats.free_bytes_full;
	heap.committed = stats.heapsize_full - stats.unmapped_bytes;
	heap.allocated = stats.allocd_bytes_before_gc + stats.bytes_allocd_since_gc;
	heap.generation = 1;
	gchint_heap(gchint_self(), &heap);
}

static void GC_CALLBACK on_event(GC_EventType event)
{
	struct gchint_detail detail = { .size = sizeof(detail) };

	if (in_chained)
		return;
	switch (event) {
	case GC_EVENT_PRE_STOP_WORLD:
		detail.cause = cause_infer();
		/* Attaches the thread while the others still run. */
		gchint_begin_detail(gchint_self(), GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW, &detail);
		heap_report(GCHINT_HEAP_BEFORE);
		break;
	case GC_EVENT_MARK_START:
		marking = 1;
		detail.cause = cause_infer();
		gchint_next_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_STW, &detail);
		break;
	case GC_EVENT_MARK_END:
	case GC_EVENT_PRE_START_WORLD:
		if (marking)
			gchint_phase_next(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
		marking = 0;
		break;
	case GC_EVENT_RECLAIM_START:
		detail.cause = cause_infer();
		gchint_begin_detail(gchint_self(), GCHINT_PHASE_SWEEP, GCHINT_F_FOREGROUND,
				    &detail);
		break;
	case GC_EVENT_RECLAIM_END:
		heap_report(GCHINT_HEAP_AFTER);
		gchint_phase_end();
		break;
	case GC_EVENT_POST_START_WORLD:
		gchint_phase_end();
		break;
	default:
		break;
	}
	if (chained) {
		in_chained = 1;
		chained(event);
		in_chained = 0;
	}
}

static void collector_find_late(void *library);

/*
 * Finds the function that a wrapper below replaces. This library precedes libgc and the C
 * library in symbol lookup, so the calls that reveal a cause, and the one that names a marker
 * thread, reach the wrappers first. If the real function does not follow in the global scope,
 * it is in the scope of the caller: libgc itself, or a library that depends on it.
 */
static void *real_resolve(const char *name, void **cache, const void *self, const void *caller)
{
	void *real = __atomic_load_n(cache, __ATOMIC_RELAXED), *library;
	Dl_info info;

	if (real)
		return real;
	real = dlsym(RTLD_NEXT, name);
	if (!real && dladdr(caller, &info) && info.dli_fname) {
		/* Not closed again: the addresses found in it are cached. */
		library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		real = library ? dlsym(library, name) : NULL;
		if (real == self)
			real = NULL;
		if (real && !set_event)
			collector_find_late(library);
	}
	__atomic_store_n(cache, real, __ATOMIC_RELAXED);
	return real;
}

/* NULL if the process has no collector: then the wrapper does nothing. */
#define NEXT(name)                                                                                 \
	real_resolve(#name, &next_##name, (const void *)name, __builtin_return_address(0))

static void *next_GC_gcollect, *next_GC_gcollect_and_unmap, *next_GC_try_to_collect;
static void *next_GC_init, *next_GC_enable_incremental, *next_pthread_setname_np;

#define TAKE __attribute__((visibility("default")))

TAKE void GC_CALL GC_gcollect(void)
{
	void(GC_CALL * real)(void) = NEXT(GC_gcollect);

	asked++;
	if (real)
		real();
	asked--;
}

TAKE void GC_CALL GC_gcollect_and_unmap(void)
{
	void(GC_CALL * real)(void) = NEXT(GC_gcollect_and_unmap);

	asked++;
	if (real)
		real();
	asked--;
}

TAKE int GC_CALL GC_try_to_collect(GC_stop_func stop)
{
	int(GC_CALL * real)(GC_stop_func) = NEXT(GC_try_to_collect);
	int ret;

	asked++;
	ret = real ? real(stop) : 0;
	asked--;
	return ret;
}

TAKE void GC_CALL GC_init(void)
{
	void(GC_CALL * real)(void) = NEXT(GC_init);

	starting++;
	if (real)
		real();
	starting--;
}

TAKE void GC_CALL GC_enable_incremental(void)
{
	void(GC_CALL * real)(void) = NEXT(GC_enable_incremental);

	starting++;
	if (real)
		real();
	starting--;
}

TAKE int pthread_setname_np(pthread_t thread, const char *name)
{
	int (*real)(pthread_t, const char *) = NEXT(pthread_setname_np);
	int ret = real ? real(thread, name) : ENOSYS;

	/* A marker thread sets its name before it waits for work, so no lock is held. */
	if (installed && !strncmp(name, MARKER, strlen(MARKER)) &&
	    pthread_equal(thread, pthread_self()))
		gchint_set_role(gchint_self(), GCHINT_ROLE_STW, NULL);
	return ret;
}

static void marker_attach(struct gchint_session *session, pid_t tid, const char *name)
{
	if (!strncmp(name, MARKER, strlen(MARKER)))
		gchint_attach(session, tid, GCHINT_ROLE_STW, NULL, NULL);
}

/* Attaches the marker threads that run already. */
static void markers_attach(void)
{
	struct gchint_session *session;

	if (gchint_open(&session, 0))
		return;
	tasks_scan(session, marker_attach);
	gchint_close(session);
}

static int callback_install(void)
{
	GC_on_collection_event_proc before = get_event();

	if (before == on_event)
		return 0;
	chained = before;
	set_event(on_event);
	return 0;
}

static int hints_start(void)
{
	static int asked_before;

	if (!asked_before++ && adapter_start("libgchint-boehm.so", NULL)) {
		installed = 1;
		adapter_fork();
		markers_attach();
	}
	return installed;
}

TAKE int gchint_boehm_install(void)
{
	if (!set_event || !get_event)
		return -ENOSYS;
	if (!late)
		causes_known = dlsym(RTLD_DEFAULT, "GC_gcollect") == (void *)GC_gcollect;
	return hints_start() ? callback_install() : 0;
}

/*
 * Runs within a call from @library to the collector, which does not hold its own lock then.
 * Other libraries may call the collector without passing the wrappers, so a cause that no
 * wrapper reports stays unknown.
 */
static void collector_find_late(void *library)
{
	*(void **)&set_event = dlsym(library, "GC_set_on_collection_event");
	*(void **)&get_event = dlsym(library, "GC_get_on_collection_event");
	*(void **)&stats_read = dlsym(library, "GC_get_prof_stats_unsafe");
	late = 1;
	gchint_boehm_install();
}

__attribute__((constructor)) static void boehm_construct(void)
{
	gchint_boehm_install();
}
