// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "lib/histogram.h"
#include "lib/utilisation.h"
#include "run/watch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct setting options[] = {
	{ "divisor", "3", "GC_set_free_space_divisor: less collects less often; 3 is the default" },
	{ "expand", "1", "1: take the whole heap at the start" },
	{ "heap", "32M", "GC_set_max_heap_size" },
	{ "incremental", "0", "1: GC_enable_incremental" },
	{ "markers", "0", "GC_set_markers_count; 0: not called" },
	{ NULL, NULL, NULL },
};

struct backend {
	struct histogram stops;
	struct span *span;
	size_t spans, room;
	uint64_t lost;
};

/* One process, one libgc: its event callback has no argument of ours. */
static struct backend *listening;
static int64_t stop_begin;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Called with libgc's lock held: one event at a time. */
static void GC_CALLBACK on_event(GC_EventType event)
{
	struct backend *b = listening;

	if (!b)
		return;
	if (event == GC_EVENT_PRE_STOP_WORLD) {
		stop_begin = now_ns();
	} else if (event == GC_EVENT_POST_START_WORLD) {
		int64_t end = now_ns();

		histogram_add(&b->stops, (uint64_t)(end - stop_begin));
		if (b->spans < b->room)
			b->span[b->spans++] = (struct span){ stop_begin, end };
		else
			b->lost++;
	}
}

int backend_open(struct backend **out, const struct run_request *q, struct run_result *r)
{
	struct backend *b = calloc(1, sizeof(*b));
	struct settings_error err = { "out of memory" };
	struct settings s;
	uint64_t divisor, expand, heap, incremental, markers;
	int code;

	if (!b)
		return -ENOMEM;
	settings_init(&s, options);
	code = settings_parse(&s, q->options, &err);
	if (code || (code = settings_size(&s, "divisor", 1, 100, &divisor, &err)) ||
	    (code = settings_size(&s, "expand", 0, 1, &expand, &err)) ||
	    (code = settings_size(&s, "heap", 1 << 20, UINT64_C(1) << 40, &heap, &err)) ||
	    (code = settings_size(&s, "incremental", 0, 1, &incremental, &err)) ||
	    (code = settings_size(&s, "markers", 0, 64, &markers, &err)))
		goto refused;
	b->room = 1 << 20;
	b->span = malloc(b->room * sizeof(*b->span));
	code = -ENOMEM;
	if (!b->span)
		goto refused;
	listening = strcmp(q->listener ? q->listener : "stats", "stats") ? NULL : b;
	GC_set_warn_proc(GC_ignore_warn_proc);
	if (markers)
		GC_set_markers_count((unsigned int)markers);
	GC_INIT();
	GC_allow_register_threads();
	GC_set_max_heap_size(heap);
	GC_set_free_space_divisor(divisor);
	GC_set_on_collection_event(on_event);
	if (incremental)
		GC_enable_incremental();
	if (expand && heap > GC_get_heap_size())
		GC_expand_hp(heap - GC_get_heap_size() - (heap >> 5));
	snprintf(r->options, sizeof(r->options),
		 "heap=%llu,divisor=%llu,expand=%llu,incremental=%llu", (unsigned long long)heap,
		 (unsigned long long)divisor, (unsigned long long)expand,
		 (unsigned long long)incremental);
	settings_free(&s);
	*out = b;
	return 0;

refused:
	snprintf(r->error, sizeof(r->error), "%s", err.text);
	r->code = code;
	settings_free(&s);
	free(b);
	return code;
}

struct bench_heap *backend_heap(struct backend *b)
{
	/* libgc is one per process; the pointer only says that there is a heap. */
	return (struct bench_heap *)b;
}

void backend_results(struct backend *b, const struct backend_life *life, size_t lives,
		     struct run_result *r)
{
	struct span **pause = calloc(lives, sizeof(*pause));
	size_t *pauses = calloc(lives, sizeof(*pauses));

	r->has_collections = true;
	r->collections = GC_get_gc_no();
	r->heap_bytes = GC_get_heap_size();
	if (!listening)
		goto free_arrays;
	watch_spread(&r->stop, &b->stops);
	r->pauses_lost = b->lost;
	/* Every thread is stopped for as long as the world is. */
	for (size_t i = 0; pause && pauses && i < lives; i++) {
		pause[i] = b->span;
		pauses[i] = b->spans;
	}
	if (pause && pauses)
		run_utilisation(r, life, lives, pause, pauses);
free_arrays:
	free(pause);
	free(pauses);
}

void backend_close(struct backend *b)
{
	listening = NULL;
	free(b->span);
	free(b);
}

void backend_help(void)
{
	settings_help(options, stdout);
}
