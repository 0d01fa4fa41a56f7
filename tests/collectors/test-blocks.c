// SPDX-License-Identifier: MIT
/*
 * Description: blocks with many small holes are passed over only in a roomy heap; cells of any
 * size do not overlap; cards without survivors are not scanned.
 */
#include "alone.h"
#include "tree.h"

#include "heap/heap.h"

#define NODE  ((long)sizeof(struct node))
#define LIMIT (32L << 20)

static struct {
	struct gc_frame head;
	struct node *list;
} f;
static uintptr_t low, high;

/* Allocate @count nodes and keep @of each @each of them. */
static void scatter(const struct gc_type *t, long count, long of, long each)
{
	low = UINTPTR_MAX;
	high = 0;
	for (long i = 0; i < count; i++) {
		struct node *n = GC_NEW(m, t, struct node);

		if (i % each >= of)
			continue;
		gc_init(&n->left, f.list);
		f.list = n;
		low = (uintptr_t)n < low ? (uintptr_t)n : low;
		high = (uintptr_t)n > high ? (uintptr_t)n : high;
	}
	gc_collect_full(m);
}

/* Of @count new nodes, how many come to lie between those that were kept? */
static long between(const struct gc_type *t, long count)
{
	long inside = 0;

	for (long i = 0; i < count; i++) {
		uintptr_t n = (uintptr_t)GC_NEW(m, t, struct node);

		inside += n > low && n < high;
	}
	return inside;
}

static const struct gc_type *begin(const char *options)
{
	if (!open_heap(options))
		return NULL;
	GC_PUSH(m, f);
	return tree_type(heap);
}

static void end(void)
{
	GC_POP(m, f);
	stop();
}

static void roomy(void)
{
	const struct gc_type *t = begin("plan=marksweep,sizing=fixed,heap=32M,max=32M,trim=0");
	const long most = LIMIT / NODE;
	long inside, until = 0;
	uint64_t cycles;

	if (!t)
		return;
	scatter(t, 100000, 1, 8);
	inside = between(t, 30000);
	/* the last block was not full */
	if (!ok(inside <= 512, "in a roomy heap, dense blocks are passed over"))
		printf("# %ld of 30000 in holes\n", inside);
	for (cycles = stats().cycles; stats().cycles == cycles; until++)
		GC_NEW(m, t, struct node);
	until += 30000 + 100000 / 8;
	if (!ok(until > most / 100 * 97, "dense blocks are used before a collection"))
		printf("# %ld of %ld cells\n", until, most);
	end();
}

static void narrow(void)
{
	const struct gc_type *t = begin("plan=marksweep,sizing=fixed,heap=8M,max=8M,trim=0");
	long inside;

	if (!t)
		return;
	scatter(t, 140000, 7, 8);
	inside = between(t, 10000);
	if (!ok(inside > 9000, "with half of the limit live, dense blocks are used first"))
		printf("# %ld of 10000 in holes\n", inside);
	end();
}

/* A cycle that began again and again for what is passed over would never end. */
static void bounded(void)
{
	const struct gc_type *t = begin("plan=cms,policy=fg,sizing=fixed,heap=32M,max=32M,trim=0");
	/* in blocks of 512 cells with 64 alive */
	const uint64_t all = 100000 / 512 * 448 * NODE;

	if (!t)
		return;
	scatter(t, 100000, 1, 8);
	if (!ok(heap->budget.passed_over >= all / 100 * 98 &&
			heap->budget.passed_over <= all / 100 * 102,
		"bytes that are passed over are counted"))
		printf("# %zu bytes, not %zu\n", (size_t)heap->budget.passed_over, (size_t)all);
	scatter(t, 300000, 1, 8);
	ok(heap->budget.passed_over <= (uint64_t)LIMIT / 8,
	   "at most an eighth of the limit is passed over");
	f.list = NULL;
	gc_collect_full(m);
	ok(!heap->budget.passed_over, "nothing is passed over when nothing is live");
	end();
}

static bool holds(const unsigned char *p, uint32_t length, unsigned int value)
{
	while (length--)
		if (*p++ != (unsigned char)value)
			return false;
	return true;
}

/* Arrays of @bytes, most of which go; what then lies between the others harms none. */
static bool cells(const struct gc_type *t, uint32_t bytes)
{
	enum {
		COUNT = 3000
	};
	static struct {
		struct gc_frame head;
		void *at[COUNT];
	} kept;
	uint32_t length = bytes - (uint32_t)sizeof(struct gc_header);
	bool good = true;

	GC_PUSH(m, kept);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < COUNT; i++) {
			unsigned char *p;

			if (kept.at[i])
				continue;
			kept.at[i] = gc_alloc_array(m, t, length);
			p = (unsigned char *)kept.at[i] + sizeof(struct gc_header);
			good &= holds(p, length, 0);
			memset(p, (int)(i % 251 + 1), length);
		}
		for (unsigned int i = 0; i < COUNT; i++)
			good &= holds((unsigned char *)kept.at[i] + sizeof(struct gc_header),
				      length, i % 251 + 1);
		for (unsigned int i = 0; i < COUNT; i++)
			if (i % 7 > round)
				kept.at[i] = NULL;
		gc_collect_full(m);
	}
	GC_POP(m, kept);
	return good;
}

static void sizes(void)
{
	static const struct gc_type_desc d = { .name = "bytes",
					       .size = sizeof(struct gc_header),
					       .tail = GC_TAIL_DATA,
					       .elem_size = 1 };
	const struct gc_type *t;
	uint32_t bad = 0;

	if (!open_heap("plan=marksweep,sizing=fixed,heap=64M,max=64M,trim=0,poison=1"))
		return;
	t = gc_type_register(heap, &d, NULL);
	for (uint32_t bytes = 16; bytes <= 272; bytes += 8)
		if (!cells(t, bytes))
			bad = bytes;
	for (uint32_t bytes = 512; bytes <= 4096; bytes *= 2)
		if (!cells(t, bytes))
			bad = bytes;
	if (!ok(!bad, "cells of every size are zero and do not overlap"))
		printf("# %u bytes\n", bad);
	stop();
}

static void young_cards(void)
{
	const struct gc_type *t =
		begin("plan=gencms,policy=fg,sizing=fixed,heap=32M,max=32M,trim=0");
	struct gc_heap_stats before, after;
	uint64_t dirty, scanned;

	if (!t)
		return;
	scatter(t, 1000, 1, 1);
	before = stats();
	for (int i = 0; i < 50000; i++) {
		struct node *n = GC_NEW(m, t, struct node);

		gc_write(m, n, &n->left, f.list);
	}
	gc_collect(m);
	after = stats();
	dirty = after.cards_dirty - before.cards_dirty;
	scanned = after.cards_scanned - before.cards_scanned;
	ok(after.minors == before.minors + 1, "a minor collection runs");
	if (!ok(dirty > 50000 * (uint64_t)NODE / GC_CARD / 10 * 9 && scanned < dirty / 50,
		"cards with only dead objects are cleaned, not scanned"))
		printf("# %zu dirty, %zu scanned\n", (size_t)dirty, (size_t)scanned);
	end();
}

int main(void)
{
	roomy();
	narrow();
	bounded();
	sizes();
	young_cards();
	return done();
}
