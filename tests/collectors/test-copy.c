// SPDX-License-Identifier: MIT
/*
 * Description: copying where a helper's stack cannot grow, and where the rest of a piece of
 * to-space is dropped because of a large object: nothing is lost or overwritten.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "company.h"

#define ARRAYS 48
#define LONG   3000 /* more than a stack of 4 KiB holds */

static int refused, refuse;

void *__real_mremap(void *old, size_t size, size_t more, int flags, ...);
void *__wrap_mremap(void *old, size_t size, size_t more, int flags, ...);

/* Whoever helps has no memory for a larger stack; the collecting thread has. */
void *__wrap_mremap(void *old, size_t size, size_t more, int flags, ...)
{
	if (get(&refuse) && gettid() != getpid()) {
		add(&refused, 1);
		return MAP_FAILED;
	}
	return __real_mremap(old, size, more, flags);
}

/* Arrays of nodes that have a leaf each: who scans one has all its nodes to scan. */
static void spread(void)
{
	f.array = gc_alloc_array(m, array_type, ARRAYS);
	for (int i = 0; i < ARRAYS; i++) {
		gc_write(m, f.array, &f.array->item[i], gc_alloc_array(m, array_type, LONG));
		for (int k = 0; k < LONG; k++) {
			struct array *row;

			f.fresh = GC_NEW(m, node_type, struct node);
			f.fresh->pad = i * LONG + k;
			row = f.array->item[i];
			gc_write(m, row, &row->item[k], f.fresh);
			f.fresh = GC_NEW(m, node_type, struct node);
			f.fresh->pad = -(i * LONG + k);
			row = f.array->item[i];
			f.kept = row->item[k];
			gc_write(m, f.kept, &f.kept->child[1], f.fresh);
		}
	}
	f.fresh = f.kept = NULL;
}

static bool whole(void)
{
	for (int i = 0; i < ARRAYS; i++) {
		const struct array *row = f.array->item[i];

		for (int k = 0; k < LONG; k++) {
			const struct node *n = row->item[k];

			if (n->pad != i * LONG + k || n->child[0] || n->child[1]->pad != -n->pad)
				return false;
		}
	}
	return true;
}

static void helpers_that_cannot_grow(const char *plan)
{
	uint64_t again;
	char options[128];
	bool good = true;

	snprintf(options, sizeof(options), "plan=%s,workers=3,heap=64M,sizing=fixed,markstack=4K",
		 plan);
	if (!open_heap(options, NULL))
		return;
	/* A stack that has grown stays as it is: from the first collection on. */
	refused = 0;
	set(&refuse, 1);
	join_company(AT_SAFEPOINTS);
	join_company(AT_SAFEPOINTS);
	spread();
	for (int i = 0; good && i < TRIES && !get(&refused); i++) {
		gc_collect_full(m);
		good = !gc_verify(m, NULL) && whole();
		sched_yield();
	}
	set(&refuse, 0);
	ok(get(&refused) > 0, "%s: a helper's stack could not grow", plan);
	ok(good, "%s: objects that did not fit, and those reachable from them, are kept", plan);
	ok(stats().live_objects == 1 + ARRAYS + 2 * ARRAYS * LONG, "%s: all objects are kept",
	   plan);
	ok(stats().rescanned_objects > 0, "%s: objects were scanned again", plan);
	again = stats().rescanned_objects;
	gc_collect_full(m);
	gc_collect_full(m);
	ok(stats().rescanned_objects == again,
	   "%s: later cycles with enough stack scan nothing again", plan);
	close_heap();
}

/*
 * A large object between small ones has a place beside the piece that they are copied to: the
 * next piece does not touch this one, and what is left of this one reads as a hole.
 */
static void pieces_that_do_not_touch(const char *plan)
{
	char options[128];
	bool good = true;

	snprintf(options, sizeof(options), "plan=%s,workers=1,help=0,heap=64M,sizing=fixed", plan);
	if (!open_heap(options, NULL))
		return;
	spread();
	for (int i = 0; good && i < 3; i++) {
		gc_collect_full(m);
		good = whole() && !gc_verify(m, NULL);
	}
	ok(good, "%s: small objects behind large ones are intact", plan);
	close_heap();
}

int main(void)
{
	static const char *const plans[] = { "semispace", "gss" };

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		helpers_that_cannot_grow(plans[i]);
		pieces_that_do_not_touch(plans[i]);
	}
	return done();
}
