// SPDX-License-Identifier: MIT
/*
 * tracing OPTIONS [traced|mixed]: a tree of 131071 objects of 32 bytes with two references each, collected
 * as a whole ROUNDS times by one thread; "traced": a callback of their type visits the references,
 * "mixed": their words may be other than references. bench/peers/count-tracing counts its
 * instructions.
 */
#include <gchint/gc.h>
#include <stdio.h>

#define DEPTH  16
#define ROUNDS 5

struct node {
	struct gc_header header;
	struct node *left, *right;
	long pad;
};

static struct gc_mutator *m;
static const struct gc_type *type;

static void node_trace(void *obj, gc_visit_fn visit, void *arg)
{
	struct node *n = obj;

	visit((void **)&n->left, arg);
	visit((void **)&n->right, arg);
}

static struct node *tree_build(int depth)
{
	struct {
		struct gc_frame head;
		struct node *left, *right;
	} f;
	struct node *n;

	GC_PUSH(m, f);
	if (depth) {
		f.left = tree_build(depth - 1);
		f.right = tree_build(depth - 1);
	}
	n = GC_NEW(m, type, struct node);
	gc_init(&n->left, f.left);
	gc_init(&n->right, f.right);
	GC_POP(m, f);
	return n;
}

int main(int argc, char **argv)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_error err = { .text = "no memory for a mutator" };
	struct {
		struct gc_frame head;
		struct node *root;
	} f;
	struct gc_heap_stats s;
	struct gc_heap *heap;

	if (gc_heap_create(&heap, argc > 1 ? argv[1] : NULL, NULL, &err)) {
		fprintf(stderr, "tracing: %s\n", err.text);
		return 1;
	}
	if (argc > 2) {
		d.mixed = argv[2][0] == 'm';
		d.trace = d.mixed ? NULL : node_trace;
		d.refs = d.mixed ? d.refs : 0;
	}
	type = gc_type_register(heap, &d, &err);
	if (!type || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "tracing: %s\n", err.text);
		return 1;
	}
	GC_PUSH(m, f);
	f.root = tree_build(DEPTH);
	for (int i = 0; i < ROUNDS; i++)
		gc_collect_full(m);
	gc_heap_stats(heap, &s);
	printf("%llu\n", (unsigned long long)s.live_objects * ROUNDS);
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}
