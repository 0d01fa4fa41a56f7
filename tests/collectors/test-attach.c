// SPDX-License-Identifier: MIT
/*
 * Description: a thread runs in one heap at a time, and is parked in others; several heaps live in
 * one process.
 */
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>
#include <pthread.h>

#define NODES 20000

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

static struct gc_heap *heap[2];
static const struct gc_type *type[2];
static int ready;

static bool create(int i, const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_error err;

	if (gc_heap_create(&heap[i], options, NULL, &err))
		return ok(false, "%s starts: %s", options, err.text);
	type[i] = gc_type_register(heap[i], &d, NULL);
	return true;
}

/* Builds a list on heap @i, with collections; false: it is broken, or there is no mutator. */
static bool use(int i)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;
	struct gc_mutator *m;
	long sum = 0;

	if (gc_mutator_attach(heap[i], &m))
		return false;
	GC_PUSH(m, f);
	for (long n = 0; n < NODES; n++) {
		f.fresh = GC_NEW(m, type[i], struct node);
		f.fresh->value = 1;
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
		if (n % (NODES / 8) == 0)
			gc_collect_full(m);
	}
	for (struct node *n = f.list; n; n = n->next)
		sum += n->value;
	GC_POP(m, f);
	gc_mutator_detach(m);
	return sum == NODES;
}

struct list {
	struct gc_frame head;
	struct node *list, *fresh;
};

static long list_sum(const struct node *n)
{
	long sum = 0;

	for (; n; n = n->next)
		sum += n->value;
	return sum;
}

/* Both heaps, of which the thread is parked in m[parked], in a child of it */
static bool child_uses(struct gc_mutator *m[2], struct list f[2], int parked)
{
	long sum[2] = { list_sum(f[0].list), list_sum(f[1].list) };
	int status;
	pid_t pid = fork();

	if (!pid) {
		gc_collect_full(m[!parked]);
		gc_park(m[!parked]);
		gc_unpark(m[parked]);
		gc_collect_full(m[parked]);
		_exit(list_sum(f[parked].list) != sum[parked] ||
		      list_sum(f[!parked].list) != sum[!parked]);
	}
	gc_park(m[!parked]);
	waitpid(pid, &status, 0);
	gc_unpark(m[!parked]);
	return pid > 0 && !status;
}

/*
 * A list in each heap, which grow by turns: the thread goes from one to the other, each time with a
 * collection there, and another thread does the same in the other order.
 */
static void *alternate(void *arg)
{
	int mine = *(int *)arg;
	struct gc_mutator *m[2];
	struct list f[2];
	bool good = true;

	for (int i = 0; i < 2; i++) {
		int at = i ^ mine;

		if (gc_mutator_attach(heap[at], &m[at]))
			return NULL;
		GC_PUSH(m[at], f[at]);
		gc_park(m[at]);
	}
	for (int n = 0; n < 400; n++) {
		int at = (n ^ mine) & 1;

		gc_unpark(m[at]);
		for (int i = 0; i < 50; i++) {
			f[at].fresh = GC_NEW(m[at], type[at], struct node);
			f[at].fresh->value = n;
			gc_init(&f[at].fresh->next, f[at].list);
			f[at].list = f[at].fresh;
		}
		gc_collect(m[at]);
		if (n % 100 == 99)
			good &= child_uses(m, f, !at);
		gc_park(m[at]);
	}
	for (int i = 0; i < 2; i++) {
		gc_unpark(m[i]);
		good &= list_sum(f[i].list) == 50 * (i == mine ? 199 * 200 : 200 * 200);
		GC_POP(m[i], f[i]);
		/* The other one stays parked until the thread ends. */
		if (i)
			gc_mutator_detach(m[i]);
		else
			gc_park(m[i]);
	}
	return good ? arg : NULL;
}

/* Both threads want both heaps, and collect one each while the other thread has it, too. */
static void *want_both(void *arg)
{
	int mine = *(int *)arg, refused;
	struct gc_mutator *m, *other;

	if (gc_mutator_attach(heap[mine], &m))
		return NULL;
	refused = gc_mutator_attach(heap[!mine], &other) == -EBUSY &&
		  gc_mutator_attach(heap[mine], &other) == -EBUSY;
	if (!refused)
		return NULL;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
		gc_safepoint(m);
	for (int i = 0; i < 100; i++)
		gc_collect_full(m);
	gc_mutator_detach(m);
	return use(!mine) ? arg : NULL;
}

static void both(const char *first, const char *second)
{
	static int number[2] = { 0, 1 };
	pthread_t thread[2];
	bool good = true;
	void *ret;

	ready = 0;
	if (!create(0, first) || !create(1, second))
		return;
	ok(use(0) && use(1) && use(0), "%s and %s: a thread uses one after the other", first,
	   second);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, want_both, &number[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &ret);
		good &= ret != NULL;
	}
	ok(good,
	   "%s and %s: a second heap at the same time is refused, so no thread waits for ever",
	   first, second);
	good = true;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, alternate, &number[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &ret);
		good &= ret != NULL;
	}
	ok(good, "%s and %s: threads are attached to both, and parked in one", first, second);
	ok(!gc_heap_destroy(heap[0]) && !gc_heap_destroy(heap[1]), "%s and %s: no mutator is left",
	   first, second);
}

int main(void)
{
	both("plan=cms,verify=all", "plan=gss,verify=all");
	both("plan=semispace,verify=all", "plan=semispace,verify=all");
	both("plan=stickyimmix,verify=all", "plan=cmsfly,verify=all");
	return done();
}
