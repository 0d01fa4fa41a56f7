// SPDX-License-Identifier: MIT
/*
 * Description: a heap is broken on purpose, in each way that verification detects, and the
 * message is compared literally: the check, the object with the reference and its type, the
 * reference; where it aborts, also the plan, the cycle, the seed and the options.
 */
#include "tap.h"
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <heap/forward.h>
#include <heap/heap.h>

static struct gc_heap *heap;
static struct gc_mutator *m;
static const struct gc_type *node;
static struct {
	struct gc_frame head;
	struct node *one, *two, *weak;
} f;

static int open_with(const char *options, struct gc_listener *listener)
{
	if (gc_heap_create(&heap, options, listener, NULL) || gc_mutator_attach(heap, &m))
		return -1;
	GC_PUSH(m, f);
	node = tree_type(heap);
	f.one = GC_NEW(m, node, struct node);
	f.two = GC_NEW(m, node, struct node);
	return 0;
}

static void stop(void)
{
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

/* ---- what gc_verify() returns ---- */

static uint64_t verifications(void)
{
	struct gc_heap_stats s;

	gc_heap_stats(heap, &s);
	return s.verifications;
}

/* gc_verify() with @slot holding @bad says @what of @holder, and nothing without. */
static void says(const char *where, void **slot, uintptr_t bad, const char *what,
		 const void *holder, const char *name)
{
	struct gc_error err = { 0 }, after = { .code = 1, .text = "unchanged" };
	uint64_t before = verifications();
	void *good = *slot;
	char want[200];
	int ret, silent, again;

	*slot = (void *)bad;
	snprintf(want, sizeof(want), "%s: %p (%s) refers to %p", what, holder, name, (void *)bad);
	ret = gc_verify(m, &err);
	silent = gc_verify(m, NULL);
	*slot = good;
	again = gc_verify(m, &after);
	if (!ok(ret == -EUCLEAN && err.code == -EUCLEAN && !strcmp(err.text, want) &&
			silent == -EUCLEAN && !again && !after.code &&
			verifications() == before + 3,
		"%s: %s: %s", heap->opt.plan, where, what))
		printf("# %d, %d, %d, %" PRIu64 " more: '%s', not '%s'\n", ret, silent, again,
		       verifications() - before, err.text, want);
}

#define OUTSIDE "reference outside the heap"
#define DEAD	"reference to something that is not a live object"
#define HEADER	"object with a broken header"

static void references(const char *options)
{
	uintptr_t gone;

	if (open_with(options, NULL)) {
		ok(false, "%s starts", options);
		return;
	}
	f.weak = gc_weak_new(m, (void **)&f.two);
	says("a reference below the heap", (void **)&f.one, heap->base - 8, OUTSIDE, NULL,
	     "a root");
	says("a reference to the end of the heap", (void **)&f.one, heap->end, OUTSIDE, NULL,
	     "a root");
	says("an unaligned reference", (void **)&f.one, (uintptr_t)f.one | 4, OUTSIDE, NULL,
	     "a root");
	says("a reference to the last word", (void **)&f.one, heap->end - 8, DEAD, NULL, "a root");
	says("a reference to the first word", (void **)&f.one, heap->base, DEAD, NULL, "a root");
	says("the first field", (void **)&f.one->left, heap->base - 8, OUTSIDE, f.one, "node");
	says("the second field", (void **)&f.two->right, heap->end, OUTSIDE, f.two, "node");
	says("a weak reference", (void **)&f.weak->left, heap->end, OUTSIDE, f.weak,
	     "weak reference");
	/* What died; immix tells only a line's block. */
	gone = (uintptr_t)f.two;
	f.two = f.weak = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	if (!heap->lines)
		says("a reference to a dead object", (void **)&f.one->left, gone, DEAD, f.one,
		     "node");
	stop();
}

/* Objects that have pages of their own, to the byte */
static void large(const char *options)
{
	const struct gc_type_desc desc = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	const struct gc_type *type;
	uintptr_t at;

	if (open_with(options, NULL)) {
		ok(false, "%s starts", options);
		return;
	}
	type = gc_type_register(heap, &desc, NULL);
	f.two = gc_alloc_array(m, type, 20000);
	at = (uintptr_t)f.two;
	ok(!gc_verify(m, NULL), "%s: a large object is intact", options);
	says("a reference into a large object", (void **)&f.one, at + 8, DEAD, NULL, "a root");
	says("a reference to the second page of a large object", (void **)&f.one, at + 4096, DEAD,
	     NULL, "a root");
	f.two = NULL;
	gc_collect_full(m);
	says("a reference to a dead large object", (void **)&f.one, at, DEAD, NULL, "a root");
	stop();
}

static void headers(const char *options)
{
	struct gc_error err;
	char want[200];
	uint64_t good;

	if (open_with(options, NULL)) {
		ok(false, "%s starts", options);
		return;
	}
	good = f.one->header.word;
	const struct {
		const char *what;
		uint64_t word;
		bool broken;
	} words[] = {
		{ "no type", good & ~(uint64_t)0xffff00, true },
		{ "a type beyond the last", good + (1 << 8), true },
		{ "another type's shape", good ^ 1 << GC_SHAPE_SHIFT, true },
		{ "another size", good ^ 1 << 24, true },
		{ "another age", good ^ 1 << GC_AGE_SHIFT, false },
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int ret;

		f.one->header.word = words[i].word;
		ret = gc_verify(m, &err);
		f.one->header.word = good;
		snprintf(want, sizeof(want), HEADER ": (nil) (a root) refers to %p", (void *)f.one);
		if (!ok(words[i].broken ? ret == -EUCLEAN && !strcmp(err.text, want) : !ret,
			"%s: %s in a header", heap->opt.plan, words[i].what))
			printf("# %d: '%s', not '%s'\n", ret, err.text, want);
	}
	stop();
}

/* ---- what it says when it aborts ---- */

#define ABORTED 66

/* Ends as a program does that was not killed: what it ran is counted where that is asked. */
static void aborted(int sig)
{
	(void)sig;
	exit(ABORTED);
}

/* To stderr, for the parent to compare: what gc_die() shall print of cycle @cycle */
static void expect(uint64_t cycle, const char *what)
{
	fprintf(stderr,
		"gchint-gc: plan=%s cycle %" PRIu64 " seed=%" PRId64 ": %s\n  re-run with: %s\n%c",
		heap->opt.plan, cycle, heap->opt.seed, what, gc_heap_options(heap), '=');
	signal(SIGABRT, aborted);
}

static void aborts(int (*fn)(void *), const char *options, const char *what)
{
	static char text[8192];
	int status = child(fn, (void *)(uintptr_t)options, text, sizeof(text));
	char *said = strchr(text, '=');

	/* The sign that ends what is expected is the first that begins a line. */
	while (said && (said == text || said[-1] != '\n'))
		said = strchr(said + 1, '=');
	if (said)
		*said++ = '\0';
	if (!ok(WIFEXITED(status) && WEXITSTATUS(status) == ABORTED && said && !strcmp(text, said),
		"%s: %s", options, what))
		printf("# status %#x, expected\n# %s\n# and not\n# %s\n", status, text,
		       said ? said : "?");
}

static int before_it(void *options)
{
	char what[160];

	if (open_with(options, NULL))
		return 1;
	f.one->left = (void *)heap->end;
	snprintf(what, sizeof(what), "before the collection: " OUTSIDE ": %p (node) refers to %p",
		 (void *)f.one, (void *)heap->end);
	expect(1, what);
	gc_collect_full(m);
	return 0;
}

/* An object of no known type, or with a length that leads out of its space */
static int bad_header(void *options)
{
	struct gc_header *h;
	char what[160];

	if (open_with(options, NULL))
		return 1;
	h = &f.one->header;
	h->word = 0xfff000;
	snprintf(what, sizeof(what), "%p is in use, but has a broken header: %#llx", (void *)h,
		 (unsigned long long)h->word);
	expect(1, what);
	gc_collect_full(m);
	return 0;
}

static int bad_length(void *options)
{
	struct gc_type_desc d = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	struct gc_header *h;
	char what[160];

	if (open_with(options, NULL))
		return 1;
	h = gc_alloc_array(m, gc_type_register(heap, &d, NULL), 8);
	f.one = (struct node *)h;
	h->word |= 0x10000000ull << 32;
	snprintf(what, sizeof(what), "%p is in use, but has a broken header: %#llx", (void *)h,
		 (unsigned long long)h->word);
	expect(1, what);
	gc_collect_full(m);
	return 0;
}

/* Roots that are not the same each time: marking in place asks twice, copying once. */
static int call, shown_from, shown_to;
static void *hidden;

static void roots(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)arg;
	if (call >= shown_from && call < shown_to)
		visit(&hidden, visit_arg);
	call++;
}

static int hide(const char *options, int from, int to)
{
	if (open_with(options, NULL))
		return 1;
	hidden = f.two;
	f.two = NULL;
	shown_from = from;
	shown_to = to;
	gc_roots_callback(heap, roots, NULL);
	return 0;
}

static int kept_too_much(void *options)
{
	if (hide(options, 0, 1))
		return 1;
	expect(1, "re-trace after the collection: 1 objects are reachable, the collection kept 2");
	gc_collect_full(m);
	return 0;
}

static int kept_too_little(void *options)
{
	char what[160];

	if (hide(options, 2, 9))
		return 1;
	snprintf(what, sizeof(what),
		 "re-trace after the collection: %s: (nil) (a root) refers to %p",
		 heap->lines ? "reachable object not kept by the collection" : DEAD, hidden);
	expect(1, what);
	gc_collect_full(m);
	return 0;
}

/* A listener that breaks an object once it was marked */
static void spoil(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	f.one->right = (void *)(heap->base - 8);
}

static int after_it(void *options)
{
	static const struct gc_listener_ops ops = { .remark_end = spoil };
	static struct gc_listener listener = { &ops };
	char what[160];

	if (open_with(options, &listener))
		return 1;
	snprintf(what, sizeof(what), "after the collection: " OUTSIDE ": %p (node) refers to %p",
		 (void *)f.one, (void *)(heap->base - 8));
	expect(1, what);
	gc_collect_full(m);
	return 0;
}

/* An old object gets a young one, without the barrier. */
static int no_barrier(void *options)
{
	struct gc_heap_stats s;
	struct node *old;
	char what[200];

	if (open_with(options, NULL))
		return 1;
	do {
		old = f.one;
		gc_collect_full(m);
	} while (f.one != old);
	if (*gc_card(heap, (uintptr_t)old))
		return 2;
	f.two = GC_NEW(m, node, struct node);
	old->left = f.two;
	gc_heap_stats(heap, &s);
	if (heap->bump)
		snprintf(
			what, sizeof(what),
			"card table: old object %p (node) refers to the bump space and its card is "
			"clean: a store missed its write barrier",
			(void *)old);
	else
		snprintf(what, sizeof(what),
			 "card table: %p (node) is marked, refers to an unmarked object and its "
			 "card is clean: a store missed its write barrier",
			 (void *)old);
	expect(s.cycles + 1, what);
	for (long i = 0; i < 1000000; i++)
		GC_NEW(m, node, struct node);
	return 0;
}

/* A length that was written over: more than all that lives, and than there is room for. */
static int copied_too_much(void *options)
{
	static const struct gc_type_desc data = {
		.name = "data", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 8
	};
	uint64_t *word;

	if (open_with(options, NULL))
		return 1;
	f.two = gc_alloc_array(m, gc_type_register(heap, &data, NULL), 8);
	word = &((struct gc_header *)f.two)->word;
	*word |= (uint64_t)INT32_MAX << 32;
	expect(1, "more bytes were copied than the space has: a header was overwritten");
	gc_collect_full(m);
	return 0;
}

/* ---- how often it looks ---- */

static void counts(const char *options, uint64_t want)
{
	if (open_with(options, NULL)) {
		ok(false, "%s starts", options);
		return;
	}
	gc_collect_full(m);
	if (!ok(verifications() == want, "%s: %" PRIu64 " verifications per collection", options,
		want))
		printf("# %" PRIu64 "\n", verifications());
	stop();
}

int main(void)
{
	static const char *const plans[] = {
		"plan=cms,policy=fg",	 "plan=cmsfly,policy=fg",   "plan=gencms,policy=fg",
		"plan=gss,trim=0",	 "plan=immix,trim=0",	    "plan=marksweep,trim=0",
		"plan=semispace,trim=0", "plan=stickyimmix,trim=0",
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		references(plans[i]);
		large(plans[i]);
	}
	headers("plan=marksweep,trim=0");
	headers("plan=immix,trim=0");
	aborts(before_it, "plan=marksweep,trim=0,verify=pre,seed=7",
	       "a broken reference before the collection aborts");
	aborts(before_it, "plan=immix,trim=0,verify=pre",
	       "a broken reference before the collection aborts");
	aborts(before_it, "plan=cms,policy=fg,verify=pre+card",
	       "a broken reference before the collection aborts");
	aborts(before_it, "plan=semispace,trim=0,verify=all",
	       "a broken reference before the collection aborts");
	aborts(before_it, "plan=gss,trim=0,verify=pre",
	       "a broken reference before the collection aborts");
	aborts(bad_header, "plan=semispace,trim=0,verify=all", "an overwritten header aborts");
	aborts(bad_header, "plan=gss,trim=0,verify=all", "an overwritten header aborts");
	aborts(bad_length, "plan=semispace,trim=0,verify=all", "an overwritten length aborts");
	aborts(bad_length, "plan=gss,trim=0,verify=pre", "an overwritten length aborts");
	aborts(kept_too_much, "plan=marksweep,trim=0,verify=trace",
	       "an unreachable object that is kept aborts");
	aborts(kept_too_much, "plan=immix,trim=0,verify=trace",
	       "an unreachable object that is kept aborts");
	aborts(kept_too_much, "plan=semispace,trim=0,verify=trace",
	       "an unreachable object that is kept aborts");
	aborts(kept_too_much, "plan=gss,trim=0,verify=trace",
	       "an unreachable object that is kept aborts");
	aborts(kept_too_little, "plan=marksweep,trim=0,verify=trace",
	       "a reachable object that is not kept aborts");
	aborts(kept_too_little, "plan=immix,trim=0,verify=trace",
	       "a reachable object that is not kept aborts");
	aborts(after_it, "plan=cms,policy=fg,verify=post",
	       "a broken reference after the collection aborts");
	aborts(copied_too_much, "plan=semispace,trim=0", "an overwritten length aborts");
	aborts(copied_too_much, "plan=gss,trim=0", "an overwritten length aborts");
	aborts(no_barrier, "plan=gencms,policy=fg,verify=card,heap=1M",
	       "a missing write barrier aborts");
	aborts(no_barrier, "plan=stickyimmix,trim=0,verify=card,heap=1M",
	       "a missing write barrier aborts");
	aborts(no_barrier, "plan=gss,trim=0,promote=naive,p=1,verify=card,heap=1M",
	       "a missing write barrier aborts");
	counts("plan=marksweep,trim=0", 0);
	counts("plan=marksweep,trim=0,verify=pre", 1);
	counts("plan=marksweep,trim=0,verify=trace", 1);
	counts("plan=marksweep,trim=0,verify=post", 0);
	counts("plan=marksweep,trim=0,verify=all", 2);
	counts("plan=immix,trim=0,verify=all", 2);
	counts("plan=semispace,trim=0,verify=all", 2);
	counts("plan=gss,trim=0,verify=all", 2);
	counts("plan=cms,policy=fg,verify=card", 1);
	counts("plan=cms,policy=fg,verify=all", 3);
	return done();
}
