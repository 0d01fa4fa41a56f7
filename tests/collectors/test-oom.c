// SPDX-License-Identifier: MIT
/*
 * Description: a full heap returns NULL, has no more than max=, loses nothing, and serves again
 * once there is room; under every plan and policy.
 */
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

static const struct row {
	const char *options;
	double least; /* share of max= that live objects can take */
} rows[] = {
	{ "plan=cms", .85 },
	{ "plan=cms,policy=bg", .85 },
	{ "plan=cms,policy=fg", .85 },
	{ "plan=cms,policy=adaptive", .85 },
	{ "plan=cmsfly", .85 },
	{ "plan=gencms", .85 },
	{ "plan=gss,nursery=1M", .4 },
	{ "plan=immix", .85 },
	{ "plan=marksweep", .85 },
	{ "plan=semispace", .4 },
	{ "plan=stickyimmix", .85 },
	{ "plan=cms,sizing=fixed,heap=16M", .85 },
	{ "plan=gss,sizing=fixed,heap=16M", .3 },
	{ "plan=stickyimmix,sizing=fixed,heap=16M", .85 },
};

static int fill(void *arg)
{
	const struct row *row = arg;
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc a = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;
	const struct gc_type *type, *bytes;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct gc_error err;
	char options[160];
	long count, seen;

	snprintf(options, sizeof(options), "max=16M,%s", row->options);
	if (gc_heap_create(&heap, options, NULL, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	type = gc_type_register(heap, &d, NULL);
	bytes = gc_type_register(heap, &a, NULL);
	GC_PUSH(m, f);
	for (int round = 0; round < 3; round++) {
		for (count = 0; (f.fresh = GC_NEW(m, type, struct node)); count++) {
			gc_init(&f.fresh->next, f.list);
			f.fresh->value = count;
			f.list = f.fresh;
		}
		gc_heap_stats(heap, &s);
		seen = 0;
		for (struct node *n = f.list; n; n = n->next)
			seen += n->value == count - 1 - seen;
		if (seen != count || s.footprint_bytes > 16u << 20 ||
		    (double)count * sizeof(struct node) < row->least * (16 << 20)) {
			fprintf(stderr,
				"round %d: %ld objects, %ld right, %.2f MiB live, %.2f MiB held",
				round, count, seen, (double)count * sizeof(struct node) / 1048576,
				(double)s.footprint_bytes / 1048576);
			return 1;
		}
		if (gc_alloc_array(m, bytes, 12u << 20)) {
			fprintf(stderr, "12 MiB more found room in a full heap");
			return 1;
		}
		f.list = NULL;
	}
	if (gc_verify(m, &err)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}

static struct gc_heap *shared;
static const struct gc_type *shared_type;

/* Keeps up to 16000 nodes, 512 KiB; how often it was refused */
static void *keep_little(void *arg)
{
	struct {
		struct gc_frame head;
		struct node *list;
	} f;
	struct gc_mutator *m;
	long *refused = arg;

	if (gc_mutator_attach(shared, &m))
		return NULL;
	GC_PUSH(m, f);
	for (long i = 0; i < 400000; i++) {
		struct node *n = GC_NEW(m, shared_type, struct node);

		if (!n) {
			++*refused;
			continue;
		}
		gc_init(&n->next, i % 16000 ? f.list : NULL);
		f.list = n;
	}
	GC_POP(m, f);
	gc_mutator_detach(m);
	return NULL;
}

/* What one thread's collection frees the others take: none may be told that it is full. */
static int crowd(void *arg)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	long refused[4] = { 0 }, sum = 0;
	pthread_t thread[4];

	if (gc_heap_create(&shared, arg, NULL, NULL))
		return 1;
	shared_type = gc_type_register(shared, &d, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, keep_little, &refused[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		sum += refused[i];
	}
	if (sum)
		fprintf(stderr, "refused %ld times", sum);
	gc_heap_destroy(shared);
	return sum != 0;
}

int main(void)
{
	static const char *const crowds[] = {
		"plan=gss,sizing=fixed,heap=24M,nursery=512K",
		"plan=gss,sizing=fixed,heap=24M,nursery=4M",
		"plan=semispace,sizing=fixed,heap=12M",
		"plan=cms,sizing=fixed,heap=8M",
		"plan=stickyimmix,sizing=fixed,heap=8M",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int status = child(fill, (void *)(uintptr_t)&rows[i], text, sizeof(text));

		if (!ok(!status, "%s: full, and usable again", rows[i].options))
			printf("# status %#x: %s\n", status, text);
	}
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		int status = child(crowd, (void *)(uintptr_t)crowds[i], text, sizeof(text));

		if (!ok(!status, "%s: four threads with small live sets are served", crowds[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
