// SPDX-License-Identifier: MIT
/*
 * GCBench, after the description of the benchmark by Ellis, Kovac and Boehm: binary
 * trees of growing depth, built from the root down and from the leaves up, alongside one
 * long-lived tree and one long-lived array of doubles. With holes=1 it is whippet's mt-gcbench:
 * there is garbage between the nodes, and no tree stretches the heap first.
 */
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>

struct node {
	HEAP_HEADER
	struct node *left, *right;
	int i, j;
};

struct gcbench {
	const struct heap_type *node, *doubles, *hole;
	int stretch, longest, least, most;
	uint32_t array;
	bool holes;
	uintptr_t build, down, up, count; /* methods */
};

/* A thread's run, and the number of holes so far */
struct gcbench_thread {
	const struct gcbench *g;
	struct heap_thread *t;
	unsigned int holes;
	uint64_t hole_bytes;
};

/* Words of the holes that mt-gcbench makes in turn, geometrically distributed; 0: none */
static const uint8_t hole_words[256] = {
	1, 15, 3,  12, 2,  8,  4,  0,  18, 7,  9,  8,  15, 2,  36, 5,  1, 9,  6,  11, 9,  19,
	2, 0,  0,  3,  9,  6,  3,  2,  1,  1,  6,  1,  8,  4,  2,  0,  5, 3,  7,  0,  0,  3,
	0, 4,  1,  7,  1,  8,  2,  2,  2,  14, 0,  7,  8,  0,  2,  1,  4, 12, 7,  5,  0,  3,
	4, 13, 10, 2,  3,  7,  0,  8,  0,  23, 0,  16, 1,  1,  6,  28, 1, 18, 0,  3,  6,  5,
	8, 6,  14, 5,  2,  5,  0,  11, 0,  18, 4,  16, 1,  4,  3,  13, 3, 23, 7,  4,  10, 5,
	3, 13, 0,  14, 5,  5,  2,  5,  0,  16, 2,  0,  1,  1,  0,  0,  4, 2,  7,  7,  0,  5,
	7, 2,  1,  24, 27, 3,  7,  1,  0,  8,  1,  4,  0,  3,  0,  7,  7, 3,  9,  2,  9,  2,
	5, 10, 1,  1,  12, 6,  2,  9,  5,  0,  4,  6,  0,  7,  2,  1,  5, 4,  1,  0,  1,  15,
	4, 0,  15, 4,  0,  0,  32, 18, 2,  2,  1,  7,  8,  3,  11, 1,  2, 7,  11, 1,  9,  1,
	2, 6,  11, 17, 1,  2,  5,  1,  14, 3,  6,  1,  1,  15, 3,  1,  0, 6,  10, 8,  1,  3,
	2, 7,  0,  1,  0,  11, 3,  3,  5,  8,  2,  0,  0,  7,  12, 2,  5, 20, 3,  7,  4,  4,
	5, 22, 1,  5,  2,  7,  15, 2,  4,  6,  11, 8,  12, 1,
};

static const struct setting settings[] = {
	{ "array", "500000", "long-lived array, doubles" },
	{ "holes", "0", "1: as mt-gcbench, garbage between nodes and no tree to stretch the heap" },
	{ "long", "16", "depth of the long-lived tree" },
	{ "max", "16", "depth of the deepest short-lived trees" },
	{ "min", "4", "depth of the shallowest short-lived trees" },
	{ "stretch", "18", "depth of the tree that stretches the heap first" },
	{ "threads", "1", "threads, each of which runs the whole benchmark; 0: as many as CPUs" },
	{ NULL, NULL, NULL },
};

static int read_depth(struct bench *b, const char *key, int *out, struct settings_error *err)
{
	uint64_t value = 0;
	int code = settings_size(&b->settings, key, 0, 24, &value, err);

	*out = (int)value;
	return code;
}

static int gcbench_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind node = {
		.name = "node",
		.size = sizeof(struct node),
		.refs = HEAP_REF(struct node, left) | HEAP_REF(struct node, right),
	};
	const struct heap_kind doubles = HEAP_KIND_DATA("double[]", 8);
	const struct heap_kind hole = HEAP_KIND_DATA("hole", 8);
	struct gcbench *g = calloc(1, sizeof(*g));
	uint64_t array, holes;
	int code;

	b->state = g;
	if (!g)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = read_depth(b, "stretch", &g->stretch, err)) ||
	    (code = read_depth(b, "long", &g->longest, err)) ||
	    (code = read_depth(b, "min", &g->least, err)) ||
	    (code = read_depth(b, "max", &g->most, err)) ||
	    (code = settings_size(&b->settings, "array", 2, UINT32_MAX / 16, &array, err)) ||
	    (code = settings_size(&b->settings, "holes", 0, 1, &holes, err)))
		return code;
	g->array = (uint32_t)array;
	g->holes = holes;
	g->node = workload_type(b, &node, err);
	g->doubles = workload_type(b, &doubles, err);
	g->hole = workload_type(b, &hole, err);
	if (!g->node || !g->doubles || !g->hole)
		return -ENOMEM;
	g->build = workload_method("long-lived data (gcbench.c)");
	g->down = workload_method("tree_populate (gcbench.c)");
	g->up = workload_method("make_tree (gcbench.c)");
	g->count = workload_method("count_nodes (gcbench.c)");
	b->steps_total = (uint64_t)b->threads *
			 (uint64_t)(g->most >= g->least ? (g->most - g->least) / 2 + 1 : 0);
	return 0;
}

static uint64_t tree_nodes(int d)
{
	return (UINT64_C(2) << d) - 1;
}

/* Garbage before a node: a length and some words, or nothing. False: out of memory. */
static bool make_hole(struct gcbench_thread *w)
{
	uint32_t words;

	if (!w->g->holes)
		return true;
	words = hole_words[w->holes++ % 256];
	w->hole_bytes += words ? 16 + 8 * (uint64_t)words : 0;
	return !words || heap_array(w->t, w->g->hole, words + 1);
}

/* From the leaves up: children are older than their parent. */
static struct node *make_tree(struct gcbench_thread *w, int d)
{
	struct {
		struct heap_frame head;
		struct node *left, *right;
	} f;
	struct node *node = NULL;

	if (d <= 0)
		return HEAP_NEW(w->t, w->g->node, struct node);
	HEAP_PUSH(w->t, f);
	f.left = make_tree(w, d - 1);
	if (f.left)
		f.right = make_tree(w, d - 1);
	if (f.right && make_hole(w))
		node = HEAP_NEW(w->t, w->g->node, struct node);
	if (node) {
		heap_init(&node->left, f.left);
		heap_init(&node->right, f.right);
	}
	HEAP_POP(w->t, f);
	return node;
}

/* From the root down: children are younger than their parent, every store is a barrier. */
static int tree_populate(struct gcbench_thread *w, struct node *node, int d)
{
	struct {
		struct heap_frame head;
		struct node *node;
	} f;
	struct node *child;
	int code = -ENOMEM;

	if (d <= 0)
		return 0;
	HEAP_PUSH(w->t, f);
	f.node = node;
	child = make_hole(w) ? HEAP_NEW(w->t, w->g->node, struct node) : NULL;
	if (!child)
		goto pop;
	heap_store(w->t, f.node, &f.node->left, child);
	child = make_hole(w) ? HEAP_NEW(w->t, w->g->node, struct node) : NULL;
	if (!child)
		goto pop;
	heap_store(w->t, f.node, &f.node->right, child);
	code = tree_populate(w, f.node->left, d - 1);
	if (!code)
		code = tree_populate(w, f.node->right, d - 1);
pop:
	HEAP_POP(w->t, f);
	return code;
}

static int one_depth(struct gcbench_thread *w, int d, struct totals *totals)
{
	uint64_t count = 2 * tree_nodes(w->g->stretch) / tree_nodes(d);
	struct {
		struct heap_frame head;
		struct node *root;
	} f;
	uintptr_t outer = gchint_method_enter(w->g->down);
	int code = 0;

	HEAP_PUSH(w->t, f);
	for (uint64_t i = 0; !code && i < count; i++) {
		f.root = HEAP_NEW(w->t, w->g->node, struct node);
		code = f.root ? tree_populate(w, f.root, d) : -ENOMEM;
		f.root = NULL;
	}
	gchint_method_enter(w->g->up);
	for (uint64_t i = 0; !code && i < count; i++) {
		f.root = make_tree(w, d);
		code = f.root ? 0 : -ENOMEM;
		f.root = NULL;
	}
	HEAP_POP(w->t, f);
	gchint_method_leave(outer);
	totals->objects += 2 * count * tree_nodes(d);
	totals->bytes += 2 * count * tree_nodes(d) * sizeof(struct node);
	return code;
}

/* Walks the tree in place: nothing is allocated, so nothing moves. */
static uint64_t count_nodes(const struct node *node)
{
	return node ? 1 + count_nodes(node->left) + count_nodes(node->right) : 0;
}

static int gcbench_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct gcbench *g = b->state;
	struct gcbench_thread w = { .g = g, .t = t };
	struct totals totals = { 0 };
	struct {
		struct heap_frame head;
		struct node *tree;
		struct heap_data *array;
	} f;
	uintptr_t outer = gchint_method_enter(g->build);
	int code = -ENOMEM;

	(void)index;
	HEAP_PUSH(t, f);
	f.tree = g->holes ? NULL : make_tree(&w, g->stretch);
	if (!f.tree && !g->holes)
		goto pop;
	f.tree = HEAP_NEW(t, g->node, struct node);
	if (!f.tree || tree_populate(&w, f.tree, g->longest))
		goto pop;
	f.array = heap_array(t, g->doubles, g->array);
	if (!f.array)
		goto pop;
	for (uint32_t i = 0; i < g->array / 2; i++)
		((double *)f.array->byte)[i] = 1.0 / (i + 1);
	/* Holes count as bytes only. */
	totals.objects = (g->holes ? 0 : tree_nodes(g->stretch)) + tree_nodes(g->longest) + 1;
	totals.bytes = (totals.objects - 1) * sizeof(struct node) + UINT64_C(8) * g->array;
	code = 0;
	for (int d = g->least; !code && d <= g->most; d += 2) {
		code = one_depth(&w, d, &totals);
		bench_step(b);
	}
	gchint_method_enter(g->count);
	if (!code && (count_nodes(f.tree) != tree_nodes(g->longest) ||
		      ((double *)f.array->byte)[g->array / 4] != 1.0 / (g->array / 4 + 1)))
		code = -EILSEQ;
	totals.bytes += w.hole_bytes;
	totals.checksum = tree_nodes(g->longest) + totals.objects;
pop:
	HEAP_POP(t, f);
	gchint_method_leave(outer);
	totals_merge(&totals, b);
	return code;
}

const struct workload workload_gcbench = {
	.name = "gcbench",
	.summary = "binary trees alongside a long-lived tree and array (Ellis, Kovac, Boehm)",
	.stresses = "allocation and tracing of small objects of equal size",
	.settings = settings,
	.prepare = gcbench_prepare,
	.run = gcbench_run,
};
