// SPDX-License-Identifier: MIT
/*
 * Node.js (18 and newer): NODE_OPTIONS="--require /path/gchint-node.cjs" node program.js
 *
 * V8 tells of each collection of a heap before and after, on the thread that runs its
 * JavaScript, by type; that thread does nothing else meanwhile, so each is STW and
 * FOREGROUND. A worker thread has a heap, and hints, of its own; others run on.
 *
 *	Scavenge		copy		the young generation
 *	MinorMarkCompact	mark		likewise, in a V8 that is set to
 *	IncrementalMarking	mark		its begin, and in some versions its end
 *	MarkSweepCompact	collect		the end of marking, clearing, evacuation
 *	ProcessWeakCallbacks	refs
 *
 * Marking and sweeping beside the program are told of by nothing; they run on threads that
 * compile as well. A collection that was forced is explicit; one that frees all it can is
 * for lack of memory; one when idle is a timer's.
 *
 * The functions are V8's, of the same meaning and name since Node 12; looked up by that
 * name, one build serves each version.
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
#define TYPE_MARK_SWEEP_COMPACT 4
#define TYPE_INCREMENTAL	8
#define TYPE_WEAK_CALLBACKS	16
#define TYPE_ALL		31
#define FLAG_FORCED		4
#define FLAG_ALL_AVAILABLE	16
#define FLAG_ALL_EXTERNAL	32
#define FLAG_IDLE		64

/* As V8's compilers pass them: a method's object comes first. */
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

/* Of the collection under way; a thread has one heap. */
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
	/* Older ones say why only here. */
	if (!cause && cause_of(flags))
		gchint_set_cause(gchint_self(), cause_of(flags));
	gchint_phase_end();
}

/* Found by its symbol, of any module. */
static void *v8(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol);
}

/* The isolate of the calling thread, once. */
static void watch(void)
{
	static __thread struct isolate *watched __attribute__((tls_model("initial-exec")));
	gc_isolate *current = (gc_isolate *)v8("_ZN2v87Isolate10GetCurrentEv");
	gc_add *prologue = (gc_add *)v8(V8_ADD("Prologue"));
	gc_add *epilogue = (gc_add *)v8(V8_ADD("Epilogue"));
	struct isolate *isolate = current ? current() : NULL;

	if (!isolate || !prologue || !epilogue) {
		fprintf(stderr,
			"libgchint-node.so: no hints: this Node does not tell of collections\n");
		return;
	}
	if (watched == isolate)
		return;
	watched = isolate;
	gchint_self();
	prologue(isolate, on_prologue, NULL, TYPE_ALL);
	epilogue(isolate, on_epilogue, NULL, TYPE_ALL);
}

/* Node calls it in each thread that loads us: <node_api.h>, whose handles are pointers. */
__attribute__((visibility("default"))) void *napi_register_module_v1(void *env, void *exports);

void *napi_register_module_v1(void *env, void *exports)
{
	static int started;

	(void)env;
	/* The main thread is first, before there is another one. */
	if (!started)
		started = adapter_start("libgchint-node.so", NULL) ? 1 : -1;
	if (started > 0)
		watch();
	return exports;
}
