// SPDX-License-Identifier: MIT
/*
 * GJS and other programs that are linked with SpiderMonkey (78 to 140):
 * LD_PRELOAD=libgchint-gjs.so
 *
 * A context's collector calls back on the context's thread, which is the only one that runs its
 * script. Helper threads mark and sweep concurrently; SpiderMonkey does not report them.
 *
 *	GC_SLICE_BEGIN			collect		a slice of a full collection, or all of it
 *	GC_NURSERY_COLLECTION_START	copy		the nursery, also within a slice
 *	GC_SLICE_END, ..._END		none
 *
 * How full the heap is, without the nursery, SpiderMonkey says at the begin and the end of a slice.
 *
 * Each is STW and FOREGROUND. This library wraps JS_NewContext() and sets the callbacks of each
 * new context. A program that sets its own callback later replaces this one, and gets its
 * address back to call it. The types are those of <js/GCAPI.h>; the functions are looked up by
 * their mangled names, because the headers are C++. A process without SpiderMonkey is not changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include <gchint.h>

#include "../common/start.h"

#define PUBLIC	__attribute__((visibility("default")))
#define STOPPED (GCHINT_F_STW | GCHINT_F_FOREGROUND)

typedef struct context JSContext;
typedef struct runtime JSRuntime;

enum progress {
	CYCLE_BEGIN,
	SLICE_BEGIN,
	SLICE_END,
	CYCLE_END
};
enum nursery_progress {
	NURSERY_START,
	NURSERY_END
};

typedef void slice_fn(JSContext *cx, enum progress progress, const void *description);
typedef void nursery_fn(JSContext *cx, enum nursery_progress progress, int reason);
typedef void nursery_data_fn(JSContext *cx, enum nursery_progress progress, int reason, void *data);
typedef slice_fn *set_slice_fn(JSContext *cx, slice_fn *call);
typedef nursery_fn *set_nursery_fn(JSContext *cx, nursery_fn *call);
typedef _Bool add_nursery_fn(JSContext *cx, nursery_data_fn *call, void *data);
typedef JSContext *new_fn(uint32_t heap_max, JSRuntime *parent);

#define SET_SLICE                                                                                  \
	"_ZN2JS18SetGCSliceCallbackEP9JSContextPFvS1_NS_10GCProgressERKNS_13GCDescriptionEE"
#define SET_NURSERY                                                                                \
	"_ZN2JS30SetGCNurseryCollectionCallbackEP9JSContextPFvS1_NS_17GCNurseryProgressENS_"       \
	"8GCReasonEE"
/* Instead of it since SpiderMonkey 115: any number of callbacks. */
#define ADD_NURSERY                                                                                \
	"_ZN2JS30AddGCNurseryCollectionCallbackEP9JSContextPFvS1_NS_17GCNurseryProgressENS_"       \
	"8GCReasonEPvES4_"
#define NEW	      "_Z13JS_NewContextjP9JSRuntime"
#define GET_PARAMETER "_Z17JS_GetGCParameterP9JSContext12JSGCParamKey"

/* Keys of JS_GetGCParameter(), the same since SpiderMonkey 1.8. */
#define PARAMETER_LIMIT 0
#define PARAMETER_USED	3

typedef uint32_t parameter_fn(JSContext *cx, int key);
static parameter_fn *parameter_get;

static void heap_report(JSContext *cx, unsigned int when)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;
	uint32_t limit;

	if (!parameter_get)
		return;
	heap.when = when;
	heap.used = parameter_get(cx, PARAMETER_USED);
	limit = parameter_get(cx, PARAMETER_LIMIT);
	/* The highest value stands for none. */
	if (limit != UINT32_MAX)
		heap.limit = limit;
	heap.generation = 1;
	gchint_heap(gchint_self(), &heap);
}

static void on_slice(JSContext *cx, enum progress progress, const void *description)
{
	(void)description;
	if (progress == SLICE_BEGIN) {
		gchint_phase_begin(GCHINT_PHASE_COLLECT, STOPPED);
		heap_report(cx, GCHINT_HEAP_BEFORE);
	} else if (progress == SLICE_END) {
		heap_report(cx, GCHINT_HEAP_AFTER);
		gchint_phase_end();
	}
}

static void on_nursery(JSContext *cx, enum nursery_progress progress, int reason)
{
	(void)cx;
	(void)reason;
	if (progress == NURSERY_START)
		gchint_phase_begin(GCHINT_PHASE_COPY, STOPPED);
	else
		gchint_phase_end();
}

static void on_nursery_data(JSContext *cx, enum nursery_progress progress, int reason, void *data)
{
	(void)data;
	on_nursery(cx, progress, reason);
}

/* A new context has no callbacks yet, so none has to be chained. */
static void context_watch(JSContext *cx)
{
	set_slice_fn *set_slice = (set_slice_fn *)dlsym(RTLD_DEFAULT, SET_SLICE);
	set_nursery_fn *set_nursery = (set_nursery_fn *)dlsym(RTLD_DEFAULT, SET_NURSERY);
	add_nursery_fn *add_nursery = (add_nursery_fn *)dlsym(RTLD_DEFAULT, ADD_NURSERY);
	static int started;

	if (!started && (!set_slice || (!set_nursery && !add_nursery))) {
		fputs("libgchint-gjs.so: no hints: this SpiderMonkey has not the callbacks of 78 "
		      "to 140\n",
		      stderr);
		started = -1;
	}
	if (!started) {
		started = adapter_start("libgchint-gjs.so", NULL) ? 1 : -1;
		if (started > 0)
			adapter_fork();
	}
	if (started < 0)
		return;
	parameter_get = (parameter_fn *)dlsym(RTLD_DEFAULT, GET_PARAMETER);
	set_slice(cx, on_slice);
	if (set_nursery)
		set_nursery(cx, on_nursery);
	else
		add_nursery(cx, on_nursery_data, NULL);
}

PUBLIC JSContext *new_context(uint32_t heap_max, JSRuntime *parent) __asm__(NEW);
PUBLIC JSContext *new_context(uint32_t heap_max, JSRuntime *parent)
{
	static new_fn *next;
	JSContext *cx;

	if (!next)
		next = (new_fn *)dlsym(RTLD_NEXT, NEW);
	cx = next ? next(heap_max, parent) : NULL;
	if (cx)
		context_watch(cx);
	return cx;
}
