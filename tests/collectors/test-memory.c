// SPDX-License-Identifier: MIT
/*
 * Description: the system refuses memory in the middle of a collection: the mark stack cannot
 * grow, a weak reference cannot be noted. Nothing aborts and nothing is lost.
 */
#include "tap.h"

#include <gchint/gc.h>
#include <malloc.h>
#include <sys/resource.h>

#define NODES 300000

static struct gc_heap *heap;
static struct gc_mutator *m;

struct node {
	struct gc_header header;
	struct node *left, *right;
	long value;
};

struct array {
	struct gc_header header;
	void *item[];
};

static struct {
	struct gc_frame head;
	struct array *array;
	struct node *fresh;
} f;

static size_t mapped(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool whole(bool weak)
{
	for (long i = 0; i < NODES; i++) {
		struct node *n = f.array->item[i];

		if (weak)
			n = gc_weak_get(m, n);
		if (!n || n->value != i || (!weak && (n->left->value != -i || n->right != n)))
			return false;
	}
	return true;
}

/* An array whose references all go on the stack at once, with the address space used up */
static int starve(void *arg)
{
	struct gc_type_desc n = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	const struct gc_type *node_type, *array_type;
	struct rlimit limit, before;
	struct gc_heap_stats s;
	struct gc_error err;

	if (gc_heap_create(&heap, arg, NULL, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	node_type = gc_type_register(heap, &n, NULL);
	array_type = gc_type_register(heap, &a, NULL);
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, array_type, NODES);
	for (long i = 0; i < NODES; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->value = i;
		gc_write(m, f.array, &f.array->item[i], f.fresh);
		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->value = -i;
		gc_write(m, f.array->item[i], &((struct node *)f.array->item[i])->left, f.fresh);
		gc_write(m, f.array->item[i], &((struct node *)f.array->item[i])->right,
			 f.array->item[i]);
	}
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = mapped() + 65536;
	setrlimit(RLIMIT_AS, &limit);
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	gc_collect(m);
	gc_heap_stats(heap, &s);
	setrlimit(RLIMIT_AS, &before);
	if (!s.overflows) {
		fprintf(stderr, "the stack grew all the same");
		return 1;
	}
	if (!whole(false) || s.live_objects != 2 * NODES + 1) {
		fprintf(stderr, "%llu objects", (unsigned long long)s.live_objects);
		return 1;
	}
	if (gc_verify(m, &err)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}

/* More weak references than there is memory to note: they hold what they refer to. */
static int starve_weak(void *arg)
{
	struct gc_type_desc n = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	const struct gc_type *node_type, *array_type;
	struct rlimit limit, before;
	struct gc_error err;
	bool kept;

	if (gc_heap_create(&heap, arg, NULL, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	node_type = gc_type_register(heap, &n, NULL);
	array_type = gc_type_register(heap, &a, NULL);
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, array_type, NODES);
	for (long i = 0; i < NODES; i++) {
		void *weak;

		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->value = i;
		weak = gc_weak_new(m, (void **)&f.fresh);
		gc_write(m, f.array, &f.array->item[i], weak);
	}
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	malloc_trim(0);
	limit.rlim_cur = mapped();
	setrlimit(RLIMIT_AS, &limit);
	gc_collect_full(m);
	setrlimit(RLIMIT_AS, &before);
	kept = gc_weak_get(m, f.array->item[NODES - 1]);
	if (gc_verify(m, &err)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	if (!kept)
		fprintf(stderr, "the last one was noted all the same");
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap) || !kept;
}

int main(void)
{
	static const char *const plans[] = {
		"plan=semispace,workers=1",
		"plan=semispace,workers=3",
		"plan=gss,workers=1",
		"plan=gss,nursery=24M,threshold=1G,workers=1",
		"plan=gss,workers=3",
		"plan=marksweep,split=0",
		"plan=immix,split=0,defrag=always",
		"plan=cms,split=0,policy=fg",
	};
	static char text[1024];
	char options[160];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		int status;

		snprintf(options, sizeof(options), "%s,heap=64M,max=128M,trim=0,markstack=4K",
			 plans[i]);
		status = child(starve, options, text, sizeof(text));
		if (!ok(!status, "%s: a mark stack that cannot grow loses no object", plans[i]))
			printf("# status %#x: %s\n", status, text);
		if (strstr(plans[i], "workers=3"))
			continue;
		snprintf(options, sizeof(options), "%s,heap=64M,max=128M,trim=0,markstack=8M",
			 plans[i]);
		status = child(starve_weak, options, text, sizeof(text));
		if (!ok(!status, "%s: weak references that cannot be noted keep their referents",
			plans[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
