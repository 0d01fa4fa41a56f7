// SPDX-License-Identifier: MIT
/*
 * Description: a thread that is canceled, wherever it is, leaves the heap to the others: it holds
 * no lock, no collection waits for it, and the heap is whole. Callbacks and the listener are
 * points of cancellation here, and so are the waits of the library.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define HANGS_S 200 /* only what hangs takes as long */

struct node {
	struct gc_header header;
	struct node *next;
	uint64_t number;
};

static struct gc_heap *heap;
static const struct gc_type *type;
static unsigned long work; /* of the threads that are to be canceled */
static bool over;
/* Between these, there is a thread that may be canceled. */
static sem_t begun;

static void event_receive(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	pthread_testcancel();
}

static const struct gc_listener_ops ops = {
	.cycle_begin = event_receive,
	.cycle_end = event_receive,
	.requesting_stop = event_receive,
	.stopped = event_receive,
	.roots_done = event_receive,
	.restarting = event_receive,
	.restarted = event_receive,
	.mark_begin = event_receive,
	.mark_end = event_receive,
	.copy_begin = event_receive,
	.sweep_end = event_receive,
	.mutator_paused = event_receive,
	.mutator_resumed = event_receive,
	.mutator_attached = event_receive,
	.mutator_detached = event_receive,
	.help_begin = event_receive,
	.help_end = event_receive,
};

static void roots_visit(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)visit;
	(void)visit_arg;
	(void)arg;
	pthread_testcancel();
}

static void mutator_leave(void *m)
{
	((struct gc_mutator *)m)->frames = NULL;
	gc_mutator_detach(m);
}

static void mutator_unpark(void *m)
{
	gc_unpark(m);
}

/* Its caller's frame is left only when it is back: see gc_park(). */
static __attribute__((noinline)) void parked_wait(struct gc_mutator *m)
{
	gc_park(m);
	pthread_cleanup_push(mutator_unpark, m);
	pthread_testcancel();
	pthread_cleanup_pop(1);
}

/* Everything that may wait for another thread */
static void mutator_work(struct gc_mutator *m, bool steady)
{
	struct {
		struct gc_frame head;
		struct node *list;
	} f;
	struct node *fresh;

	GC_PUSH(m, f);
	for (unsigned long i = 1; !steady || !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
		fresh = GC_NEW(m, type, struct node);
		if (fresh) {
			fresh->number = i;
			gc_init(&fresh->next, i % 1000 ? f.list : NULL);
			f.list = fresh;
		}
		if (!(i % 256)) {
			gc_collect(m);
		} else if (!(i % 97)) {
			parked_wait(m);
		}
		gc_safepoint(m);
		if (!steady)
			__atomic_fetch_add(&work, 1, __ATOMIC_RELAXED);
	}
	GC_POP(m, f);
}

static void *victim_main(void *arg)
{
	struct gc_mutator *m;
	int state;

	/* It may be canceled from where it has a mutator on. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (gc_mutator_attach(heap, &m))
		return arg;
	pthread_cleanup_push(mutator_leave, m);
	sem_post(&begun);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	mutator_work(m, false);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *steady_main(void *arg)
{
	struct gc_mutator *m;

	if (gc_mutator_attach(heap, &m))
		return arg;
	sem_post(&begun);
	mutator_work(m, true);
	gc_mutator_detach(m);
	return NULL;
}

/* False: the thread does not end. */
static bool thread_end(pthread_t thread, void **result)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HANGS_S;
	return !pthread_timedjoin_np(thread, result, &until);
}

struct run {
	const char *options;
	unsigned int rounds;
};

static int cancel_run(void *arg)
{
	static struct gc_listener listener = { .ops = &ops };
	const struct run *r = arg;
	struct gc_type_desc d = { .name = "node",
				  .size = sizeof(struct node),
				  .refs = 1u << sizeof(struct gc_header) / sizeof(void *) };
	uint64_t rng = 1;
	struct gc_mutator *m;
	struct gc_error err;
	pthread_t steady;
	void *result;

	WANT(!sem_init(&begun, 0, 0));
	WANT(!gc_heap_create(&heap, r->options, &listener, &err));
	type = gc_type_register(heap, &d, &err);
	gc_roots_callback(heap, roots_visit, NULL);
	WANT(type && !pthread_create(&steady, NULL, steady_main, NULL));
	sem_wait(&begun);
	for (unsigned int i = 0; i < r->rounds; i++) {
		unsigned long until;
		pthread_t victim;

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		until = __atomic_load_n(&work, __ATOMIC_RELAXED) + (rng >> 33) % 3000;
		WANT(!pthread_create(&victim, NULL, victim_main, NULL));
		sem_wait(&begun);
		for (unsigned int ms = 0; __atomic_load_n(&work, __ATOMIC_RELAXED) < until; ms++) {
			WANT(ms < 1000 * HANGS_S);
			usleep(1000);
		}
		pthread_cancel(victim);
		WANT(thread_end(victim, &result));
		WANT(result == PTHREAD_CANCELED);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	WANT(thread_end(steady, &result));
	WANT(!result);
	WANT(!gc_mutator_attach(heap, &m));
	gc_collect_full(m);
	WANT(!gc_verify(m, &err));
	gc_mutator_detach(m);
	WANT(!gc_heap_destroy(heap));
	return 0;
}

int main(void)
{
	static const char *const rows[] = {
		"plan=cms",	    "plan=cms,policy=bg", "plan=cms,stress=4K,safepoint=sleep",
		"plan=cmsfly",	    "plan=gencms",	  "plan=gss,workers=3",
		"plan=immix",	    "plan=marksweep",	  "plan=semispace,workers=3",
		"plan=stickyimmix",
	};
	static char text[4096];
	const char *gate = getenv("GCHINT_CHECK");
	char options[160];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r = { options, gate && !strcmp(gate, "gate") ? 20 : 300 };
		int status;

		snprintf(options, sizeof(options), "%s,heap=2M,max=16M", rows[i]);
		status = child(cancel_run, &r, text, sizeof(text));
		if (!ok(!status, "%s: threads can be canceled anywhere", rows[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
