// SPDX-License-Identifier: MIT
/* Description: what a program asks about its objects is right on every plan. */
#include "alone.h"

#define NODES 4000

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

static const struct row {
	const char *options;
	bool moves;
} rows[] = {
	{ "plan=cms,policy=fg,trim=0", false },
	{ "plan=cmsfly,policy=fg,trim=0", false },
	{ "plan=gencms,policy=fg,trim=0", false },
	{ "plan=gss,nursery=256K,trim=0", true },
	{ "plan=immix,defrag=always,trim=0", true },
	{ "plan=immix,defrag=never,trim=0", false },
	{ "plan=marksweep,trim=0", false },
	{ "plan=semispace,trim=0", true },
	{ "plan=stickyimmix,defrag=always,trim=0", true },
	{ "plan=stickyimmix,defrag=never,trim=0", false },
};

/* The roots of a list of two types of nodes, with arrays as values of every eighth one */
struct roots {
	struct gc_frame head;
	struct node *list, *fresh;
	void *array;
};

static const struct gc_type *types[3];

static void types_register(void)
{
	struct gc_type_desc even = { .name = "even", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc odd = { .name = "odd", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc array = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };

	types[0] = gc_type_register(heap, &even, NULL);
	types[1] = gc_type_register(heap, &odd, NULL);
	types[2] = gc_type_register(heap, &array, NULL);
}

static void list_build(struct roots *f)
{
	for (long i = 0; i < NODES; i++) {
		f->fresh = gc_alloc_sized(m, types[i & 1], sizeof(struct node));
		f->fresh->value = i;
		gc_init(&f->fresh->next, f->list);
		f->list = f->fresh;
		/* Holes, so that objects move */
		gc_alloc_array(m, types[2], 5);
	}
	f->array = gc_alloc_array(m, types[2], 3000);
}

/* Does each node have the type of its value, and lie in the heap? */
static bool types_hold(const struct roots *f)
{
	for (const struct node *n = f->list; n; n = n->next)
		if (gc_type_of(heap, n) != types[n->value & 1] || !gc_heap_contains(heap, n))
			return false;
	return gc_type_of(heap, f->array) == types[2];
}

static uintptr_t addresses_sum(const struct roots *f)
{
	uintptr_t sum = 0;

	for (const struct node *n = f->list; n; n = n->next)
		sum = sum * 31 + (uintptr_t)n;
	return sum;
}

/* What a walk counted, and a dump listed */
struct count {
	long nodes[2], arrays, bytes, values;
	long roots, objects, refs, weaks, wrong;
};

static void object_count(void *obj, const struct gc_type *type, size_t bytes, void *arg)
{
	struct count *c = arg;

	c->bytes += (long)bytes;
	for (int i = 0; i < 2; i++)
		c->nodes[i] += type == types[i];
	if (type == types[0] || type == types[1])
		c->values += ((struct node *)obj)->value;
	c->arrays += type == types[2];
}

static void line_count(const char *text, void *arg)
{
	struct count *c = arg;
	void *from, *to;
	char name[16];
	size_t bytes;

	if (sscanf(text, "root %p", &to) == 1)
		c->roots++;
	else if (sscanf(text, "object %p %zu %15[a-z ]", &from, &bytes, name) == 3)
		c->objects++;
	else if (sscanf(text, "ref %p %p", &from, &to) == 2)
		c->refs += gc_heap_contains(heap, from) && gc_heap_contains(heap, to);
	else if (sscanf(text, "weak %p %p", &from, &to) == 2)
		c->weaks++;
	else
		c->wrong++;
}

/* With garbage beside them, the list, an array that refers to 10 of its nodes, and a weak reference */
static void heap_list(const struct row *row, struct roots *f)
{
	struct count c = { 0 };
	struct gc_error err;
	struct node *n = f->list;

	for (int i = 0; i < 10; i++, n = n->next)
		gc_write_element(m, f->array, (void **)f->array + 1, (size_t)i * 300, n);
	f->fresh = gc_weak_new(m, (void **)&f->list);
	ok(!gc_heap_walk(m, object_count, &c, &err) && c.nodes[0] == NODES / 2 &&
		   c.nodes[1] == NODES / 2 && c.arrays == 1 &&
		   c.values == (long)NODES * (NODES - 1) / 2 &&
		   c.bytes == NODES * 24 + 8 + 3000 * 8 + 16,
	   "%s: a walk meets each reachable object once", row->options);
	ok(!gc_heap_dump(m, line_count, &c, &err) && c.roots == 3 && c.objects == NODES + 2 &&
		   c.refs == NODES - 1 + 10 && c.weaks == 1 && !c.wrong,
	   "%s: a dump lists them with their references", row->options);
	gc_collect_full(m);
	ok(!gc_verify(m, &err) && types_hold(f), "%s: the heap is as it was", row->options);
}

static void plan_run(const struct row *row)
{
	struct gc_heap *other;
	uintptr_t before;
	struct roots f;
	bool good;

	if (!open_heap(row->options))
		return;
	types_register();
	GC_PUSH(m, f);
	list_build(&f);
	good = types_hold(&f);
	before = addresses_sum(&f);
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	ok(good && types_hold(&f), "%s: each object has its type, also after collections",
	   row->options);
	ok(gc_heap_moves(heap) == row->moves && (addresses_sum(&f) != before) == row->moves,
	   "%s: it says that objects %s, and they do", row->options,
	   row->moves ? "may move" : "stay");
	ok(!gc_heap_contains(heap, NULL) && !gc_heap_contains(heap, &f) &&
		   !gc_heap_contains(heap, heap) && gc_heap_contains(heap, f.array),
	   "%s: it contains no other addresses", row->options);
	if (!gc_heap_create(&other, "plan=marksweep,max=4M", NULL, NULL)) {
		ok(!gc_heap_contains(other, f.list), "%s: nor does another heap its objects",
		   row->options);
		gc_heap_destroy(other);
	}
	heap_list(row, &f);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		plan_run(&rows[i]);
	return done();
}
