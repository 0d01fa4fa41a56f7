// SPDX-License-Identifier: MIT
/* Description: invalid types and sizes are refused; arrays of roots keep the objects that they refer to. */
#include "alone.h"

#include <errno.h>
#include <string.h>

static void refuse(struct gc_type_desc d, const char *why)
{
	struct gc_error err = { 0 };

	if (!ok(!gc_type_register(heap, &d, &err) && err.code == -EINVAL && strstr(err.text, why) &&
			strstr(err.text, d.name ? d.name : "type ?"),
		"refused: %s", why))
		printf("# %s\n", err.text);
}

static void accept(struct gc_type_desc d, uint32_t size, uint32_t elem, const char *what)
{
	const struct gc_type *t = gc_type_register(heap, &d, NULL);

	if (!ok(t && t->size == size && t->elem_size == elem, "accepted: %s", what) && t)
		printf("# %u, %u\n", t->size, t->elem_size);
}

static void types(void)
{
	struct gc_type_desc d = { .name = "odd", .size = 24 };

	if (!open_heap("plan=cms,policy=fg,trim=0"))
		return;
	d.size = 7;
	refuse(d, "give 8 to 1G");
	d.size = (1u << 30) + 1;
	refuse(d, "give 8 to 1G");
	d = (struct gc_type_desc){ .name = "odd", .size = 24, .refs = 1 };
	refuse(d, "outside the fields");
	d.refs = 8;
	refuse(d, "outside the fields");
	d.name = NULL;
	refuse(d, "outside the fields");
	d = (struct gc_type_desc){ .name = "weak", .size = 8, .weak = true };
	refuse(d, "first field is the referent");
	d.size = 24;
	d.refs = 2;
	refuse(d, "first field is the referent");
	d = (struct gc_type_desc){ .name = "pair", .size = 16, .ephemeron = true };
	refuse(d, "key and value alone");
	d.size = 32;
	d.refs = 4;
	refuse(d, "key and value alone");
	d.refs = 0;
	d.weak = true;
	refuse(d, "key and value alone");
	d = (struct gc_type_desc){ .name = "bytes", .size = 8, .tail = GC_TAIL_DATA };
	refuse(d, "elem_size 0");
	accept((struct gc_type_desc){ .name = "least", .size = 8 }, 8, 0, "a header alone");
	accept((struct gc_type_desc){ .name = "most", .size = 1u << 30 }, 1u << 30, 0, "1G");
	accept((struct gc_type_desc){ .name = "refs", .size = 24, .refs = 6 }, 24, 0,
	       "each field a reference");
	accept((struct gc_type_desc){ .name = "far", .size = 600, .refs = 1ull << 63 }, 600, 0,
	       "the last word that can be named");
	accept((struct gc_type_desc){ .name = "weak", .size = 16, .weak = true }, 16, 0,
	       "a weak one of its referent alone");
	accept((struct gc_type_desc){ .name = "pair", .size = 32, .refs = 8, .ephemeron = true },
	       32, 0, "a key, a value and a field");
	accept(
		(struct gc_type_desc){
			.name = "data", .size = 12, .tail = GC_TAIL_DATA, .elem_size = 3 },
		12, 3, "a tail of data keeps its size");
	accept(
		(struct gc_type_desc){
			.name = "array", .size = 12, .tail = GC_TAIL_REFS, .elem_size = 3 },
		16, sizeof(void *), "a tail of references is aligned to them");
	stop();
}

struct node {
	struct gc_header header;
	struct node *next;
	long number;
};

static struct node *fresh(const struct gc_type *t, long number)
{
	struct node *n = GC_NEW(m, t, struct node);

	n->number = number;
	return n;
}

static uint64_t alive(void)
{
	gc_collect_full(m);
	return stats().live_objects;
}

static void roots(const char *options)
{
	static const struct gc_type_desc d = { .name = "node",
					       .size = sizeof(struct node),
					       .refs = 2 };
	void *a[3] = { 0 }, *b[1] = { 0 }, *c[2] = { 0 };
	const struct gc_type *t;
	uint64_t none;

	if (!open_heap(options))
		return;
	t = gc_type_register(heap, &d, NULL);
	none = alive();
	ok(!gc_roots_add(heap, a, 3) && !gc_roots_add(heap, b, 1) && !gc_roots_add(heap, c, 2),
	   "%s: three arrays of roots are added", options);
	for (int i = 0; i < 3; i++)
		a[i] = fresh(t, 10 + i);
	b[0] = fresh(t, 20);
	c[1] = fresh(t, 31);
	fresh(t, 99);
	ok(alive() == none + 5, "%s: all objects that they refer to live, and no others", options);
	ok(((struct node *)a[0])->number == 10 && ((struct node *)a[2])->number == 12 &&
		   ((struct node *)b[0])->number == 20 && ((struct node *)c[1])->number == 31 &&
		   !c[0],
	   "%s: and the roots have their current addresses", options);
	ok(!gc_roots_remove(heap, b), "%s: the array in the middle is removed", options);
	ok(alive() == none + 4, "%s: and its objects die", options);
	ok(gc_roots_remove(heap, b) == -ENOENT && gc_roots_remove(heap, a + 1) == -ENOENT,
	   "%s: an unknown array is not removed", options);
	ok(!gc_roots_remove(heap, c) && alive() == none + 3, "%s: the last array is removed",
	   options);
	ok(((struct node *)a[1])->number == 11, "%s: the first array is still a root", options);
	/* The array that is left is the heap's to free. */
	stop();
}

static bool refused(const struct gc_type *t, size_t bytes)
{
	return !gc_alloc_sized(m, t, bytes) && gc_refused(m) == GC_REFUSED_SIZE;
}

/* Before the first object of a size, all allocation is off the inline path. */
static void sizes(const char *options)
{
	static const struct gc_type_desc d = { .name = "node",
					       .size = sizeof(struct node) - 4,
					       .refs = 2 };
	volatile size_t none = 0;
	const struct gc_type *t;
	bool good = true;

	if (!open_heap(options))
		return;
	t = gc_type_register(heap, &d, NULL);
	for (size_t less = 0; less < 16; less++)
		good &= refused(t, SIZE_MAX - less);
	ok(good, "%s: sizes up to SIZE_MAX are refused", options);
	ok(refused(t, none) && refused(t, 0), "%s: size 0 is refused", options);
	ok(refused(t, sizeof(struct node) + 8) && refused(t, 8) && refused(t, 4096),
	   "%s: another size than the type's is refused", options);
	ok(gc_alloc_sized(m, t, sizeof(struct node)) && gc_refused(m) == GC_REFUSED_NOT,
	   "%s: the type's size is not refused", options);
	stop();
}

/* A header has 16 bits for the type: of these none is no object, and two are the heap's. */
static void most(void)
{
	const struct gc_type_desc d = { .name = "one of many", .size = 8 };
	struct gc_error err = { 0 };
	uint32_t n = 0;
	void *obj;

	if (!open_heap("trim=0,policy=fg"))
		return;
	while (n < 70000 && gc_type_register(heap, &d, &err))
		n++;
	ok(n == 65533, "%u types in addition to the heap's own", n);
	ok(err.code == -ENOSPC && !strcmp(err.text, "type one of many: more than 65536 types"),
	   "then: %s", err.text);
	obj = gc_weak_new(m, &(void *){ NULL });
	ok(obj && !gc_weak_get(m, obj), "registered types still work");
	stop();
}

int main(void)
{
	types();
	sizes("plan=cms,policy=fg,trim=0");
	sizes("plan=semispace,trim=0");
	sizes("plan=immix,trim=0");
	most();
	roots("plan=cms,policy=fg,trim=0");
	roots("plan=semispace,trim=0");
	roots("plan=gss,nursery=1M,trim=0");
	roots("plan=immix,trim=0");
	return done();
}
