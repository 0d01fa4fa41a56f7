// SPDX-License-Identifier: MIT
/* What a program asks about an object, or about the addresses of objects. */
#include "../heap/heap.h"
#include "../heap/plan.h"

const struct gc_type *gc_type_of(const struct gc_heap *heap, const void *obj)
{
	return &gc_info(heap, gc_word(obj))->pub;
}

bool gc_heap_contains(const struct gc_heap *heap, const void *address)
{
	return (uintptr_t)address - heap->base < heap->end - heap->base;
}

bool gc_heap_moves(const struct gc_heap *heap)
{
	return heap->bump || (heap->lines && heap->opt.defrag != GC_DEFRAG_NEVER);
}
