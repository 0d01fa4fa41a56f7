// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "heap/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHUNK ((size_t)4 << 20)

struct chunk {
	struct chunk *next;
	size_t size;
};

struct bench_heap {
	pthread_mutex_t lock; /* guards everything below */
	uint64_t most_bytes, taken_bytes;
	bool pretouch;
	struct chunk *chunks;
	struct heap_thread *threads;
	struct heap_type *types[1024];
	size_t type_count;
};

const char *heap_name(void)
{
	return "epsilon";
}

struct bench_heap *heap_epsilon_create(uint64_t most_bytes, bool pretouch)
{
	struct bench_heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return NULL;
	pthread_mutex_init(&heap->lock, NULL);
	heap->most_bytes = most_bytes;
	heap->pretouch = pretouch;
	return heap;
}

void heap_epsilon_destroy(struct bench_heap *heap)
{
	while (heap->chunks) {
		struct chunk *chunk = heap->chunks;

		heap->chunks = chunk->next;
		munmap(chunk, chunk->size);
	}
	while (heap->threads) {
		struct heap_thread *t = heap->threads;

		heap->threads = t->next;
		free(t);
	}
	for (size_t i = 0; i < heap->type_count; i++)
		free(heap->types[i]);
	pthread_mutex_destroy(&heap->lock);
	free(heap);
}

void heap_epsilon_totals(struct bench_heap *heap, uint64_t *bytes, uint64_t *objects)
{
	*bytes = *objects = 0;
	for (struct heap_thread *t = heap->threads; t; t = t->next) {
		*bytes += t->bytes;
		*objects += t->objects;
	}
}

void *heap_chunk(struct heap_thread *t, size_t bytes)
{
	struct bench_heap *heap = t->heap;
	size_t need = bytes + sizeof(struct chunk);
	size_t size = need > CHUNK ? (need + 4095) & ~(size_t)4095 : CHUNK;
	struct chunk *chunk = NULL;

	pthread_mutex_lock(&heap->lock);
	if (heap->taken_bytes + size <= heap->most_bytes) {
		chunk = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | (heap->pretouch ? MAP_POPULATE : 0), -1,
			     0);
		if (chunk == MAP_FAILED)
			chunk = NULL;
	}
	if (chunk) {
		chunk->next = heap->chunks;
		chunk->size = size;
		heap->chunks = chunk;
		heap->taken_bytes += size;
	}
	pthread_mutex_unlock(&heap->lock);
	if (!chunk)
		return NULL;
	if (size == CHUNK) {
		t->cursor = (uintptr_t)(chunk + 1) + bytes;
		t->limit = (uintptr_t)chunk + size;
	}
	return chunk + 1;
}

const struct heap_type *heap_register(struct bench_heap *heap, const struct heap_kind *kind)
{
	struct heap_type *type = NULL;

	pthread_mutex_lock(&heap->lock);
	if (heap->type_count < sizeof(heap->types) / sizeof(*heap->types))
		type = calloc(1, sizeof(*type));
	if (type) {
		type->word = heap->type_count;
		type->size = kind->size;
		type->elem_size = kind->tail == HEAP_TAIL_REFS ? sizeof(void *) : kind->elem_size;
		heap->types[heap->type_count++] = type;
	}
	pthread_mutex_unlock(&heap->lock);
	return type;
}

struct heap_thread *heap_attach(struct bench_heap *heap)
{
	struct heap_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->heap = heap;
	pthread_mutex_lock(&heap->lock);
	t->next = heap->threads;
	heap->threads = t;
	pthread_mutex_unlock(&heap->lock);
	return t;
}

void heap_detach(struct heap_thread *t)
{
	(void)t; /* its counts and chunks stay with the heap */
}
