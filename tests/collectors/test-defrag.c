// SPDX-License-Identifier: MIT
/*
 * Description: immix moves objects out of blocks with many holes only when memory is short: kept
 * objects are intact, and whole blocks become free.
 */
#include "alone.h"

#include <gchint/gc-listener.h>

#define EVERY 64 /* one object in so many is kept: a hole on each side of it */

struct node {
	struct gc_header header;
	struct node *next;
	long value, pad[5];
};

struct frame {
	struct gc_frame head;
	struct node *keep, *junk, *weak, *dead;
	void *array;
};

static const struct gc_type *node, *bytes;

static bool start(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};

	if (!open_heap(options))
		return false;
	node = gc_type_register(heap, &d, NULL);
	bytes = gc_type_register(heap, &b, NULL);
	return true;
}

/* @count objects, of which few are kept, in a list that ends with the first */
static void scatter(struct frame *f, long count)
{
	for (long i = 0; i < count; i++) {
		f->junk = GC_NEW(m, node, struct node);
		f->junk->value = i;
		if (i % EVERY)
			continue;
		gc_write(m, f->junk, &f->junk->next, f->keep);
		f->keep = f->junk;
	}
	f->junk = NULL;
}

/* Is the list what scatter() made of @count? */
static bool intact(const struct frame *f, long count)
{
	long want = (count - 1) / EVERY * EVERY;

	for (const struct node *n = f->keep; n; n = n->next, want -= EVERY)
		if (n->value != want)
			return false;
	return want == -EVERY;
}

/* Every whole collection: the first makes the holes, the second moves. */
static void always(void)
{
	const long count = 100000; /* 6.1 MiB, 98 KiB of it kept */
	struct gc_heap_stats before, after;
	struct frame f;
	uintptr_t was;

	if (!start("plan=immix,sizing=fixed,heap=16M,max=16M,defrag=always,verify=all,poison=1"))
		return;
	GC_PUSH(m, f);
	scatter(&f, count);
	f.weak = gc_weak_new(m, (void **)&f.keep);
	f.dead = GC_NEW(m, node, struct node);
	f.dead->value = 77;
	gc_finalizer_add(m, f.dead);
	gc_collect_full(m);
	before = stats();
	was = (uintptr_t)f.keep;
	f.dead = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	after = stats();
	ok(intact(&f, count), "moved objects are intact");
	if (!ok(after.copied_bytes >= before.copied_bytes + 100000 &&
			after.footprint_bytes < before.footprint_bytes / 8,
		"blocks with one object per four lines become free"))
		printf("# copied %llu, footprint %llu then %llu\n",
		       (unsigned long long)after.copied_bytes,
		       (unsigned long long)before.footprint_bytes,
		       (unsigned long long)after.footprint_bytes);
	ok((uintptr_t)f.keep != was, "an object in such a block moves");
	ok(gc_weak_get(m, f.weak) == f.keep, "a weak reference follows its referent");
	f.dead = gc_finalizer_next(m);
	ok(f.dead && f.dead->value == 77, "the queue of finalization follows its objects");
	GC_POP(m, f);
	stop();
}

/* Pages for one large object, in a heap that is all blocks with a few objects each. */
static void large(const char *defrag, bool fits)
{
	const long count = 110000; /* 6.7 MiB */
	struct gc_heap_stats s;
	char options[128];
	struct frame f;

	snprintf(options, sizeof(options),
		 "plan=immix,sizing=fixed,heap=8M,max=8M,defrag=%s,verify=all,poison=1", defrag);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	scatter(&f, count);
	f.array = gc_alloc_array(m, bytes, 4 << 20);
	s = stats();
	if (!ok(!!f.array == fits && !!s.copied_bytes == fits && intact(&f, count),
		"defrag=%s: 4 MiB in one piece %s", defrag, fits ? "are allocated" : "are refused"))
		printf("# %s, copied %llu, footprint %llu\n", f.array ? "there" : "NULL",
		       (unsigned long long)s.copied_bytes, (unsigned long long)s.footprint_bytes);
	GC_POP(m, f);
	stop();
}

/* A heap that is dense and far from full has no reason to move anything. */
static void dense(const char *plan)
{
	struct gc_heap_stats s;
	char options[64];
	struct frame f;

	snprintf(options, sizeof(options), "plan=%s,sizing=fixed,heap=32M,max=64M", plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	for (int i = 0; i < 3000000; i++) {
		f.junk = GC_NEW(m, node, struct node);
		if (i >= 60000)
			continue;
		gc_write(m, f.junk, &f.junk->next, f.keep);
		f.keep = f.junk;
	}
	s = stats();
	ok(s.cycles > 2 && !s.copied_bytes, "%s: %llu collections of a dense heap move nothing",
	   plan, (unsigned long long)s.cycles);
	GC_POP(m, f);
	stop();
}

/*
 * Of 240 bytes 80 are kept: no line is free, and a third of each is in use. The first
 * collection sees it, the second packs them, and with that it is over.
 */
static void thin_lines(const char *plan)
{
	enum {
		THIRD = 20000,
		MANY = 3 * THIRD,
		SIZE = 80
	};
	struct gc_heap_stats sparse, packed, after;
	struct gc_type_desc d = { .name = "wide", .size = SIZE, .refs = 2 };
	const struct gc_type *wide;
	char options[64];
	struct frame f;

	snprintf(options, sizeof(options), "plan=%s,heap=32M,max=64M", plan);
	if (!start(options))
		return;
	wide = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	for (long i = 0; i < MANY; i++) {
		f.junk = gc_alloc(m, wide);
		f.junk->value = i;
		if (i % 3)
			continue;
		gc_write(m, f.junk, &f.junk->next, f.keep);
		f.keep = f.junk;
	}
	f.junk = NULL;
	gc_collect_full(m);
	sparse = stats();
	gc_collect_full(m);
	packed = stats();
	gc_collect_full(m);
	after = stats();
	if (!ok(sparse.live_bytes > THIRD * SIZE * 5 / 2 &&
			packed.live_bytes < THIRD * SIZE * 5 / 4,
		"%s: objects on lines that are not half full are packed", plan))
		printf("# %llu bytes, then %llu\n", (unsigned long long)sparse.live_bytes,
		       (unsigned long long)packed.live_bytes);
	ok(after.copied_bytes == packed.copied_bytes, "%s: only once", plan);
	for (long want = MANY - 3; f.keep && f.keep->value == want; want -= 3)
		f.keep = f.keep->next;
	ok(!f.keep, "%s: the objects are intact", plan);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	always();
	thin_lines("immix");
	thin_lines("stickyimmix");
	large("auto", true);
	large("never", false);
	dense("immix");
	dense("stickyimmix");
	return done();
}
