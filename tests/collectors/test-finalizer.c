// SPDX-License-Identifier: MIT
/*
 * Description: finalizers by order, the callback that reports them, and ephemerons that last until
 * their key was finalized, on every plan.
 */
#include "alone.h"

#include <errno.h>

#define CHAIN 64

struct node {
	struct gc_header header;
	struct node *next, *other;
	long number;
};

static const struct gc_type *node_type, *lasting_type;
static struct {
	struct gc_frame head;
	struct node *a, *b, *c, *fresh;
	void *plain, *lasting, *barren;
} f;
static int calls;

static void finalizer_called(void *arg)
{
	(*(int *)arg)++;
}

static struct node *node_new(long number)
{
	f.fresh = GC_NEW(m, node_type, struct node);
	f.fresh->number = number;
	return f.fresh;
}

static bool heap_open(const char *options)
{
	struct gc_type_desc node = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc lasting = {
		.name = "lasting", .size = sizeof(struct node), .ephemeron = true, .lasting = true
	};

	if (!open_heap(options))
		return false;
	node_type = gc_type_register(heap, &node, NULL);
	lasting_type = gc_type_register(heap, &lasting, NULL);
	calls = 0;
	return true;
}

/* The number of the only object that is due after a collection; -1: none, -2: several */
static long number_due(void)
{
	struct node *n;
	long number;

	gc_collect_full(m);
	n = gc_finalizer_next(m);
	if (!n)
		return -1;
	number = n->number;
	return gc_finalizer_next(m) ? -2 : number;
}

static void orders(const char *options)
{
	long due = 0;

	if (!heap_open(options))
		return;
	GC_PUSH(m, f);
	/* 0 refers to 1, 1 to 2, 2 to 3; the last one is registered first. */
	for (int i = 3; i >= 0; i--) {
		node_new(i);
		gc_init(&f.fresh->next, f.a);
		f.a = f.fresh;
		gc_finalizer_add_order(m, f.a, (unsigned int)i);
	}
	ok(gc_finalizer_add_order(m, f.a, GC_FINALIZER_ORDERS) == -EINVAL,
	   "%s: an unknown order is refused", options);
	ok(number_due() == -1, "%s: objects that live are not finalized", options);
	f.a = f.fresh = NULL;
	for (int i = 0; i < 4; i++)
		due = due * 10 + number_due();
	ok(due == 123 && number_due() == -1, "%s: objects are finalized in their order (%04ld)",
	   options, due);
	/* A lower order that does not refer to it does not delay another one; cycles do not either. */
	f.a = node_new(5);
	gc_finalizer_add_order(m, f.a, 3);
	f.b = node_new(6);
	gc_finalizer_add_order(m, f.b, 3);
	gc_write(m, f.a, &f.a->next, f.b);
	gc_write(m, f.b, &f.b->next, f.a);
	gc_finalizer_add(m, node_new(7));
	f.a = f.b = f.fresh = NULL;
	ok(number_due() == -2, "%s: others are finalized together", options);
	GC_POP(m, f);
	stop();
}

static void callback(const char *options)
{
	int after[4];

	if (!heap_open(options))
		return;
	gc_finalizer_callback(heap, finalizer_called, &calls);
	GC_PUSH(m, f);
	gc_collect_full(m);
	after[0] = calls;
	for (int i = 0; i < CHAIN; i++)
		gc_finalizer_add(m, node_new(i));
	f.fresh = NULL;
	gc_collect_full(m);
	after[1] = calls;
	gc_collect_full(m);
	after[2] = calls;
	gc_finalizer_callback(heap, NULL, NULL);
	gc_finalizer_add(m, node_new(1));
	f.fresh = NULL;
	gc_collect_full(m);
	after[3] = calls;
	ok(!after[0] && after[1] == 1 && after[2] == 1 && after[3] == 1,
	   "%s: it is called once for a collection that found objects", options);
	GC_POP(m, f);
	stop();
}

/* Ephemerons of a key to be finalized: the value of one lasts, and is in nothing else. */
static void lasting(const char *options)
{
	struct node *key, *value;
	bool good;

	if (!heap_open(options))
		return;
	GC_PUSH(m, f);
	f.a = node_new(1);
	f.b = node_new(2);
	gc_write(m, f.b, &f.b->next, node_new(3));
	/* The value refers to its key, as those of tables do. */
	gc_write(m, f.b, &f.b->other, f.a);
	gc_finalizer_add_order(m, f.a, 1);
	f.plain = gc_ephemeron_new(m, (void **)&f.a, (void **)&f.b);
	f.lasting = gc_alloc(m, lasting_type);
	gc_write(m, f.lasting, (char *)f.lasting + 8, f.a);
	gc_write(m, f.lasting, (char *)f.lasting + 16, f.b);
	/* The same with a key that has no finalizer */
	f.barren = gc_alloc(m, lasting_type);
	f.c = node_new(4);
	gc_write(m, f.barren, (char *)f.barren + 8, f.c);
	gc_write(m, f.barren, (char *)f.barren + 16, f.b);
	f.a = f.b = f.c = f.fresh = NULL;
	gc_collect(m);
	gc_collect_full(m);
	key = gc_finalizer_next(m);
	value = gc_ephemeron_value(m, f.lasting);
	good = key && key->number == 1 && gc_ephemeron_key(m, f.lasting) == key && value &&
	       value->number == 2 && value->next->number == 3 && value->other == key;
	ok(good, "%s: a lasting ephemeron has its value when the key is finalized", options);
	ok(!gc_ephemeron_key(m, f.plain) && !gc_ephemeron_value(m, f.plain),
	   "%s: others are cleared before", options);
	ok(!gc_ephemeron_key(m, f.barren) && !gc_ephemeron_value(m, f.barren),
	   "%s: it is cleared with a key that has no finalizer", options);
	f.a = key;
	gc_collect_full(m);
	ok(gc_ephemeron_value(m, f.lasting), "%s: it lasts as long as the key is used", options);
	f.a = NULL;
	gc_collect_full(m);
	ok(!gc_ephemeron_key(m, f.lasting) && !gc_ephemeron_value(m, f.lasting),
	   "%s: it is cleared when the key has died again", options);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	static const char *const plans[] = {
		"plan=cms",
		"plan=cms,remark-limit=1",
		"plan=cmsfly",
		"plan=gencms",
		"plan=gss,nursery=512K",
		"plan=gss,nursery=512K,promote=never,workers=3",
		"plan=immix,defrag=always",
		"plan=immix,defrag=never,workers=3",
		"plan=marksweep",
		"plan=semispace",
		"plan=stickyimmix",
	};
	char options[120];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "%s,verify=all,poison=1", plans[i]);
		orders(options);
		callback(options);
		lasting(options);
	}
	return done();
}
