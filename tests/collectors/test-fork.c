// SPDX-License-Identifier: MIT
/*
 * Description: after fork() both processes go on with their copy of each heap, whatever the other
 * threads were doing; the child collects, starts its own daemon and destroys the heaps.
 */
#include "tap.h"

#include <gchint/gc.h>
#include <pthread.h>
#include <time.h>

#define THREADS 2
#define LENGTH	2000
#define FORKS	3

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

struct frame {
	struct gc_frame head;
	struct node *list, *fresh;
};

static struct gc_heap *heap, *other;
static const struct gc_type *type, *other_type;
static int quit, ready;

static bool build(struct gc_mutator *m, const struct gc_type *of, struct frame *f)
{
	f->list = NULL;
	for (long n = 0; n < LENGTH; n++) {
		f->fresh = GC_NEW(m, of, struct node);
		if (!f->fresh)
			return false;
		f->fresh->value = n;
		gc_init(&f->fresh->next, f->list);
		f->list = f->fresh;
	}
	f->fresh = NULL;
	return true;
}

static bool whole(const struct frame *f)
{
	long left = LENGTH;

	for (const struct node *n = f->list; n; n = n->next)
		if (n->value != --left)
			return false;
	return !left;
}

/* Allocates, parks and collects all the time. */
static void *work(void *arg)
{
	struct gc_mutator *m;
	struct frame f;

	if (gc_mutator_attach(heap, &m))
		return NULL;
	GC_PUSH(m, f);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST)) {
		if (!build(m, type, &f) || !whole(&f))
			exit(7);
		gc_park(m);
		sched_yield();
		gc_unpark(m);
		if (arg)
			gc_collect(m);
	}
	GC_POP(m, f);
	gc_mutator_detach(m);
	return arg;
}

struct family {
	struct gc_mutator *m; /* of the forking thread; NULL: it is not attached */
	struct frame *f;
	bool parked, daemon;
};

/* The other heap, which the forking thread is not attached to */
static int use_other(void)
{
	struct gc_mutator *m;
	struct gc_error err;
	struct frame f;

	WANT(!gc_mutator_attach(other, &m));
	GC_PUSH(m, f);
	WANT(build(m, other_type, &f));
	gc_collect_full(m);
	WANT(whole(&f) && !gc_verify(m, &err));
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(other);
}

static int in_child(void *arg)
{
	struct family *at = arg;
	struct gc_mutator *m = at->m;
	struct gc_heap_stats s, then;
	struct frame own, *f = at->f;
	struct gc_error err;
	pthread_t thread;

	if (!m) {
		WANT(!gc_mutator_attach(heap, &m));
		GC_PUSH(m, own);
		f = &own;
		WANT(build(m, type, f));
	} else if (at->parked) {
		gc_unpark(m);
	}
	WANT(whole(f) && !gc_verify(m, &err));
	gc_collect_full(m);
	WANT(whole(f) && !gc_verify(m, &err));
	/* A thread of the child's own */
	quit = ready = 0;
	WANT(!pthread_create(&thread, NULL, work, NULL));
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		gc_safepoint(m);
	gc_collect_full(m);
	gc_heap_stats(heap, &then);
	/* Allocation alone makes the daemon collect. */
	do {
		f->list = NULL;
		WANT(build(m, type, f) && whole(f));
		gc_heap_stats(heap, &s);
	} while (at->daemon &&
		 s.by_cause[GC_CAUSE_CONCURRENT] == then.by_cause[GC_CAUSE_CONCURRENT]);
	__atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
	gc_park(m);
	WANT(!pthread_join(thread, NULL));
	gc_unpark(m);
	gc_collect_full(m);
	WANT(whole(f) && !gc_verify(m, &err));
	GC_POP(m, *f);
	gc_mutator_detach(m);
	WANT(!gc_heap_destroy(heap));
	return use_other();
}

static bool fork_one(const char *plan, struct family *at, const char *how)
{
	char text[512];
	int status;

	if (at->m && at->parked)
		gc_park(at->m);
	status = child(in_child, at, text, sizeof(text));
	if (at->m && at->parked)
		gc_unpark(at->m);
	if (status) {
		ok(false, "%s: the child of a thread that is %s goes on", plan, how);
		printf("# status %#x: %s\n", status, text);
	}
	return !status && (!at->m || whole(at->f));
}

static struct family unattached;
static const char *plan_now;

static void *fork_unattached(void *arg)
{
	for (int i = 0; i < FORKS; i++)
		if (!fork_one(plan_now, &unattached, "not attached"))
			return NULL;
	return arg;
}

static void family(const char *plan, bool daemon)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	pthread_t thread[THREADS], forking;
	struct frame f;
	struct family at = { .f = &f, .daemon = daemon };
	struct gc_error err = { .text = "no memory for a mutator" };
	bool good = true;
	char options[160];
	void *ret;

	snprintf(options, sizeof(options),
		 "%s,heap=2M,max=32M,minfree=256K,maxfree=512K,verify=all", plan);
	plan_now = plan;
	quit = ready = 0;
	unattached = (struct family){ .daemon = daemon };
	if (gc_heap_create(&other, "plan=immix,heap=2M", NULL, &err) ||
	    gc_heap_create(&heap, options, NULL, &err) || gc_mutator_attach(heap, &at.m)) {
		ok(false, "%s starts: %s", plan, err.text);
		return;
	}
	type = gc_type_register(heap, &d, NULL);
	other_type = gc_type_register(other, &d, NULL);
	GC_PUSH(at.m, f);
	good &= build(at.m, type, &f);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, i ? (void *)&f : NULL);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
		gc_safepoint(at.m);
	at.parked = true;
	for (int i = 0; i < FORKS && good; i++)
		good = fork_one(plan, &at, "parked");
	ok(good, "%s: a parked thread forks", plan);
	/* Two threads fork at the same time; and the one that runs keeps the others waiting. */
	at.parked = false;
	pthread_create(&forking, NULL, fork_unattached, &f);
	for (int i = 0; i < FORKS && good; i++)
		good = fork_one(plan, &at, "running");
	gc_park(at.m);
	pthread_join(forking, &ret);
	gc_unpark(at.m);
	ok(good && ret, "%s: a running thread and one that is not attached fork at once", plan);
	__atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
	gc_park(at.m);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	gc_unpark(at.m);
	ok(whole(&f) && !gc_verify(at.m, &err), "%s: the parent's heap is whole", plan);
	GC_POP(at.m, f);
	gc_mutator_detach(at.m);
	ok(!gc_heap_destroy(heap) && !gc_heap_destroy(other), "%s: the parent destroys its heaps",
	   plan);
}

int main(void)
{
	family("plan=cms", true);
	family("plan=cms,policy=bg", false);
	family("plan=cmsfly", true);
	family("plan=gencms", true);
	family("plan=gss,workers=3", false);
	family("plan=immix", false);
	family("plan=marksweep,trim=.01", false);
	family("plan=semispace,workers=3", false);
	family("plan=stickyimmix", false);
	return done();
}
