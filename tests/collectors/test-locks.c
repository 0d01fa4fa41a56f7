// SPDX-License-Identifier: MIT
/*
 * Description: every lock and condition is initialised before it is used and destroyed once; a
 * lock is released by the thread that took it and not taken twice; a waiting thread holds the
 * lock of its condition. The wrapped functions check that.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <api/fork.h>
#include <errno.h>
#include <gchint/gc.h>
#include <pthread.h>
#include <sched.h>

#define MUTATORS 3
#define ROUNDS	 40
#define STEPS	 400
#define KNOWN	 64

struct node {
	struct gc_header header;
	struct node *next;
	void *other;
};

/* ---- locks that check themselves ---------------------------------------- */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static const void *known[KNOWN];
static const char *row;
static long taken;
/* Of this thread: what it holds */
static __thread int holds;

int __real_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_destroy(pthread_mutex_t *lock);
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_trylock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __real_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int __real_pthread_cond_destroy(pthread_cond_t *cond);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until);

int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until);

/* What would come after that may wait for ever. */
static void wrong(bool is, const char *what)
{
	if (!is)
		return;
	ok(false, "%s: %s", row, what);
	_exit(1);
}

/* Replaces @old, NULL a free place, by @new: false, and there was none. */
static bool replace(const void *old, const void *new)
{
	int i;

	__real_pthread_mutex_lock(&table);
	for (i = 0; i < KNOWN && known[i] != old; i++)
		;
	if (i < KNOWN)
		known[i] = new;
	__real_pthread_mutex_unlock(&table);
	return i < KNOWN;
}

static bool is_known(const void *p)
{
	/* It exists before the first heap. */
	return p == &gc_heaps_lock || replace(p, p);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr)
{
	pthread_mutexattr_t checks;

	(void)attr;
	wrong(is_known(lock) || !replace(NULL, lock), "a lock is made twice");
	pthread_mutexattr_init(&checks);
	pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
	return __real_pthread_mutex_init(lock, &checks);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_destroy(lock);

	wrong(ret || !replace(lock, NULL), "a lock is unmade that is held or was not made");
	return ret;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	int ret;

	wrong(!is_known(lock), "a lock is taken that was not made");
	ret = __real_pthread_mutex_lock(lock);
	wrong(ret, "a lock is taken twice");
	holds += !ret;
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	return ret;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock)
{
	int ret;

	wrong(!is_known(lock), "a lock is tried that was not made");
	ret = __real_pthread_mutex_trylock(lock);
	wrong(ret && ret != EBUSY, "a lock cannot be tried");
	holds += !ret;
	return ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_unlock(lock);

	wrong(ret, "a lock is given back by who does not hold it");
	holds -= !ret;
	return ret;
}

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	wrong(is_known(cond) || !replace(NULL, cond), "a condition is made twice");
	return __real_pthread_cond_init(cond, attr);
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
	wrong(!replace(cond, NULL), "a condition is unmade that was not made");
	return __real_pthread_cond_destroy(cond);
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	wrong(!is_known(cond) || !holds, "a condition is signalled without its lock");
	return __real_pthread_cond_signal(cond);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	wrong(!is_known(cond) || !holds, "a condition is told to all without its lock");
	return __real_pthread_cond_broadcast(cond);
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	int ret = __real_pthread_cond_wait(cond, lock);

	wrong(ret || !is_known(cond) || holds != 1, "a condition is waited for without its lock");
	return ret;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until)
{
	int ret = __real_pthread_cond_timedwait(cond, lock, until);

	wrong((ret && ret != ETIMEDOUT) || !is_known(cond) || holds != 1,
	      "a condition is waited for without its lock");
	return ret;
}

/* ---- a program that takes all of them ----------------------------------- */

static struct gc_heap *heap;
static const struct gc_type *type, *bytes;

static void no_roots(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)visit;
	(void)visit_arg;
	(void)arg;
}

static void round_of(struct gc_mutator *m, int round)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
		void *large, *weak;
	} f;
	struct gc_heap_stats s;
	void *slot[1] = { NULL };

	GC_PUSH(m, f);
	wrong(gc_roots_add(heap, slot, 1), "roots are added");
	for (int i = 0; i < STEPS; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		if (!f.fresh)
			continue;
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
		if (i % 100)
			continue;
		f.large = gc_alloc_array(m, bytes, 20000);
		f.weak = gc_weak_new(m, (void **)&f.fresh);
		gc_finalizer_add(m, f.fresh);
	}
	slot[0] = f.list;
	gc_heap_stats(heap, &s);
	if (round % 8 == 0)
		gc_collect(m);
	if (round % 8 == 4)
		gc_collect_full(m);
	while (gc_finalizer_next(m))
		;
	wrong(gc_roots_remove(heap, slot), "roots are removed");
	gc_park(m);
	wrong(holds, "who parks holds a lock");
	sched_yield();
	gc_unpark(m);
	GC_POP(m, f);
}

static void *work(void *arg)
{
	struct gc_mutator *m;

	if (gc_mutator_attach(heap, &m))
		return arg;
	for (int i = 0; i < ROUNDS; i++)
		round_of(m, i);
	gc_mutator_detach(m);
	wrong(holds, "who leaves holds a lock");
	return NULL;
}

static void in_order(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	pthread_t others[MUTATORS];
	struct gc_error err;

	taken = 0;
	row = options;
	if (gc_heap_create(&heap, options, NULL, &err)) {
		ok(false, "%s starts: %s", options, err.text);
		return;
	}
	type = gc_type_register(heap, &d, NULL);
	bytes = gc_type_register(heap, &b, NULL);
	gc_roots_callback(heap, no_roots, NULL);
	for (int i = 0; i < MUTATORS; i++)
		pthread_create(&others[i], NULL, work, NULL);
	for (int i = 0; i < MUTATORS; i++)
		pthread_join(others[i], NULL);
	gc_heap_destroy(heap);
	for (int i = 0; i < KNOWN; i++)
		wrong(known[i], "a lock or a condition is left");
	memset(known, 0, sizeof(known));
	ok(!holds && taken > 100, "%s: locks are taken and released in order", options);
}

int main(void)
{
	static const char *const rows[] = {
		"plan=cms,heap=2M,max=16M",
		"plan=cms,heap=2M,max=16M,policy=bg",
		"plan=cms,heap=2M,max=16M,policy=adaptive,workers=3",
		"plan=cmsfly,heap=2M,max=16M,profiler=64K",
		"plan=gencms,heap=2M,max=16M",
		"plan=gss,nursery=256K,heap=2M,max=16M,workers=3",
		"plan=gss,nursery=256K,heap=2M,max=16M,workers=3,help=0",
		"plan=immix,heap=2M,max=16M,workers=3",
		"plan=marksweep,heap=2M,max=16M,workers=3",
		"plan=semispace,heap=2M,max=16M,workers=3",
		"plan=semispace,heap=2M,max=16M,workers=3,help=0",
		"plan=semispace,heap=2M,max=16M,workers=1",
		"plan=stickyimmix,heap=2M,max=16M,workers=3",
	};

	alarm(CHILD_S);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		in_order(rows[i]);
	return done();
}
