// SPDX-License-Identifier: MIT
/*
 * Description: remark-limit= holds for what is reached only through an object that is to be
 * finalized or through an ephemeron: the second pause ends early and the rest is marked while
 * mutators run. No object or reference is lost or kept by that.
 */
#include "alone.h"

#define LENGTH 200000

struct node {
	struct gc_header header;
	struct node *next;
	void *weak;
	long number;
};

static const struct gc_type *node_type;
static struct {
	struct gc_frame head;
	struct node *list, *fresh, *last;
	void *key, *ephemeron, *weak, *inner;
} f;

/* A list of @length nodes, the last of which has a weak reference to the first. */
static void list(long length)
{
	f.list = f.last = NULL;
	for (long i = 0; i < length; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->number = i;
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
		if (!f.last)
			f.last = f.fresh;
	}
	f.inner = gc_weak_new(m, (void **)&f.list);
	gc_write(m, f.last, &f.last->weak, f.inner);
	f.inner = f.fresh = NULL;
}

static bool whole(const struct node *n, long length)
{
	while (n && n->number == length - 1) {
		n = n->next;
		length--;
	}
	return !n && !length;
}

static bool begin(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };

	if (!open_heap(options))
		return false;
	node_type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	return true;
}

static void end(const char *options)
{
	struct gc_error err;

	f.list = f.fresh = f.last = NULL;
	f.key = f.ephemeron = f.weak = NULL;
	gc_collect_full(m);
	ok(!gc_verify(m, &err) && !stats().live_objects, "%s: nothing is left afterwards", options);
	GC_POP(m, f);
	stop();
}

static void limited(const char *options, bool good, const char *what)
{
	uint64_t timeouts = stats().remark_timeouts;

	if (!ok(good && timeouts, "%s: the limit holds behind %s", options, what))
		printf("# %llu times given up\n", (unsigned long long)timeouts);
}

static void behind_finalizer(const char *options)
{
	struct node *n;

	if (!begin(options))
		return;
	list(LENGTH);
	gc_finalizer_add(m, f.list);
	f.weak = gc_weak_new(m, (void **)&f.list);
	f.list = f.last = NULL;
	gc_collect(m);
	n = f.list = gc_finalizer_next(m);
	limited(options, whole(n, LENGTH), "an object that is to be finalized");
	ok(!gc_weak_get(m, f.weak), "%s: a weak reference to it is cleared", options);
	for (; n && n->next; n = n->next)
		;
	ok(n && gc_weak_get(m, n->weak) == f.list,
	   "%s: one that it reaches keeps its referent, which is alive again", options);
	ok(!gc_finalizer_next(m), "%s: it is returned once", options);
	gc_collect_full(m);
	ok(whole(f.list, LENGTH), "%s: it lives on", options);
	end(options);
}

static void behind_ephemeron(const char *options)
{
	if (!begin(options))
		return;
	list(LENGTH);
	f.key = GC_NEW(m, node_type, struct node);
	f.ephemeron = gc_ephemeron_new(m, &f.key, (void **)&f.list);
	f.weak = gc_weak_new(m, (void **)&f.list);
	f.list = f.last = NULL;
	gc_collect(m);
	limited(options, whole(gc_ephemeron_value(m, f.ephemeron), LENGTH), "an ephemeron");
	ok(gc_weak_get(m, f.weak) && gc_weak_get(m, f.weak) == gc_ephemeron_value(m, f.ephemeron),
	   "%s: a weak reference to its value stays", options);
	f.key = NULL;
	gc_collect_full(m);
	ok(!gc_ephemeron_value(m, f.ephemeron) && !gc_ephemeron_key(m, f.ephemeron) &&
		   !gc_weak_get(m, f.weak),
	   "%s: all are cleared when the key dies", options);
	end(options);
}

int main(void)
{
	static const char *const rows[] = {
		"plan=cms,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all",
		"plan=cmsfly,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all",
		"plan=gencms,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all",
		"plan=cms,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all,overflow=card,"
		"markstack=4K",
		"plan=cms,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all,overflow=card+filter,"
		"markstack=4K",
		"plan=cms,policy=fg,trim=0,heap=64M,remark-limit=1,verify=all,overflow=scan-all,"
		"markstack=4K",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		behind_finalizer(rows[i]);
		behind_ephemeron(rows[i]);
	}
	return done();
}
