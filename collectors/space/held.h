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

#endif
