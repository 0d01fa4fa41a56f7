// SPDX-License-Identifier: MIT
/* list OPTIONS: a list of 100000 pairs, collected once. tests/collectors/tracing counts it. */
#include <gchint/gc.h>
#include <stdio.h>

#define LENGTH 100000

struct pair {
	struct gc_header header;
	void *car;
	struct pair *cdr;
};

int main(int argc, char **argv)
{
	unsigned int header = sizeof(struct gc_header) / sizeof(void *);
	struct gc_type_desc d = { .name = "pair",
				  .size = sizeof(struct pair),
				  .refs = 3u << header };
	struct gc_error err = { .text = "no memory" };
	const struct gc_type *type;
	struct {
		struct gc_frame head;
		struct pair *list, *fresh;
	} f;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;

	if (gc_heap_create(&heap, argc > 1 ? argv[1] : NULL, NULL, &err) ||
	    gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "list: %s\n", err.text);
		return 1;
	}
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	for (int i = 0; i < LENGTH; i++) {
		f.fresh = GC_NEW(m, type, struct pair);
		gc_init(&f.fresh->cdr, f.list);
		f.list = f.fresh;
	}
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	printf("%llu\n", (unsigned long long)s.live_objects);
	return s.live_objects < LENGTH;
}
