// SPDX-License-Identifier: MIT
#include "heap/heap.h"

const char *heap_name(void)
{
	return "gchint";
}

const struct heap_type *heap_register(struct bench_heap *heap, const struct heap_kind *kind)
{
	static const enum gc_tail tail[] = { GC_TAIL_NONE, GC_TAIL_DATA, GC_TAIL_REFS };
	const struct gc_type_desc desc = {
		.name = kind->name,
		.size = kind->size,
		.refs = kind->refs,
		.tail = tail[kind->tail],
		.elem_size = kind->elem_size,
	};

	return gc_type_register(heap, &desc, NULL);
}

struct heap_thread *heap_attach(struct bench_heap *heap)
{
	struct gc_mutator *m;

	return gc_mutator_attach(heap, &m) ? NULL : m;
}

void heap_detach(struct heap_thread *t)
{
	gc_mutator_detach(t);
}
