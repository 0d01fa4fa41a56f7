// SPDX-License-Identifier: MIT
/*
 * Description: when roots are visited: those of the program while every mutator is stopped,
 * those of a thread in the order in which threads stopped; each object is counted once.
 */
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <time.h>

#define THREADS 3
#define CYCLES	12

struct node {
	struct gc_header header;
	struct node *next;
	long pad;
};

static struct gc_heap *heap;
static struct gc_mutator *m;
static const struct gc_type *type;

static bool start(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_error err = { .text = "no memory for a mutator" };

	if (gc_heap_create(&heap, options, NULL, &err) || gc_mutator_attach(heap, &m))
		return ok(false, "%s starts: %s", options, err.text);
	type = gc_type_register(heap, &d, NULL);
	return true;
}

static void stop(void)
{
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void rest(long us)
{
	struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- the program's roots -------------------------------------------------- */

static unsigned int steps[THREADS], quit, ready;
static unsigned int calls, moved;
static struct node *kept[4];

static void *walk(void *arg)
{
	unsigned int *mine = arg;
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return NULL;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(mine, 1, __ATOMIC_SEQ_CST);
		gc_safepoint(own);
	}
	gc_mutator_detach(own);
	return NULL;
}

/* Do mutators get on while this looks at what the program has? */
static void look(gc_visit_fn visit, void *visit_arg, void *arg)
{
	unsigned int before[THREADS];

	(void)arg;
	calls++;
	for (int i = 0; i < THREADS; i++)
		before[i] = __atomic_load_n(&steps[i], __ATOMIC_SEQ_CST);
	rest(2000);
	for (int i = 0; i < THREADS; i++)
		moved += __atomic_load_n(&steps[i], __ATOMIC_SEQ_CST) != before[i];
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		visit((void **)&kept[i], visit_arg);
}

static void program(const char *options)
{
	pthread_t thread[THREADS];
	struct gc_heap_stats s;
	bool same = true;

	if (!start(options))
		return;
	calls = moved = quit = ready = 0;
	gc_roots_callback(heap, look, NULL);
	for (long i = 0; i < 4; i++) {
		kept[i] = GC_NEW(m, type, struct node);
		kept[i]->pad = i;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, walk, &steps[i]);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
		rest(100);
	for (int i = 0; i < CYCLES; i++)
		gc_collect(m);
	__atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
	gc_park(m);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	gc_unpark(m);
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	for (long i = 0; i < 4; i++)
		same &= kept[i]->pad == i;
	if (!ok(calls >= CYCLES && !moved,
		"%s: the roots callback runs while every mutator is stopped", options))
		printf("# %u calls, in %u of them a mutator ran\n", calls, moved);
	ok(same && s.live_objects == 4, "%s: its roots are kept and counted once", options);
	stop();
}

/* ---- the order of arrival --------------------------------------------------- */

static int order[2 * THREADS + 2], scanned, turn[THREADS];

struct walker {
	pthread_t thread;
	int number;
};

static void note(gc_visit_fn visit, void *visit_arg, void *arg)
{
	const struct walker *w = arg;

	(void)visit;
	(void)visit_arg;
	if (scanned < (int)(sizeof(order) / sizeof(order[0])))
		order[scanned++] = w->number;
}

/* Attaches in the order of numbers, parks when told to. */
static void *wait_parked(void *arg)
{
	struct walker *w = arg;
	struct gc_mutator *own;

	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) != (unsigned int)w->number)
		rest(50);
	if (gc_mutator_attach(heap, &own))
		return NULL;
	gc_mutator_roots_callback(own, note, w);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&turn[w->number], __ATOMIC_SEQ_CST))
		rest(50);
	gc_park(own);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST))
		rest(50);
	gc_unpark(own);
	gc_mutator_detach(own);
	return NULL;
}

static void arrival(const int *arrive)
{
	struct walker w[THREADS];
	bool same = true;

	if (!start("plan=cmsfly,policy=fg,trim=0"))
		return;
	ready = quit = 0;
	scanned = 0;
	memset(turn, 0, sizeof(turn));
	for (int i = 0; i < THREADS; i++) {
		w[i].number = i;
		pthread_create(&w[i].thread, NULL, wait_parked, &w[i]);
	}
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
		rest(50);
	for (unsigned int i = 0; i < THREADS; i++) {
		__atomic_store_n(&turn[arrive[i]], 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS + i + 1)
			rest(50);
	}
	gc_collect(m);
	for (int i = 0; i < THREADS; i++)
		same &= i < scanned && order[i] == arrive[i];
	if (!ok(same, "cmsfly scans threads in order of arrival: %d %d %d", arrive[0], arrive[1],
		arrive[2]))
		printf("# scanned %d: %d %d %d\n", scanned, order[0], order[1], order[2]);
	__atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
	gc_park(m);
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	gc_unpark(m);
	stop();
}

/* ---- a callback that is added during the scan of stacks -------------------------- */

static bool in_stop;
static unsigned int stop_calls, run_calls;

static void count_calls(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)visit;
	(void)visit_arg;
	(void)arg;
	stop_calls += in_stop;
	run_calls += !in_stop;
}

static void on_request(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	/* As another thread may: the stacks of cmsfly are about to be scanned. */
	gc_roots_callback_add(heap, count_calls, NULL);
}

static void on_stopped(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	in_stop = true;
}

static void on_restart(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	in_stop = false;
}

static void added_late(const char *options)
{
	static const struct gc_listener_ops ops = { .requesting_stop = on_request,
						    .stopped = on_stopped,
						    .restarting = on_restart,
						    .restarted = on_restart };
	static struct gc_listener listener = { &ops };
	struct gc_error err = { .text = "no memory for a mutator" };

	stop_calls = run_calls = 0;
	if (gc_heap_create(&heap, options, &listener, &err) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts: %s", options, err.text);
		return;
	}
	gc_collect(m);
	if (!ok(stop_calls && !run_calls,
		"%s: a callback that is added while threads stop is called in a pause only",
		options))
		printf("# %u calls in a pause, %u beside mutators\n", stop_calls, run_calls);
	stop();
}

/* ---- counted once ----------------------------------------------------------- */

static int finger(void *arg)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh, *other[6];
	} f;
	struct gc_heap_stats s;
	struct gc_error err;
	int bad = 0;

	if (!start(arg))
		return 1;
	GC_PUSH(m, f);
	for (int i = 0; i < 1000; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
		f.other[i % 6] = f.fresh;
	}
	f.fresh = NULL;
	for (int i = 0; i < 3; i++) {
		gc_collect_full(m);
		gc_heap_stats(heap, &s);
		if (s.live_objects != 1000 || s.live_bytes != 1000 * sizeof(struct node)) {
			fprintf(stderr, "%llu objects, %llu bytes",
				(unsigned long long)s.live_objects,
				(unsigned long long)s.live_bytes);
			bad = 1;
		}
	}
	if (gc_verify(m, &err)) {
		fprintf(stderr, "%s", err.text);
		bad = 1;
	}
	GC_POP(m, f);
	stop();
	return bad;
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	static const char *const walks[] = { "plan=cms,trace=finger,verify=all,trim=0",
					     "plan=marksweep,trace=finger,trim=0",
					     "plan=marksweep,trace=finger,verify=all,trim=0" };
	static char text[1024];
	char options[64];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "plan=%s,trim=0", plans[i]);
		program(options);
	}
	added_late("plan=cms,policy=fg,trim=0");
	added_late("plan=cmsfly,policy=fg,trim=0");
	arrival((const int[]){ 0, 1, 2 });
	arrival((const int[]){ 2, 0, 1 });
	arrival((const int[]){ 2, 1, 0 });
	arrival((const int[]){ 1, 2, 0 });
	for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		int status = child(finger, (void *)(uintptr_t)walks[i], text, sizeof(text));

		if (!ok(!status, "%s: objects that several roots refer to are counted once",
			walks[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
