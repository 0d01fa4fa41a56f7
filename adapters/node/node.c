// SPDX-License-Identifier: MIT
/*
 * Node.js (18 and newer): NODE_OPTIONS="--require /path/node_modules/gchint-node.cjs" node program.js
 *
 * V8 reports the begin and the end of each collection of a heap, with its type, on the thread
 * that runs the heap's JavaScript. That thread does nothing else meanwhile, so each is STW and
 * FOREGROUND. A worker thread has its own heap and hints for itself; other threads run on.
 *
 *	Scavenge		copy		the young generation
 *	MinorMarkCompact	mark		the young generation, if V8 is configured so
 *	IncrementalMarking	mark		its begin, and in some versions its end
 *	MarkSweepCompact	collect		the end of marking, clearing, evacuation
 *	ProcessWeakCallbacks	refs
 *
 * V8 does not report concurrent marking and sweeping, which run on threads that also compile.
 * The cause is explicit for a forced collection, out of memory for one that frees all it can,
 * and a timer for one at idle time.
 *
 * How full the heap is V8 says at both (v8::HeapStatistics): what --trace-gc prints.
 *
 * The V8 functions have had the same meaning and mangled names since Node 12. They are looked up
 * by these names, so that one build serves all versions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include <gchint.h>

#include "../common/start.h"

#define STOPPED (GCHINT_F_STW | GCHINT_F_FOREGROUND)

/* v8::GCType and v8::GCCallbackFlags of <v8-callbacks.h>. */
#define TYPE_SCAVENGE		1
#define TYPE_MINOR_MARK_COMPACT 2
#define TYPE_INCREMENTAL	8
#define TYPE_WEAK_CALLBACKS	16
#define TYPE_ALL		31
#define FLAG_FORCED		4
#define FLAG_ALL_AVAILABLE	16
#define FLAG_ALL_EXTERNAL	32
#define FLAG_IDLE		64

/* In the C++ ABI of V8's builds the object is a method's first argument. */
struct isolate;
typedef void gc_callback(struct isolate *isolate, int type, int flags, void *data);
typedef void gc_add(struct isolate *isolate, gc_callback *callback, void *data, int types);
typedef struct isolate *gc_isolate(void);

#define V8_ADD(which)                                                                              \
	"_ZN2v87Isolate21AddGC" which "CallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEPvES4_S2_"

/*
 * v8::HeapStatistics of <v8-statistics.h>, whose first members are the same since Node 12; larger
 * than all of them. Its constructor is called first.
 */
struct heap_statistics {
	size_t total, executable, physical, available, used, limit;
	size_t more[58];
};
typedef void heap_init(struct heap_statistics *statistics);
typedef void heap_read(struct isolate *isolate, struct heap_statistics *statistics);

static heap_init *statistics_init;
static heap_read *statistics_read; /* NULL: the heap is not known */

/* The bytes of a collection's generation: 1 is all. Incremental and weak callbacks are parts of one. */
static void heap_report(struct isolate *isolate, int type, unsigned int when)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;
	struct heap_statistics statistics;

	if (!statistics_read || type == TYPE_INCREMENTAL || type == TYPE_WEAK_CALLBACKS)
		return;
	statistics_init(&statistics);
	statistics_read(isolate, &statistics);
	heap.when = when;
	heap.used = statistics.used;
	heap.committed = statistics.total;
	heap.limit = statistics.limit;
	heap.generation = type == TYPE_SCAVENGE || type == TYPE_MINOR_MARK_COMPACT ? 0 : 1;
	gchint_heap(gchint_self(), &heap);
}

static unsigned int phase_of(int type)
{
	switch (type) {
	case TYPE_SCAVENGE:
		return GCHINT_PHASE_COPY;
	case TYPE_MINOR_MARK_COMPACT:
	case TYPE_INCREMENTAL:
		return GCHINT_PHASE_MARK;
	case TYPE_WEAK_CALLBACKS:
		return GCHINT_PHASE_REFS;
	default:
		return GCHINT_PHASE_COLLECT;
	}
}

static uint32_t cause_of(int flags)
{
	if (flags & FLAG_FORCED)
		return GCHINT_CAUSE_EXPLICIT;
	if (flags & FLAG_ALL_AVAILABLE)
		return GCHINT_CAUSE_OOM;
	if (flags & FLAG_ALL_EXTERNAL)
		return GCHINT_CAUSE_NATIVE;
	return flags & FLAG_IDLE ? GCHINT_CAUSE_TIMER : GCHINT_CAUSE_UNKNOWN;
}

/* Of the current collection. Per thread, because a thread has one heap. */
static __thread uint32_t cause __attribute__((tls_model("initial-exec")));

static void on_prologue(struct isolate *isolate, int type, int flags, void *data)
{
	struct gchint_detail detail = { .size = sizeof(detail) };

	(void)data;
	cause = cause_of(flags);
	detail.cause = cause;
	gchint_begin_detail(gchint_self(), phase_of(type), STOPPED, &detail);
	heap_report(isolate, type, GCHINT_HEAP_BEFORE);
}

static void on_epilogue(struct isolate *isolate, int type, int flags, void *data)
{
	(void)data;
	/* Older versions pass the flags at the end only. */
	if (!cause && cause_of(flags))
		gchint_set_cause(gchint_self(), cause_of(flags));
	heap_report(isolate, type, GCHINT_HEAP_AFTER);
	gchint_phase_end();
}

static void *v8_lookup(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol);
}

/* Before the first worker starts. A V8 with other members would have other relations of these. */
static void statistics_find(struct isolate *isolate)
{
	heap_read *read =
		(heap_read *)v8_lookup("_ZN2v87Isolate17GetHeapStatisticsEPNS_14HeapStatisticsE");
	struct heap_statistics s;

	statistics_init = (heap_init *)v8_lookup("_ZN2v814HeapStatisticsC1Ev");
	if (!statistics_init || !read)
		return;
	statistics_init(&s);
	read(isolate, &s);
	if (s.used && s.used <= s.total && s.executable <= s.total && s.total <= s.limit)
		statistics_read = read;
}

/* Sets the callbacks of the calling thread's isolate, once. */
static void isolate_watch(void)
{
	static __thread struct isolate *watched __attribute__((tls_model("initial-exec")));
	gc_isolate *current = (gc_isolate *)v8_lookup("_ZN2v87Isolate10GetCurrentEv");
	gc_add *prologue = (gc_add *)v8_lookup(V8_ADD("Prologue"));
	gc_add *epilogue = (gc_add *)v8_lookup(V8_ADD("Epilogue"));
	struct isolate *isolate = current ? current() : NULL;

	if (!isolate || !prologue || !epilogue) {
		fprintf(stderr,
			"libgchint-node.so: no hints: this Node.js reports no collections\n");
		return;
	}
	if (watched == isolate)
		return;
	watched = isolate;
	gchint_self();
	if (!statistics_init)
		statistics_find(isolate);
	prologue(isolate, on_prologue, NULL, TYPE_ALL);
	epilogue(isolate, on_epilogue, NULL, TYPE_ALL);
}

/* Node calls this in each thread that loads the module. In <node_api.h> handles are pointers. */
__attribute__((visibility("default"))) void *napi_register_module_v1(void *env, void *exports);

void *napi_register_module_v1(void *env, void *exports)
{
	static int started;

	(void)env;
	/* No lock: the main thread is the first, and the only one then. */
	if (!started)
		started = adapter_start("libgchint-node.so", NULL) ? 1 : -1;
	if (started > 0)
		isolate_watch();
	return exports;
}
