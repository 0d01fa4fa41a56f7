/* SPDX-License-Identifier: MIT */
/* Binary trees of one type of node. */
#ifndef TREE_H
#define TREE_H

#include <gchint/gc.h>

struct node {
	struct gc_header header;
	struct node *left, *right;
	long pad;
};

__attribute__((unused)) static const struct gc_type *tree_type(struct gc_heap *heap)
{
	static const struct gc_type_desc d = { .name = "node",
					       .size = sizeof(struct node),
					       .refs = 6 };

	return gc_type_register(heap, &d, NULL);
}

/* A full tree of 2^(@depth + 1) - 1 nodes of 32 bytes */
__attribute__((unused)) static struct node *tree(struct gc_mutator *m, const struct gc_type *t,
						 int depth)
{
	struct {
		struct gc_frame head;
		struct node *left, *right;
	} f;
	struct node *n;

	GC_PUSH(m, f);
	if (depth) {
		f.left = tree(m, t, depth - 1);
		f.right = tree(m, t, depth - 1);
	}
	n = GC_NEW(m, t, struct node);
	gc_init(&n->left, f.left);
	gc_init(&n->right, f.right);
	GC_POP(m, f);
	return n;
}

#endif
