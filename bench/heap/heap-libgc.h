/* SPDX-License-Identifier: MIT */
/*
 * Boehm's collector. It finds references itself, on stacks and in objects; an object
 * has no header and frames are plain locals. Types without references are allocated
 * as such (GC_MALLOC_ATOMIC), the most precise information its usual interface accepts.
 */
#ifndef BENCH_HEAP_LIBGC_H
#define BENCH_HEAP_LIBGC_H

#ifndef GC_THREADS
#define GC_THREADS
#endif
#include <gc.h>

#include "heap/heap-plain.h"

struct bench_heap;

struct heap_type {
	uint32_t size, elem_size;
	bool refs;
};

#define HEAP_HEADER
#define HEAP_LENGTH uint64_t length;

static inline void *heap_alloc(struct heap_thread *t, const struct heap_type *type, size_t bytes)
{
	(void)t;
	return type->refs ? GC_MALLOC(bytes) : GC_MALLOC_ATOMIC(bytes);
}

static inline void *heap_array(struct heap_thread *t, const struct heap_type *type, uint32_t length)
{
	size_t bytes = type->size + (size_t)length * type->elem_size;
	uint64_t *array = (uint64_t *)heap_alloc(t, type, bytes);

	if (array)
		*array = length;
	return array;
}

static inline void heap_collect(struct heap_thread *t)
{
	(void)t;
	GC_gcollect();
}

#endif
