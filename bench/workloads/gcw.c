// SPDX-License-Identifier: MIT
/*
 * GCW, after its authors' description: each thread builds its long-lived set, then in
 * every period fills one binary tree for each column of the lifetime table and drops
 * the trees whose time has come, at once.
 *
 * Trees grow breadth first. Nodes that wait for children form a queue through their
 * left references, so that no second structure keeps dead trees alive.
 */
#include "workloads/gcw-plan.h"
#include "workloads/workload.h"

#include "lib/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODE_ANDROID 16 /* bytes of an Android node without payload: header, two references */

struct node {
	HEAP_HEADER
	struct node *left, *right;
	uint64_t payload[];
};

struct gcw {
	struct gcw_plan plan;
	const struct heap_type *node[GCW_SIZES], *array[GCW_ELEMENTS], *refs;
	uint32_t node_bytes[GCW_SIZES];
	uint32_t element_bytes[GCW_ELEMENTS];
	bool check, unlink;
	uintptr_t lasting, trees, larges, drop; /* methods */
};

/* A tree that grows: @parent takes children, @head to @tail wait for theirs. */
struct builder {
	struct node *root, *parent, *head, *tail;
};

/* References of one thread. Trees of period p are in row p % stages. */
struct roots {
	struct heap_frame head;
	struct builder build[GCW_STAGES_MAX];
	struct node *tree[GCW_STAGES_MAX][GCW_STAGES_MAX];
	struct node *lasting[GCW_STAGES_MAX];
	struct heap_refs *large; /* arrays of row r, column s, from (r * stages + s) * most */
	struct heap_refs *lasting_large;
};

struct worker {
	const struct gcw *g;
	struct heap_thread *t;
	struct roots f;
	struct totals totals;
	struct random draw; /* large arrays */
	uint8_t *size, *stage;
	uint32_t next;
	uint32_t larges[GCW_STAGES_MAX][GCW_STAGES_MAX];
	uint64_t nodes[GCW_STAGES_MAX][GCW_STAGES_MAX];
};

static int gcw_prepare(struct bench *b, struct settings_error *err)
{
	static const uint32_t element[GCW_ELEMENTS] = { 1, 2, 4, 8 };
	static const char *const name[GCW_ELEMENTS] = { "byte[]", "char[]", "int[]", "long[]" };
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	struct gcw *g = calloc(1, sizeof(*g));
	uint64_t single, check, unlink;
	int code;

	b->state = g;
	if (!g)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "single", 0, 1, &single, err)) ||
	    (code = settings_size(&b->settings, "check", 0, 1, &check, err)) ||
	    (code = settings_size(&b->settings, "unlink", 0, 1, &unlink, err)))
		return code;
	if (single)
		b->threads = 1;
	g->check = check;
	g->unlink = unlink;
	code = gcw_plan(&g->plan, &b->settings, b->threads, err);
	if (code)
		return code;
	for (int i = 0; i < GCW_SIZES; i++) {
		struct heap_kind node = {
			.name = "node",
			.refs = HEAP_REF(struct node, left) | HEAP_REF(struct node, right),
		};

		node.size = (uint32_t)sizeof(struct node) + g->plan.size[i] - NODE_ANDROID;
		g->node_bytes[i] = node.size;
		g->node[i] = workload_type(b, &node, err);
		if (!g->node[i])
			return -ENOMEM;
	}
	for (int i = 0; i < GCW_ELEMENTS; i++) {
		struct heap_kind array = HEAP_KIND_DATA(name[i], element[i]);

		g->element_bytes[i] = element[i];
		g->array[i] = workload_type(b, &array, err);
		if (!g->array[i])
			return -ENOMEM;
	}
	g->refs = workload_type(b, &refs, err);
	if (!g->refs)
		return -ENOMEM;
	g->lasting = workload_method("build_lasting (gcw.c)");
	g->trees = workload_method("build_trees (gcw.c)");
	g->larges = workload_method("build_larges (gcw.c)");
	g->drop = workload_method("row_drop (gcw.c)");
	b->steps_total = g->plan.iterations * g->plan.periods * (uint64_t)b->threads;
	return 0;
}

static struct node *new_node(struct worker *w, unsigned int class)
{
	const struct gcw *g = w->g;
	struct node *node = heap_alloc(w->t, g->node[class], g->node_bytes[class]);

	if (!node)
		return NULL;
	if (g->plan.size[class] > NODE_ANDROID)
		node->payload[0] = class;
	totals_add(&w->totals, g->plan.size[class]);
	return node;
}

static void builder_add(struct worker *w, struct builder *b, struct node *node)
{
	if (!b->root) {
		b->root = b->head = b->tail = node;
		return;
	}
	if (b->parent && !b->parent->right) {
		heap_store(w->t, b->parent, &b->parent->right, node);
	} else {
		b->parent = b->head;
		b->head = b->parent->left;
		heap_store(w->t, b->parent, &b->parent->left, node);
	}
	if (b->head)
		heap_store(w->t, b->tail, &b->tail->left, node);
	else
		b->head = node;
	b->tail = node;
}

/* The tree is built: clear the references that linked its leaves as a queue. */
static struct node *builder_end(struct worker *w, struct builder *b)
{
	struct node *root = b->root;

	while (b->head) {
		struct node *next = b->head->left;

		heap_store(w->t, b->head, &b->head->left, NULL);
		b->head = next;
	}
	memset(b, 0, sizeof(*b));
	return root;
}

static int node_walk(const struct node *node, uint64_t *count, unsigned int depth)
{
	if (!node)
		return 0;
	if (depth > 64)
		return -EILSEQ;
	++*count;
	return node_walk(node->left, count, depth + 1) || node_walk(node->right, count, depth + 1) ?
		       -EILSEQ :
		       0;
}

/* Trees are shallow, so the stack is. Nothing is allocated: nothing moves. */
static void take_apart(struct worker *w, struct node *node)
{
	if (!node)
		return;
	take_apart(w, node->left);
	take_apart(w, node->right);
	heap_store(w->t, node, &node->left, NULL);
	heap_store(w->t, node, &node->right, NULL);
}

static struct heap_data *new_large(struct worker *w)
{
	const struct gcw *g = w->g;
	unsigned int e =
		gcw_pick(g->plan.element_limit, GCW_ELEMENTS, random_below(&w->draw, GCW_SCALE));
	struct heap_data *array =
		heap_array(w->t, g->array[e], g->plan.large_size / g->element_bytes[e]);

	if (array) {
		array->byte[0] = (unsigned char)e;
		totals_add(&w->totals, g->plan.large_size);
	}
	return array;
}

static int build_lasting(struct worker *w)
{
	const struct gcw_plan *plan = &w->g->plan;
	uint64_t k = 0;

	for (unsigned int c = 0; c < GCW_SIZES; c++) {
		for (uint64_t i = 0; i < plan->lasting[c]; i++, k++) {
			struct node *node = new_node(w, c);

			if (!node)
				return -ENOMEM;
			builder_add(w, &w->f.build[k % plan->stages], node);
		}
	}
	for (unsigned int s = 0; s < plan->stages; s++)
		w->f.lasting[s] = builder_end(w, &w->f.build[s]);
	w->f.lasting_large = heap_array(w->t, w->g->refs, (uint32_t)plan->lasting[GCW_LARGE]);
	if (!w->f.lasting_large)
		return -ENOMEM;
	for (uint64_t i = 0; i < plan->lasting[GCW_LARGE]; i++) {
		struct heap_data *array = new_large(w);

		if (!array)
			return -ENOMEM;
		heap_store(w->t, w->f.lasting_large, &w->f.lasting_large->ref[i], array);
	}
	return 0;
}

static uint64_t large_slot(const struct gcw_plan *plan, uint64_t row, unsigned int stage)
{
	return (row * plan->stages + stage) * plan->larges_per_period;
}

static int build_larges(struct worker *w, uint64_t row, uint64_t count)
{
	const struct gcw_plan *plan = &w->g->plan;

	for (uint64_t i = 0; i < count; i++) {
		struct heap_data *array = new_large(w);
		unsigned int stage;
		void **slot;

		if (!array)
			return -ENOMEM;
		stage = gcw_pick(plan->life_limit[GCW_LARGE], plan->stages,
				 random_below(&w->draw, GCW_SCALE));
		slot = &w->f.large->ref[large_slot(plan, row, stage) + w->larges[row][stage]++];
		heap_store(w->t, w->f.large, slot, array);
	}
	return 0;
}

static int row_drop(struct worker *w, uint64_t row, unsigned int stage)
{
	const struct gcw_plan *plan = &w->g->plan;
	uint64_t count = 0;

	if (w->g->check) {
		for (uint32_t i = 0; i < w->larges[row][stage]; i++) {
			struct heap_data *array = w->f.large->ref[large_slot(plan, row, stage) + i];

			if (!array || array->byte[0] >= GCW_ELEMENTS)
				return -EILSEQ;
		}
		if (node_walk(w->f.tree[row][stage], &count, 0) || count != w->nodes[row][stage])
			return -EILSEQ;
	}
	w->totals.checksum += w->nodes[row][stage] * (stage + 1);
	if (w->g->unlink)
		take_apart(w, w->f.tree[row][stage]);
	w->f.tree[row][stage] = NULL;
	w->nodes[row][stage] = 0;
	for (uint32_t i = 0; i < w->larges[row][stage]; i++)
		heap_store(w->t, w->f.large, &w->f.large->ref[large_slot(plan, row, stage) + i],
			   NULL);
	w->larges[row][stage] = 0;
	return 0;
}

static int build_trees(struct worker *w, uint64_t row)
{
	const struct gcw_plan *plan = &w->g->plan;

	for (uint64_t bytes = 0; bytes < plan->bucket;) {
		unsigned int class = w->size[w->next], stage = w->stage[w->next];
		struct node *node = new_node(w, class);

		if (!node)
			return -ENOMEM;
		builder_add(w, &w->f.build[stage], node);
		w->nodes[row][stage]++;
		bytes += plan->size[class];
		if (++w->next == plan->entries)
			w->next = 0;
	}
	for (unsigned int s = 0; s < plan->stages; s++)
		w->f.tree[row][s] = builder_end(w, &w->f.build[s]);
	return 0;
}

static int one_period(struct worker *w, uint64_t period, uint64_t larges)
{
	const struct gcw_plan *plan = &w->g->plan;
	uint64_t row = period % plan->stages;
	uintptr_t outer = gchint_method_enter(w->g->trees);
	int code = build_trees(w, row);

	if (!code) {
		gchint_method_enter(w->g->larges);
		code = build_larges(w, row, larges);
	}
	gchint_method_enter(w->g->drop);
	for (unsigned int s = 0; !code && s < plan->stages; s++) {
		unsigned int age = gcw_age(plan, s);

		if (period >= age)
			code = row_drop(w, (period - age) % plan->stages, s);
	}
	gchint_method_leave(outer);
	return code;
}

static int worker_stress(struct bench *b, struct worker *w)
{
	const struct gcw_plan *plan = &w->g->plan;
	uint64_t period = 0, count = 0;
	int code = 0;

	for (uint64_t i = 0; !code && i < plan->iterations; i++) {
		for (uint64_t p = 0; !code && p < plan->periods; p++) {
			/* Spread the iteration's large arrays evenly over its periods. */
			uint64_t larges = (p + 1) * plan->larges / plan->periods -
					  p * plan->larges / plan->periods;

			code = one_period(w, period++, larges);
			bench_step(b);
		}
	}
	for (unsigned int s = 0; !code && s < plan->stages; s++)
		code = node_walk(w->f.lasting[s], &count, 0);
	for (int c = 0; c < GCW_SIZES; c++)
		count -= plan->lasting[c];
	return code ? code : count ? -EILSEQ : 0;
}

static int gcw_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct gcw *g = b->state;
	const struct gcw_plan *plan = &g->plan;
	/* On the stack, where a conservative collector finds the references too. */
	struct worker w = { .g = g, .t = t };
	uint32_t slots = (uint32_t)(plan->stages * plan->stages * plan->larges_per_period);
	uintptr_t outer;
	int code = -ENOMEM;

	w.size = malloc(plan->entries);
	w.stage = malloc(plan->entries);
	if (!w.size || !w.stage)
		goto free_draws;
	gcw_draw(plan, index, w.size, w.stage);
	random_seed(&w.draw, (int64_t)plan->seed + index + 2 * b->threads);
	HEAP_PUSH(t, w.f);
	w.f.large = heap_array(t, g->refs, slots ? slots : 1);
	outer = gchint_method_enter(g->lasting);
	if (w.f.large)
		code = build_lasting(&w);
	gchint_method_leave(outer);
	if (!code)
		code = worker_stress(b, &w);
	HEAP_POP(t, w.f);
	totals_merge(&w.totals, b);
free_draws:
	free(w.size);
	free(w.stage);
	return code;
}

const struct workload workload_gcw = {
	.name = "gcw",
	.summary =
		"Garbage Collection Workload for Android: sizes and lifetimes of real applications",
	.stresses = "peak allocation of an Android application, from several threads",
	.settings = gcw_settings,
	.prepare = gcw_prepare,
	.run = gcw_run,
};
