/* SPDX-License-Identifier: MIT */
#ifndef GC_HELD_H
#define GC_HELD_H

#include "blocks.h"
#include "large.h"

/* Bytes that an object of @size occupies in its space */
gc_inline size_t gc_held_size(const struct gc_heap *heap, size_t size)
{
	if (size <= GC_SMALL_MAX)
		return size;
	if (size > (size_t)heap->opt.large)
		return gc_large_size(size);
	return heap->blocks ? heap->blocks->size[heap->blocks->class_of[size / 8]] : size;
}

/* The same for the object at @addr, which may have been shrunk */
size_t gc_held_shrunk(const struct gc_heap *heap, uintptr_t addr, size_t size);

gc_inline size_t gc_held(const struct gc_heap *heap, const void *obj, size_t size)
{
	size_t plain = __atomic_load_n(&heap->roots.plain, __ATOMIC_RELAXED);

	if (likely(size <= plain))
		return size;
	return plain ? gc_held_size(heap, size) : gc_held_shrunk(heap, (uintptr_t)obj, size);
}

#endif
