// SPDX-License-Identifier: MIT
/*
 * GCBench, after the description of the benchmark by Ellis, Kovac and Boehm: binary
 * trees of growing depth, built from the root down and from the leaves up, alongside one
 * long-lived tree and one long-lived array of doubles.
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
	const struct heap_type *node, *doubles;
	int stretch, longest, least, most;
	uint32_t array;
	uintptr_t build, down, up, count; /* methods */
};

static const struct setting settings[] = {
	{ "array", "500000", "long-lived array, doubles" },
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
	struct gcbench *g = calloc(1, sizeof(*g));
	uint64_t array;
	int code;

	b->state = g;
	if (!g)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = read_depth(b, "stretch", &g->stretch, err)) ||
	    (code = read_depth(b, "long", &g->longest, err)) ||
	    (code = read_depth(b, "min", &g->least, err)) ||
	    (code = read_depth(b, "max", &g->most, err)) ||
	    (code = settings_size(&b->settings, "array", 2, UINT32_MAX / 16, &array, err)))
		return code;
	g->array = (uint32_t)array;
	g->node = workload_type(b, &node, err);
	g->doubles = workload_type(b, &doubles, err);
	if (!g->node || !g->doubles)
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

/* From the leaves up: children are older than their parent. */
static struct node *make_tree(const struct gcbench *g, struct heap_thread *t, int d)
{
	struct {
		struct heap_frame head;
		struct node *left, *right;
	} f;
	struct node *node = NULL;

	if (d <= 0)
		return HEAP_NEW(t, g->node, struct node);
	HEAP_PUSH(t, f);
	f.left = make_tree(g, t, d - 1);
	if (f.left)
		f.right = make_tree(g, t, d - 1);
	if (f.right)
		node = HEAP_NEW(t, g->node, struct node);
	if (node) {
		heap_init(&node->left, f.left);
		heap_init(&node->right, f.right);
	}
	HEAP_POP(t, f);
	return node;
}

/* From the root down: children are younger than their parent, every store is a barrier. */
static int tree_populate(const struct gcbench *g, struct heap_thread *t, struct node *node, int d)
{
	struct {
		struct heap_frame head;
		struct node *node;
	} f;
	struct node *child;
	int code = -ENOMEM;

	if (d <= 0)
		return 0;
	HEAP_PUSH(t, f);
	f.node = node;
	child = HEAP_NEW(t, g->node, struct node);
	if (!child)
		goto pop;
	heap_store(t, f.node, &f.node->left, child);
	child = HEAP_NEW(t, g->node, struct node);
	if (!child)
		goto pop;
	heap_store(t, f.node, &f.node->right, child);
	code = tree_populate(g, t, f.node->left, d - 1);
	if (!code)
		code = tree_populate(g, t, f.node->right, d - 1);
pop:
	HEAP_POP(t, f);
	return code;
}

static int one_depth(const struct gcbench *g, struct heap_thread *t, int d, struct totals *totals)
{
	uint64_t count = 2 * tree_nodes(g->stretch) / tree_nodes(d);
	struct {
		struct heap_frame head;
		struct node *root;
	} f;
	uintptr_t outer = gchint_method_enter(g->down);
	int code = 0;

	HEAP_PUSH(t, f);
	for (uint64_t i = 0; !code && i < count; i++) {
		f.root = HEAP_NEW(t, g->node, struct node);
		code = f.root ? tree_populate(g, t, f.root, d) : -ENOMEM;
		f.root = NULL;
	}
	gchint_method_enter(g->up);
	for (uint64_t i = 0; !code && i < count; i++) {
		f.root = make_tree(g, t, d);
		code = f.root ? 0 : -ENOMEM;
		f.root = NULL;
	}
	HEAP_POP(t, f);
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
	f.tree = make_tree(g, t, g->stretch);
	if (!f.tree)
		goto pop;
	f.tree = HEAP_NEW(t, g->node, struct node);
	if (!f.tree || tree_populate(g, t, f.tree, g->longest))
		goto pop;
	f.array = heap_array(t, g->doubles, g->array);
	if (!f.array)
		goto pop;
	for (uint32_t i = 0; i < g->array / 2; i++)
		((double *)f.array->byte)[i] = 1.0 / (i + 1);
	totals.objects = tree_nodes(g->stretch) + tree_nodes(g->longest) + 1;
	totals.bytes = (totals.objects - 1) * sizeof(struct node) + UINT64_C(8) * g->array;
	code = 0;
	for (int d = g->least; !code && d <= g->most; d += 2) {
		code = one_depth(g, t, d, &totals);
		bench_step(b);
	}
	gchint_method_enter(g->count);
	if (!code && (count_nodes(f.tree) != tree_nodes(g->longest) ||
		      ((double *)f.array->byte)[g->array / 4] != 1.0 / (g->array / 4 + 1)))
		code = -EILSEQ;
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
