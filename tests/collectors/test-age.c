// SPDX-License-Identifier: MIT
/*
 * Description: an object may be copied any number of times: its age, which is counted in its
 * header, ends at the highest and leaves the rest of the header alone.
 */
#include "alone.h"
#include "tree.h"

#include "mech/forward.h"

#define COUNT  1000
#define COPIES 12

static struct {
	struct gc_frame head;
	struct node *list;
} f;

static void ages(const char *options)
{
	const struct gc_type *type;
	uint64_t word = 0, age = 0;
	long moved = 0, wrong = 0;
	struct node *first;

	if (!open_heap(options))
		return;
	GC_PUSH(m, f);
	type = tree_type(heap);
	for (long i = 0; i < COUNT; i++) {
		struct node *n = GC_NEW(m, type, struct node);

		gc_init(&n->left, f.list);
		f.list = n;
	}
	word = f.list->header.word & ~(uint64_t)GC_AGE_MASK;
	for (int i = 0; i < COPIES && !wrong; i++) {
		first = f.list;
		gc_collect_full(m);
		moved += f.list != first;
		age = f.list->header.word & GC_AGE_MASK;
		for (struct node *n = f.list; n && !wrong; n = n->left)
			wrong += (n->header.word & ~(uint64_t)GC_AGE_MASK) != word;
	}
	if (!ok(stats().cycles == COPIES && moved == COPIES && !wrong && age == GC_AGE_MASK,
		"%s: after %d copies an object is as old as can be, and else what it was", options,
		COPIES))
		printf("# moved %ld times, %ld headers changed, age %llx\n", moved, wrong,
		       (unsigned long long)age);
	f.list = NULL;
	GC_POP(m, f);
	stop();
}

int main(void)
{
	ages("plan=gss,nursery=4M,promote=never,help=0");
	ages("plan=gss,nursery=4M,promote=never,workers=2");
	return done();
}
