/* SPDX-License-Identifier: MIT */
/*
 * No collector: each thread bumps a pointer through chunks of zero pages. It shows the cost
 * of allocation alone, for lower bounds and for testing what a workload allocates.
 */
#ifndef BENCH_HEAP_EPSILON_H
#define BENCH_HEAP_EPSILON_H

#include "heap/heap-plain.h"

struct bench_heap;

struct heap_thread {
	uintptr_t cursor, limit;
	struct bench_heap *heap;
	uint64_t bytes, objects;
	struct heap_thread *next;
};

struct heap_header {
	uint64_t word;
};

struct heap_type {
	uint64_t word;
	uint32_t size, elem_size;
};

#define HEAP_HEADER struct heap_header header;
#define HEAP_LENGTH struct heap_header header;

/** heap_chunk() - a chunk with room for @bytes; out of line. */
void *heap_chunk(struct heap_thread *t, size_t bytes);

static inline void *heap_bytes(struct heap_thread *t, const struct heap_type *type, size_t bytes,
			       uint64_t length)
{
	size_t room = (bytes + 7) & ~(size_t)7;
	struct heap_header *obj = (struct heap_header *)t->cursor;

	if (__builtin_expect(room > t->limit - t->cursor, 0)) {
		obj = (struct heap_header *)heap_chunk(t, room);
		if (!obj)
			return NULL;
	} else {
		t->cursor += room;
	}
	t->bytes += room;
	t->objects++;
	obj->word = type->word | length << 32;
	return obj;
}

static inline void *heap_alloc(struct heap_thread *t, const struct heap_type *type, size_t bytes)
{
	return heap_bytes(t, type, bytes, 0);
}

static inline void *heap_array(struct heap_thread *t, const struct heap_type *type, uint32_t length)
{
	return heap_bytes(t, type, type->size + (size_t)length * type->elem_size, length);
}

static inline void heap_collect(struct heap_thread *t)
{
	(void)t;
}

struct bench_heap *heap_epsilon_create(uint64_t most_bytes, bool pretouch);
void heap_epsilon_destroy(struct bench_heap *heap);
/** heap_epsilon_totals() - bytes and objects of all threads that ever attached. */
void heap_epsilon_totals(struct bench_heap *heap, uint64_t *bytes, uint64_t *objects);

#endif
