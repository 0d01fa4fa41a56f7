// SPDX-License-Identifier: MIT
/*
 * Description: the right to collect and the daemon's orders: no order is lost, and each thread
 * that waits for a cycle gets one, with and without an idle timer that would hide a lost order.
 */
#include "tap.h"

#include "policy/cycle-control.h"

#include <gchint/gc.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS	400
#define BYTES	(300u << 10)
#define LIVE	(3u << 20)

struct node {
	struct gc_header header;
	struct node *next;
	long pad[2];
};

static struct gc_heap *heap;
static const struct gc_type *node_type, *bytes_type;

static void *churn(void *arg)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;
	struct gc_mutator *m;
	long *served = arg;

	if (gc_mutator_attach(heap, &m))
		return NULL;
	GC_PUSH(m, f);
	for (size_t i = 0; i < LIVE / THREADS / sizeof(struct node); i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		if (!f.fresh)
			continue;
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
	}
	for (int i = 0; i < ROUNDS; i++)
		*served += !!gc_alloc_array(m, bytes_type, BYTES);
	GC_POP(m, f);
	gc_mutator_detach(m);
	return NULL;
}

/* A heap that three quarters of an array are too much for: everybody waits all the time. */
static int crowd(void *arg)
{
	struct gc_type_desc n = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	long served[THREADS] = { 0 }, sum = 0;
	pthread_t thread[THREADS];

	if (gc_heap_create(&heap, arg, NULL, NULL))
		return 1;
	node_type = gc_type_register(heap, &n, NULL);
	bytes_type = gc_type_register(heap, &b, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, churn, &served[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += served[i];
	}
	if (sum < THREADS * ROUNDS / 2)
		fprintf(stderr, "%ld of %d arrays found room", sum, THREADS * ROUNDS);
	return gc_heap_destroy(heap) || sum < THREADS * ROUNDS / 2;
}

/* ---- the table ------------------------------------------------------------ */

/* What the holder of the turn and the daemon do next by themselves; false: nothing. */
static bool go_on(struct gc_cycle_control *t, bool tells, bool *explicit_served)
{
	if (tells && gc_cycle_step(t, GC_CYCLE_USABLE))
		return true;
	if (gc_cycle_step(t, GC_CYCLE_END))
		return true;
	*explicit_served |= t->state == GC_CYCLE_DUE_EXPLICIT;
	return gc_cycle_step(t, GC_CYCLE_SERVE);
}

static void orders(void)
{
	bool needed = true, asked = true, kept = true, passed = true;

	for (int s = 0; s < GC_CYCLE_STATES; s++) {
		for (int tells = 0; tells < 2; tells++) {
			struct gc_cycle_control t = { .state = s }, u = t, v = t, w = t;
			bool seen = false;
			uint64_t freed = t.freed;
			int steps = 0;

			/* A cycle that freed before the order was given does not count. */
			if (s >= GC_CYCLE_FREED)
				freed++, t.freed++;
			needed &= gc_cycle_step(&t, GC_CYCLE_NEEDED);
			while (t.freed == freed && steps < 4 && go_on(&t, tells, &seen))
				steps++;
			needed &= t.freed > freed;

			asked &= gc_cycle_step(&u, GC_CYCLE_REQUESTED);
			/* Others come first, and more is ordered. */
			gc_cycle_step(&u, GC_CYCLE_BEGIN);
			gc_cycle_step(&u, GC_CYCLE_PASSED);
			gc_cycle_step(&u, GC_CYCLE_NEEDED);
			seen = false;
			for (steps = 0; steps < 6 && !seen && go_on(&u, tells, &seen); steps++)
				;
			asked &= seen;
			/* Once it is served nothing is left. */
			while (steps++ < 12 && go_on(&u, tells, &seen))
				;
			kept &= u.state == GC_CYCLE_IDLE;

			passed &= gc_cycle_step(&v, GC_CYCLE_PASSED);
			passed &= s == GC_CYCLE_IDLE ? v.state == GC_CYCLE_DUE : v.state == w.state;
		}
	}
	ok(needed,
	   "in every state, a mutator that needs memory sees memory freed after its request");
	ok(asked,
	   "in every state, an explicit request is served by the daemon, whatever comes first");
	ok(kept, "an order is served once");
	ok(passed, "passing the concurrent start orders a cycle only in the idle state");
}

static void turns(void)
{
	static const enum gc_cycle_event ends[] = { GC_CYCLE_USABLE, GC_CYCLE_END };
	bool one = true, held = true, counts = true;

	for (int s = 0; s < GC_CYCLE_STATES; s++) {
		struct gc_cycle_control t = { .state = s }, u = t, v = t;
		bool taken = gc_cycle_running(s);

		one &= gc_cycle_step(&t, GC_CYCLE_BEGIN) == !taken && gc_cycle_running(t.state);
		one &= gc_cycle_step(&u, GC_CYCLE_SERVE) == gc_cycle_due(s);
		one &= gc_cycle_running(u.state) == (taken || gc_cycle_due(s));
		held &= gc_cycle_step(&v, GC_CYCLE_END) == taken && !gc_cycle_running(v.state);
		counts &= v.ended == taken && v.freed == (taken && s < GC_CYCLE_FREED);
		t = (struct gc_cycle_control){ .state = s };
		held &= gc_cycle_step(&t, GC_CYCLE_USABLE) == (taken && s < GC_CYCLE_FREED);
		held &= !gc_cycle_step(&t, GC_CYCLE_USABLE);
		for (size_t i = 0; i < 2; i++) {
			t = (struct gc_cycle_control){ .state = s };
			if (!gc_cycle_step(&t, ends[i]))
				held &= t.state == (enum gc_cycle_state)s && !t.freed && !t.ended;
		}
	}
	ok(one, "a cycle is begun once, and served only where one is due");
	ok(held, "only a running cycle can end or make memory usable, the latter once");
	ok(counts, "memory is freed once per cycle, at the end at the latest");
}

int main(void)
{
	orders();
	turns();
	static const char *const crowds[] = {
		"plan=cms,policy=bg,trim=0,heap=4M,max=6M",
		"plan=cmsfly,policy=bg,trim=0,heap=4M,max=6M",
		"plan=gencms,policy=bg,trim=0,heap=4M,max=6M",
		"plan=cms,trim=0,heap=4M,max=6M",
		"plan=gencms,policy=adaptive,trim=0,heap=4M,max=6M",
	};
	static char text[4096];

	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		int status = child(crowd, (void *)(uintptr_t)crowds[i], text, sizeof(text));

		if (!ok(!status, "%s: all threads that wait for a cycle get one", crowds[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
