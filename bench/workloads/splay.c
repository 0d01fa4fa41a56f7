// SPDX-License-Identifier: MIT
/*
 * A splay tree (Sleator and Tarjan, 1985) that is changed at every step: a new key is
 * inserted with a small tree of data, and the greatest key below it is removed. Every access rewrites
 * references of old objects along its path.
 */
#include "lib/random.h"
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>

#define LEAF_LENGTH 10

struct payload {
	HEAP_HEADER
	struct payload *left, *right;
	struct heap_data *numbers, *text;
};

struct entry {
	HEAP_HEADER
	struct entry *left, *right;
	struct payload *data;
	uint64_t key;
};

struct splay {
	const struct heap_type *entry, *payload, *numbers, *text;
	uint64_t nodes, changes, depth, seed;
	uintptr_t insert, make, splay, remove, check; /* methods */
};

struct tree {
	struct heap_frame head;
	struct entry *root, *fresh;
	/* tree_splay(): the trees of lesser and greater keys and where they grow */
	struct entry *less, *greater, *less_end, *greater_end;
};

struct worker {
	const struct splay *s;
	struct heap_thread *t;
	struct tree f;
	struct random draw;
	struct totals totals;
};

static const struct setting settings[] = {
	{ "changes", "400000", "keys replaced per thread" },
	{ "depth", "5", "depth of the data tree of a key" },
	{ "nodes", "8000", "keys in the tree" },
	{ "seed", "1", "first seed; thread i draws from seed+i" },
	{ "threads", "1", "threads, each with its own tree; 0: as many as CPUs" },
	{ NULL, NULL, NULL },
};

static int splay_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind entry = {
		.name = "entry",
		.size = sizeof(struct entry),
		.refs = HEAP_REF(struct entry, left) | HEAP_REF(struct entry, right) |
			HEAP_REF(struct entry, data),
	};
	const struct heap_kind payload = {
		.name = "payload",
		.size = sizeof(struct payload),
		.refs = HEAP_REF(struct payload, left) | HEAP_REF(struct payload, right) |
			HEAP_REF(struct payload, numbers) | HEAP_REF(struct payload, text),
	};
	const struct heap_kind numbers = HEAP_KIND_DATA("int[]", 4);
	const struct heap_kind text = HEAP_KIND_DATA("char[]", 1);
	struct splay *s = calloc(1, sizeof(*s));
	int code;

	b->state = s;
	if (!s)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "changes", 0, UINT32_MAX, &s->changes, err)) ||
	    (code = settings_size(&b->settings, "depth", 0, 12, &s->depth, err)) ||
	    (code = settings_size(&b->settings, "nodes", 2, 1 << 24, &s->nodes, err)) ||
	    (code = settings_size(&b->settings, "seed", 0, UINT32_MAX, &s->seed, err)))
		return code;
	s->entry = workload_type(b, &entry, err);
	s->payload = workload_type(b, &payload, err);
	s->numbers = workload_type(b, &numbers, err);
	s->text = workload_type(b, &text, err);
	s->insert = workload_method("tree_insert (splay.c)");
	s->make = workload_method("make_payload (splay.c)");
	s->splay = workload_method("tree_splay (splay.c)");
	s->remove = workload_method("remove_below (splay.c)");
	s->check = workload_method("tree_check (splay.c)");
	b->steps_total = s->changes * (uint64_t)b->threads;
	return s->entry && s->payload && s->numbers && s->text ? 0 : -ENOMEM;
}

static struct payload *make_payload(struct worker *w, uint64_t depth, uint64_t key)
{
	const struct splay *s = w->s;
	struct {
		struct heap_frame head;
		struct payload *left, *right;
		struct heap_data *numbers, *text;
	} f;
	struct payload *p = NULL;

	HEAP_PUSH(w->t, f);
	if (depth) {
		f.left = make_payload(w, depth - 1, key);
		if (f.left)
			f.right = make_payload(w, depth - 1, key);
		if (!f.right)
			goto pop;
	} else {
		f.numbers = heap_array(w->t, s->numbers, LEAF_LENGTH);
		if (!f.numbers)
			goto pop;
		for (uint32_t i = 0; i < LEAF_LENGTH; i++)
			((uint32_t *)f.numbers->byte)[i] = i;
		f.text = heap_array(w->t, s->text, 40);
		if (!f.text)
			goto pop;
		for (int i = 0; i < 8; i++)
			f.text->byte[i] = (unsigned char)(key >> (8 * i));
		totals_add(&w->totals, sizeof(struct heap_data) + LEAF_LENGTH * sizeof(uint32_t));
		totals_add(&w->totals, sizeof(struct heap_data) + 40);
	}
	p = HEAP_NEW(w->t, s->payload, struct payload);
	if (!p)
		goto pop;
	heap_init(&p->left, f.left);
	heap_init(&p->right, f.right);
	heap_init(&p->numbers, f.numbers);
	heap_init(&p->text, f.text);
	totals_add(&w->totals, sizeof(struct payload));
pop:
	HEAP_POP(w->t, f);
	return p;
}

/* Hang @link under the end of the lesser or the greater side. */
static void link_less(struct worker *w, struct entry *link)
{
	struct tree *f = &w->f;

	if (f->less_end)
		heap_store(w->t, f->less_end, &f->less_end->right, link);
	else
		f->less = link;
	f->less_end = link;
}

static void link_greater(struct worker *w, struct entry *link)
{
	struct tree *f = &w->f;

	if (f->greater_end)
		heap_store(w->t, f->greater_end, &f->greater_end->left, link);
	else
		f->greater = link;
	f->greater_end = link;
}

/* Top-down splaying: brings @key, or its neighbour, to the root. Allocates nothing. */
static void tree_splay(struct worker *w, uint64_t key)
{
	struct tree *f = &w->f;
	struct entry *at = f->root, *side;
	uintptr_t outer = gchint_method_enter(w->s->splay);

	f->less = f->greater = f->less_end = f->greater_end = NULL;
	while (at->key != key) {
		if (key < at->key) {
			side = at->left;
			if (!side)
				break;
			if (key < side->key) {
				heap_store(w->t, at, &at->left, side->right);
				heap_store(w->t, side, &side->right, at);
				at = side;
				if (!at->left)
					break;
			}
			link_greater(w, at);
			at = at->left;
		} else {
			side = at->right;
			if (!side)
				break;
			if (key > side->key) {
				heap_store(w->t, at, &at->right, side->left);
				heap_store(w->t, side, &side->left, at);
				at = side;
				if (!at->right)
					break;
			}
			link_less(w, at);
			at = at->right;
		}
	}
	if (f->less_end) {
		heap_store(w->t, f->less_end, &f->less_end->right, at->left);
		heap_store(w->t, at, &at->left, f->less);
	}
	if (f->greater_end) {
		heap_store(w->t, f->greater_end, &f->greater_end->left, at->right);
		heap_store(w->t, at, &at->right, f->greater);
	}
	f->root = at;
	f->less = f->greater = f->less_end = f->greater_end = NULL;
	gchint_method_leave(outer);
}

static int tree_insert(struct worker *w, uint64_t key)
{
	struct tree *f = &w->f;
	struct entry *e = HEAP_NEW(w->t, w->s->entry, struct entry);
	struct payload *data;
	uintptr_t outer;

	if (!e)
		return -ENOMEM;
	e->key = key;
	f->fresh = e;
	outer = gchint_method_enter(w->s->make);
	data = make_payload(w, w->s->depth, key);
	gchint_method_leave(outer);
	if (!data)
		return -ENOMEM;
	heap_store(w->t, f->fresh, &f->fresh->data, data);
	totals_add(&w->totals, sizeof(struct entry));
	e = f->fresh;
	f->fresh = NULL;
	if (f->root) {
		struct entry *root;

		tree_splay(w, key);
		root = f->root;
		if (key < root->key) {
			heap_store(w->t, e, &e->left, root->left);
			heap_store(w->t, e, &e->right, root);
			heap_store(w->t, root, &root->left, NULL);
		} else {
			heap_store(w->t, e, &e->right, root->right);
			heap_store(w->t, e, &e->left, root);
			heap_store(w->t, root, &root->right, NULL);
		}
	}
	f->root = e;
	return 0;
}

/* Take out the greatest key below @key, else @key itself. */
static void remove_below(struct worker *w, uint64_t key)
{
	struct tree *f = &w->f;
	struct entry *at, *right;

	tree_splay(w, key);
	at = f->root->left;
	if (at) {
		while (at->right)
			at = at->right;
		key = at->key;
		tree_splay(w, key);
	}
	right = f->root->right;
	f->root = f->root->left;
	if (!f->root) {
		f->root = right;
		return;
	}
	tree_splay(w, key); /* the left tree's greatest comes up: its right side is free */
	heap_store(w->t, f->root, &f->root->right, right);
}

/* In-order walk by hand: a splay tree may be as deep as it has nodes. */
static int tree_check(const struct splay *s, struct entry *root)
{
	struct entry **stack = malloc((s->nodes + 1) * sizeof(struct entry *));
	uint64_t count = 0, before = 0, top = 0;
	struct entry *at = root;
	int code = 0;

	if (!stack)
		return -ENOMEM;
	while ((at || top) && !code) {
		while (at && top <= s->nodes) {
			stack[top++] = at;
			at = at->left;
		}
		at = stack[--top];
		if (count++ && at->key <= before)
			code = -EILSEQ;
		before = at->key;
		if (!at->data || (s->depth == 0 && *(uint64_t *)at->data->text->byte != at->key))
			code = -EILSEQ;
		at = at->right;
	}
	free(stack);
	return code ? code : count == s->nodes ? 0 : -EILSEQ;
}

static uint64_t draw_key(struct random *r)
{
	return (uint64_t)(uint32_t)random_bits(r, 32) << 32 | (uint32_t)random_bits(r, 32);
}

static int splay_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct splay *s = b->state;
	struct worker w = { .s = s, .t = t };
	uintptr_t outer = gchint_method_enter(s->insert);
	int code = 0;

	random_seed(&w.draw, (int64_t)s->seed + index);
	HEAP_PUSH(t, w.f);
	for (uint64_t i = 0; !code && i < s->nodes; i++)
		code = tree_insert(&w, draw_key(&w.draw));
	for (uint64_t i = 0; !code && i < s->changes; i++) {
		uint64_t key = draw_key(&w.draw);

		code = tree_insert(&w, key);
		gchint_method_enter(s->remove);
		if (!code)
			remove_below(&w, key);
		gchint_method_enter(s->insert);
		bench_step(b);
	}
	gchint_method_enter(s->check);
	if (!code)
		code = tree_check(s, w.f.root);
	w.totals.checksum = code ? 0 : w.f.root->key;
	HEAP_POP(t, w.f);
	gchint_method_leave(outer);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_splay = {
	.name = "splay",
	.summary = "a splay tree that replaces a key at each step",
	.stresses = "the write barrier: most stores rewrite references of old objects",
	.settings = settings,
	.prepare = splay_prepare,
	.run = splay_run,
};
