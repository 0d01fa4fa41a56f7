// SPDX-License-Identifier: MIT
/*
 * cost OPTIONS none|null|gchint: a fixed program on one thread, for listener-cost to count
 * its instructions. Trees come and go, one stays.
 */
#include "tree.h"

#include <gchint/gc-listener-gchint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct gc_listener_gchint hints;
	struct gc_listener *listener = NULL;
	struct gc_heap_stats stats;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct gc_error err;
	struct {
		struct gc_frame head;
		struct node *keep, *junk;
	} f;
	const struct gc_type *t;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "null"))
		listener = &gc_listener_null;
	if (!strcmp(argv[2], "gchint")) {
		if (gc_listener_gchint_open(&hints, 0))
			return 1;
		listener = &hints.base;
	}
	if (gc_heap_create(&heap, argv[1], listener, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	t = tree_type(heap);
	GC_PUSH(m, f);
	f.keep = tree(m, t, 15);
	for (int i = 0; i < 60; i++)
		f.junk = tree(m, t, 13);
	GC_POP(m, f);
	gc_heap_stats(heap, &stats);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	if (listener == &hints.base)
		gc_listener_gchint_close(&hints);
	printf("%llu cycles\n", (unsigned long long)stats.cycles);
	return 0;
}
