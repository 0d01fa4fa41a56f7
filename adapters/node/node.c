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

	(void)isolate;
	(void)data;
	cause = cause_of(flags);
	detail.cause = cause;
	gchint_begin_detail(gchint_self(), phase_of(type), STOPPED, &detail);
}

static void on_epilogue(struct isolate *isolate, int type, int flags, void *data)
{
	(void)isolate;
	(void)type;
	(void)data;
	/* Older versions pass the flags at the end only. */
	if (!cause && cause_of(flags))
		gchint_set_cause(gchint_self(), cause_of(flags));
	gchint_phase_end();
}

static void *v8_lookup(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol);
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
