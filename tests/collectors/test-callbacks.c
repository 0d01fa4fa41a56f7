// SPDX-License-Identifier: MIT
/*
 * Description: several callbacks add roots, and the out-of-memory callback runs before an
 * allocation is refused, also after it was left by longjmp(); under every plan, with verification.
 */
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>
#include <pthread.h>
#include <setjmp.h>

#define PARTS	3
#define THREADS 3

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

struct part {
	struct node *list;
	long length, calls;
};

static struct gc_heap *heap;
static struct gc_mutator *m;
static const struct gc_type *type;

static int start(const char *plan, const char *rest)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_error err = { .text = "no memory for a mutator" };
	char options[160];

	snprintf(options, sizeof(options), "plan=%s,trim=0,%s", plan, rest);
	if (gc_heap_create(&heap, options, NULL, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	type = gc_type_register(heap, &d, NULL);
	return 0;
}

static int stop(void)
{
	struct gc_error err;

	if (gc_verify(m, &err)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}

static bool push_of(struct gc_mutator *own, struct part *p)
{
	struct node *n = GC_NEW(own, type, struct node);

	if (!n)
		return false;
	gc_init(&n->next, p->list);
	n->value = p->length++;
	p->list = n;
	return true;
}

static bool push(struct part *p)
{
	return push_of(m, p);
}

static bool whole(const struct part *p)
{
	long left = p->length;

	for (const struct node *n = p->list; n; n = n->next)
		if (n->value != --left)
			return false;
	return !left;
}

static void visit_part(gc_visit_fn visit, void *visit_arg, void *arg)
{
	struct part *p = arg;

	p->calls++;
	visit((void **)&p->list, visit_arg);
}

static int several(void *plan)
{
	struct part part[PARTS] = { 0 }, lone = { 0 };
	struct gc_heap_stats s;
	long calls;

	if (start(plan, "max=32M,verify=all,stress=64K"))
		return 1;
	gc_roots_callback(heap, visit_part, &lone);
	for (int i = 0; i < PARTS; i++)
		WANT(!gc_roots_callback_add(heap, visit_part, &part[i]));
	WANT(gc_roots_callback_add(heap, visit_part, &part[1]) == -EEXIST);
	for (long i = 0; i < 6000; i++) {
		WANT(GC_NEW(m, type, struct node));
		WANT(push(i % 4 == 3 ? &lone : &part[i % 4]));
	}
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	WANT(s.live_objects == 6000);
	for (int i = 0; i < PARTS; i++)
		WANT(whole(&part[i]) && part[i].calls);
	WANT(whole(&lone) && lone.calls);

	WANT(!gc_roots_callback_remove(heap, visit_part, &part[0]));
	WANT(gc_roots_callback_remove(heap, visit_part, &part[0]) == -ENOENT);
	calls = part[0].calls;
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	WANT(s.live_objects == 4500 && part[0].calls == calls);
	WANT(whole(&part[1]) && whole(&part[2]) && whole(&lone));

	part[0] = (struct part){ 0 };
	WANT(!gc_roots_callback_add(heap, visit_part, &part[0]));
	for (long i = 0; i < 2000; i++)
		WANT(push(&part[0]));
	gc_roots_callback(heap, NULL, NULL);
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	WANT(s.live_objects == 5000 && whole(&part[0]) && whole(&part[1]) && whole(&part[2]));
	return stop();
}

static struct part kept, cache;
static long asked, within;
static bool stubborn;

static bool let_go(struct gc_mutator *own, size_t bytes, enum gc_refusal why, void *arg)
{
	long before = asked++;

	(void)arg;
	if (own != m || bytes != sizeof(struct node) ||
	    (why != GC_REFUSED_FULL && why != GC_REFUSED_OVERHEAD))
		exit(9);
	/* What it allocates is refused without asking it, or served. */
	while (cache.list && push(&cache))
		;
	within += asked != before + 1;
	if (stubborn)
		return true;
	if (!cache.list)
		return false;
	cache = (struct part){ 0 };
	return true;
}

/* Until it is full: what is refused for the time that collections take may come before. */
static long fill_up(struct part *p)
{
	long refusals = 0;

	do {
		while (push(p))
			;
		refusals++;
	} while (gc_refused(m) == GC_REFUSED_OVERHEAD && refusals < 1000);
	return refusals;
}

static int full(void *plan)
{
	long held, refusals;

	if (start(plan, "heap=1M,max=2M,verify=all,stress=64K"))
		return 1;
	WANT(!gc_roots_callback_add(heap, visit_part, &kept));
	WANT(!gc_roots_callback_add(heap, visit_part, &cache));
	/* No callback: refused. */
	fill_up(&cache);
	held = cache.length;
	WANT(gc_refused(m) == GC_REFUSED_FULL);
	gc_oom_callback(heap, let_go, NULL);
	/* Served: what little room a refused one has left, then the cache went. */
	do
		WANT(push(&kept));
	while (!asked && kept.length < held);
	WANT(asked >= 1 && !cache.list && whole(&kept));
	/* Until nothing is left to let go of. */
	asked = 0;
	refusals = fill_up(&kept);
	WANT(asked == refusals && !within);
	WANT(gc_refused(m) == GC_REFUSED_FULL);
	WANT(kept.length * 10 > held * 7 && whole(&kept));
	/* Who says "again" in vain is not asked for ever. */
	stubborn = true;
	do
		asked = 0;
	while (push(&kept));
	WANT(asked == GC_OOM_ATTEMPTS && whole(&kept));
	gc_oom_callback(heap, NULL, NULL);
	while (push(&kept))
		;
	WANT(asked == GC_OOM_ATTEMPTS);
	kept = (struct part){ 0 };
	WANT(push(&kept));
	return stop();
}

static struct part share[THREADS];
static __thread struct part *mine;
static int inside;

/* Nobody lets go before all are asked: none waits for another's answer. */
static bool meet(struct gc_mutator *own, size_t bytes, enum gc_refusal why, void *arg)
{
	(void)bytes;
	(void)why;
	(void)arg;
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) < THREADS)
		gc_safepoint(own);
	mine->calls++;
	mine->list = NULL;
	mine->length = 0;
	return true;
}

static void visit_share(gc_visit_fn visit, void *visit_arg, void *arg)
{
	struct part *p = arg;

	visit((void **)&p->list, visit_arg);
}

/* Until it was asked, which its last allocation outlives. */
static void *fill(void *arg)
{
	struct gc_mutator *own;
	bool served = true;

	mine = arg;
	if (gc_mutator_attach(heap, &own))
		return NULL;
	while (served && !mine->calls)
		served = push_of(own, mine);
	served &= mine->length == 1 && whole(mine);
	gc_mutator_detach(own);
	return served ? mine : NULL;
}

static int at_once(void *plan)
{
	pthread_t thread[THREADS];
	bool good = true;
	void *done;

	if (start(plan, "heap=1M,max=2M,verify=all,stress=64K"))
		return 1;
	gc_oom_callback(heap, meet, NULL);
	for (int i = 0; i < THREADS; i++) {
		WANT(!gc_roots_callback_add(heap, visit_share, &share[i]));
		WANT(!pthread_create(&thread[i], NULL, fill, &share[i]));
	}
	gc_park(m);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &done);
		good &= done == &share[i];
	}
	gc_unpark(m);
	WANT(good);
	return stop();
}

static jmp_buf handler;
static int thrown, nested;
static void *filled;
static struct part inner;

/*
 * Its own allocation is refused, and it does not return. It keeps what it allocates: when it is
 * called for the time that collections take, there is room, in which garbage is served for ever.
 */
static bool oom_throw(struct gc_mutator *own, size_t bytes, enum gc_refusal why, void *arg)
{
	(void)bytes;
	(void)why;
	(void)arg;
	thrown++;
	while (push_of(own, &inner))
		;
	inner = (struct part){ 0 };
	nested++;
	longjmp(handler, 1);
}

/* Fill the heap behind a frame, at some depth of the stack. */
static __attribute__((noinline)) void fill_deep(int depth)
{
	volatile char space[200] = { (char)depth };
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;

	if (depth) {
		fill_deep(depth - 1);
	} else {
		GC_PUSH(m, f);
		while ((f.fresh = GC_NEW(m, type, struct node))) {
			gc_init(&f.fresh->next, f.list);
			f.list = f.fresh;
		}
		GC_POP(m, f);
	}
	/* Not a jump: the space above is used. */
	filled = (void *)(uintptr_t)space[0];
}

static int thrown_out(void *plan)
{
	/* First deeper and deeper, then less; setjmp() keeps what is static. */
	static const int depths[] = { 0, 3, 9, 30, 30, 4, 0 };
	static int i;

	if (start(plan, "heap=1M,max=2M,verify=post"))
		return 1;
	WANT(!gc_roots_callback_add(heap, visit_part, &inner));
	gc_oom_callback(heap, oom_throw, NULL);
	for (i = 0; i < (int)(sizeof(depths) / sizeof(depths[0])); i++) {
		if (!setjmp(handler)) {
			fill_deep(depths[i]);
			WANT(!"refused without a call");
		}
		WANT(thrown == i + 1 && nested == i + 1);
		m->frames = NULL;
	}
	/* Returned as well as left: it is called again either way. */
	gc_oom_callback(heap, NULL, NULL);
	fill_deep(2);
	WANT(thrown == i);
	return stop();
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	char text[512];
	int status;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		status = child(several, (void *)(uintptr_t)plans[i], text, sizeof(text));
		if (!ok(!status, "%s: roots of each callback are kept until it is removed",
			plans[i]))
			printf("# status %#x: %s\n", status, text);
		status = child(full, (void *)(uintptr_t)plans[i], text, sizeof(text));
		if (!ok(!status,
			"%s: the out-of-memory callback is called before an allocation is refused",
			plans[i]))
			printf("# status %#x: %s\n", status, text);
		status = child(at_once, (void *)(uintptr_t)plans[i], text, sizeof(text));
		if (!ok(!status, "%s: on several threads at once, all of which are served",
			plans[i]))
			printf("# status %#x: %s\n", status, text);
		status = child(thrown_out, (void *)(uintptr_t)plans[i], text, sizeof(text));
		if (!ok(!status, "%s: again after it was left by longjmp()", plans[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
