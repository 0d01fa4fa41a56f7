/* SPDX-License-Identifier: MIT */
/* One heap and its only mutator, for tests that count. */
#ifndef ALONE_H
#define ALONE_H

#include <gchint/gc.h>

#include "tap.h"

static struct gc_heap *heap;
static struct gc_mutator *m;

/* False, and a test that failed: no such heap. */
static bool open_heap(const char *options)
{
	struct gc_error err = { .text = "no memory for a mutator" };

	if (!gc_heap_create(&heap, options, NULL, &err) && !gc_mutator_attach(heap, &m))
		return true;
	return ok(false, "%s starts: %s", options, err.text);
}

__attribute__((unused)) static void stop(void)
{
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

__attribute__((unused)) static struct gc_heap_stats stats(void)
{
	struct gc_heap_stats s;

	gc_heap_stats(heap, &s);
	return s;
}

#endif
