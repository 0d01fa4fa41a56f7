// SPDX-License-Identifier: MIT
/*
 * Description: a minor collection visits no old weak references and no old objects that are to be
 * finalized, however many there are, and still finds those that are young.
 */
#include "alone.h"

#include <heap/heap.h>

#define OLD   20000
#define YOUNG 10

struct node {
	struct gc_header header;
	void *field[1];
	long number;
};

static const struct gc_type *node_type, *array_type;
static struct {
	struct gc_frame head;
	void *nodes, *weaks, *fresh, *weak;
} f;

static void **slots(void *array)
{
	return (void **)((struct gc_header *)array + 1);
}

/* Adds a node with a weak reference, maybe @weak, and maybe a finalizer to the arrays. */
static void add(int i, bool weak, bool finalizer)
{
	f.fresh = GC_NEW(m, node_type, struct node);
	((struct node *)f.fresh)->number = i;
	gc_write(m, f.nodes, &slots(f.nodes)[i], f.fresh);
	if (finalizer)
		gc_finalizer_add(m, f.fresh);
	if (!weak)
		return;
	f.weak = gc_weak_new(m, &f.fresh);
	gc_write(m, f.weaks, &slots(f.weaks)[i], f.weak);
}

/* Whole collections until all is old: gss promotes at the second one. */
static void age(void)
{
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
}

/* Allocates garbage until another minor collection has run; false: a major one did instead. */
static bool minor(void)
{
	struct gc_heap_stats before = stats(), now;

	do {
		GC_NEW(m, node_type, struct node);
		now = stats();
	} while (now.cycles == before.cycles);
	/* A concurrent one may have begun before this call: wait for one more. */
	do {
		GC_NEW(m, node_type, struct node);
		now = stats();
	} while (now.cycles < before.cycles + 2);
	return now.minors >= before.minors + 2;
}

static bool begin(const char *options)
{
	struct gc_type_desc node = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc array = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };

	if (!open_heap(options))
		return false;
	node_type = gc_type_register(heap, &node, NULL);
	array_type = gc_type_register(heap, &array, NULL);
	GC_PUSH(m, f);
	f.nodes = gc_alloc_array(m, array_type, OLD + YOUNG);
	f.weaks = gc_alloc_array(m, array_type, OLD + YOUNG);
	return true;
}

static void end(void)
{
	GC_POP(m, f);
	stop();
}

static bool refers(int i, bool alive)
{
	void *ref = gc_weak_get(m, slots(f.weaks)[i]);

	return alive ? ref && ref == slots(f.nodes)[i] && ((struct node *)ref)->number == i : !ref;
}

static void weak_references(const char *options)
{
	uint64_t scanned;
	bool good = true;

	if (!begin(options))
		return;
	for (int i = 0; i < OLD; i++)
		add(i, true, false);
	age();
	/* The first one may clean cards that became dirty as objects were promoted. */
	good &= minor();
	scanned = stats().cards_scanned;
	good &= minor();
	scanned = stats().cards_scanned - scanned;
	if (!ok(good && scanned < OLD / 100, "%s: minor collections pass over old weak references",
		options))
		printf("# %llu cards scanned for %d references\n", (unsigned long long)scanned,
		       OLD);
	for (int i = OLD; i < OLD + YOUNG; i++)
		add(i, true, false);
	/* An old weak object gets a young referent, which dies. */
	f.fresh = GC_NEW(m, node_type, struct node);
	gc_write(m, slots(f.weaks)[0], &((struct node *)slots(f.weaks)[0])->field[0], f.fresh);
	slots(f.nodes)[OLD] = f.fresh = f.weak = NULL;
	for (int i = 0; i < 3 && good; i++)
		good = minor();
	ok(good && refers(0, false) && refers(1, true) && refers(OLD - 1, true) &&
		   refers(OLD, false) && refers(OLD + 1, true),
	   "%s: and clear those to young objects that died", options);
	gc_write(m, f.nodes, &slots(f.nodes)[1], NULL);
	gc_collect_full(m);
	ok(refers(1, false) && refers(2, true), "%s: a major collection clears the old ones",
	   options);
	end();
}

static void finalizable(const char *options)
{
	struct node *n;
	bool good = true, seen[3] = { false };

	if (!begin(options))
		return;
	for (int i = 0; i < OLD; i++)
		add(i, false, true);
	age();
	ok(heap->weak.finalizable[0].objects.count == OLD && heap->weak.finalizable[0].old == OLD,
	   "%s: %d objects that are to be finalized are old", options, OLD);
	for (int i = OLD; i < OLD + YOUNG; i++)
		add(i, false, true);
	ok(heap->weak.finalizable[0].old == OLD, "%s: minor collections visit the %d others",
	   options, YOUNG);
	slots(f.nodes)[OLD + 1] = f.fresh = NULL;
	for (int i = 0; i < 3 && good; i++)
		good = minor();
	n = gc_finalizer_next(m);
	ok(good && n && n->number == OLD + 1 && !gc_finalizer_next(m),
	   "%s: a young one that died is returned", options);
	for (int i = 0; i < 3; i++)
		gc_write(m, f.nodes, &slots(f.nodes)[i * 3000], NULL);
	gc_collect_full(m);
	while ((n = gc_finalizer_next(m)))
		if (n->number % 3000 || n->number > 6000 || seen[n->number / 3000])
			good = false;
		else
			seen[n->number / 3000] = true;
	ok(good && seen[0] && seen[1] && seen[2] &&
		   heap->weak.finalizable[0].objects.count == OLD + YOUNG - 4,
	   "%s: a major collection returns the old ones that died", options);
	end();
}

int main(void)
{
	static const char *const rows[] = {
		"plan=gss,nursery=512K,heap=16M,verify=all,trim=0",
		"plan=stickyimmix,heap=16M,verify=all,trim=0",
		"plan=gencms,policy=fg,heap=16M,verify=all,trim=0",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		weak_references(rows[i]);
		finalizable(rows[i]);
	}
	return done();
}
