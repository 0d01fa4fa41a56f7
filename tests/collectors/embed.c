// SPDX-License-Identifier: MIT
/* The whole of an embedding: a list on the collected heap, longer than the heap is large. */
#include <gchint/gc.h>
#include <stdio.h>

struct cell {
	struct gc_header header;
	struct cell *next;
	long value;
};

int main(int argc, char **argv)
{
	struct gc_type_desc desc = { .name = "cell", .size = sizeof(struct cell), .refs = 1u << 1 };
	struct {
		struct gc_frame head;
		struct cell *list, *fresh;
	} f;
	struct gc_heap *heap;
	struct gc_mutator *m;
	struct gc_error err;

	if (gc_heap_create(&heap, argc > 1 ? argv[1] : "plan=cms,heap=4M", NULL, &err))
		return fprintf(stderr, "%s\n", err.text), 1;
	const struct gc_type *type = gc_type_register(heap, &desc, &err);
	if (!type || gc_mutator_attach(heap, &m))
		return 1;
	GC_PUSH(m, f);
	for (long i = 0; i < 1000000; i++) {
		f.fresh = GC_NEW(m, type, struct cell); /* a safepoint: f.list may have moved */
		if (!f.fresh)
			return fprintf(stderr, "out of memory\n"), 1;
		f.fresh->value = i;
		gc_init(&f.fresh->next, i % 100 ? f.list : NULL);
		f.list = f.fresh;
	}
	printf("%ld %ld\n", f.list->value, f.list->next->value);
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap) ? 1 : 0;
}
