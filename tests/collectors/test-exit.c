// SPDX-License-Identifier: MIT
/*
 * Description: a thread that ends while it is attached, in any of the ways in which threads end,
 * leaves the heap to the others: what it allocated is freed, and the heap can be destroyed.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <pthread.h>

#define HANGS_S 200 /* only what hangs takes as long */
#define NODES	5000

struct node {
	struct gc_header header;
	struct node *next;
	uint64_t number;
};

static const struct gc_type *type;
static pthread_key_t key;
static struct gc_mutator *kept;
static bool waits;
static int allocated;

/* Allocate a list, and go on with @then while the list is in a frame. */
static void list_make(struct gc_mutator *mine, void (*then)(struct gc_mutator *mine))
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;

	GC_PUSH(mine, f);
	for (int i = 0; i < NODES; i++) {
		f.fresh = GC_NEW(mine, type, struct node);
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
	}
	then(mine);
	GC_POP(mine, f);
}

static void thread_return(struct gc_mutator *mine)
{
	(void)mine;
}

static void thread_leave(struct gc_mutator *mine)
{
	(void)mine;
	pthread_exit(NULL);
}

static void mutator_unpark(void *mine)
{
	gc_unpark(mine);
}

static void park_and_wait(struct gc_mutator *mine)
{
	gc_park(mine);
	pthread_cleanup_push(mutator_unpark, mine);
	__atomic_store_n(&waits, true, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
}

static void *ends_by_return(void *arg)
{
	struct gc_mutator *mine;

	if (!gc_mutator_attach(heap, &mine))
		list_make(mine, thread_return);
	return arg;
}

static void *ends_by_exit(void *arg)
{
	struct gc_mutator *mine;

	if (!gc_mutator_attach(heap, &mine))
		list_make(mine, thread_leave);
	return arg;
}

static void *ends_parked(void *arg)
{
	struct gc_mutator *mine;

	if (!gc_mutator_attach(heap, &mine)) {
		list_make(mine, thread_return);
		gc_park(mine);
	}
	return arg;
}

static void *ends_by_cancel(void *arg)
{
	struct gc_mutator *mine;

	if (!gc_mutator_attach(heap, &mine))
		list_make(mine, park_and_wait);
	return arg;
}

/* A program's own way to notice the end, in whatever order destructors are called */
static void key_detach(void *arg)
{
	kept->frames = NULL;
	for (int i = 0; i < 100; i++)
		allocated += GC_NEW(kept, type, struct node) != NULL;
	gc_collect(kept);
	gc_mutator_detach(kept);
	(void)arg;
}

static void *ends_with_key(void *arg)
{
	if (gc_mutator_attach(heap, &kept))
		return NULL;
	pthread_setspecific(key, &kept);
	list_make(kept, thread_leave);
	return arg;
}

static int end_run(void *arg)
{
	static void *(*const ways[])(void *) = { ends_by_return, ends_by_exit, ends_parked,
						 ends_by_cancel, ends_with_key };
	struct gc_type_desc d = { .name = "node",
				  .size = sizeof(struct node),
				  .refs = 1u << sizeof(struct gc_header) / sizeof(void *) };
	pthread_t thread;

	alarm(HANGS_S);
	/* Before and behind the key of the library */
	WANT(!pthread_key_create(&key, key_detach));
	WANT(open_heap(arg));
	type = gc_type_register(heap, &d, NULL);
	for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
		void *(*way)(void *) = ways[i % (sizeof(ways) / sizeof(ways[0]))];

		waits = false;
		allocated = 0;
		if (i == sizeof(ways) / sizeof(ways[0]))
			WANT(!pthread_key_create(&key, key_detach));
		WANT(!pthread_create(&thread, NULL, way, NULL));
		if (way == ends_by_cancel) {
			while (!__atomic_load_n(&waits, __ATOMIC_SEQ_CST))
				gc_safepoint(m);
			pthread_cancel(thread);
		}
		gc_park(m);
		pthread_join(thread, NULL);
		gc_unpark(m);
		gc_collect_full(m);
		gc_collect_full(m);
		WANT(!stats().live_objects);
		WANT(way != ends_with_key || allocated == 100);
	}
	gc_mutator_detach(m);
	WANT(!gc_heap_destroy(heap));
	return 0;
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	static char text[4096];
	char options[100];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "plan=%s,verify=all,heap=4M", plans[i]);
		if (!ok(!child(end_run, options, text, sizeof(text)),
			"%s: threads may end while they are attached", plans[i]))
			printf("# %s\n", text);
	}
	return done();
}
