// SPDX-License-Identifier: MIT
/*
 * Description: an object may be copied any number of times: its age, a counter in the header,
 * saturates and leaves the other header bits alone. Cards that were dirty before a whole
 * collection are clean after it unless they are needed.
 */
#include "alone.h"
#include "tree.h"

#include "heap/forward.h"

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
		"%s: after %d copies the age is at its maximum, other header bits are unchanged",
		options, COPIES))
		printf("# moved %ld times, %ld headers changed, age %llx\n", moved, wrong,
		       (unsigned long long)age);
	f.list = NULL;
	GC_POP(m, f);
	stop();
}

static void cards_are_clean(const char *options)
{
	const struct gc_type *type;
	struct node *old, *young;
	uint64_t dirty;
	long before;

	if (!open_heap(options))
		return;
	GC_PUSH(m, f);
	type = tree_type(heap);
	f.list = GC_NEW(m, type, struct node);
	do {
		old = f.list;
		gc_collect_full(m);
	} while (f.list != old);
	/* A young object that it refers to no longer: its card is dirty for nothing. */
	young = GC_NEW(m, type, struct node);
	gc_write(m, f.list, &f.list->left, young);
	gc_write(m, f.list, &f.list->left, NULL);
	gc_collect_full(m);
	dirty = stats().cards_dirty;
	before = (long)stats().cycles;
	for (long i = 0; i < 1000000 && (long)stats().cycles == before; i++)
		GC_NEW(m, type, struct node);
	ok(f.list == old && (long)stats().cycles == before + 1 && stats().cards_dirty == dirty,
	   "%s: a whole collection leaves dirty only cards that are needed", options);
	f.list = NULL;
	GC_POP(m, f);
	stop();
}

int main(void)
{
	cards_are_clean("plan=gss,nursery=1M,promote=naive,p=1,help=0");
	ages("plan=gss,nursery=4M,promote=naive,p=0,help=0");
	ages("plan=gss,nursery=4M,promote=naive,p=0,workers=2");
	return done();
}
