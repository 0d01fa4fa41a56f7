// SPDX-License-Identifier: MIT
#include "heap/heap.h"

#include <stdlib.h>

const char *heap_name(void)
{
	return "libgc";
}

/* Types live as long as the process; they hold no references. */
const struct heap_type *heap_register(struct bench_heap *heap, const struct heap_kind *kind)
{
	struct heap_type *type = (struct heap_type *)GC_MALLOC_UNCOLLECTABLE(sizeof(*type));

	(void)heap;
	if (!type)
		return NULL;
	type->size = kind->size;
	type->refs = kind->refs || kind->tail == HEAP_TAIL_REFS;
	type->elem_size = kind->tail == HEAP_TAIL_REFS ? sizeof(void *) : kind->elem_size;
	return type;
}

struct heap_thread *heap_attach(struct bench_heap *heap)
{
	struct GC_stack_base base;

	GC_get_stack_base(&base);
	GC_register_my_thread(&base);
	return (struct heap_thread *)heap;
}

void heap_detach(struct heap_thread *t)
{
	(void)t; /* pthread_create(), which libgc wraps, unregisters at the thread's end */
}
