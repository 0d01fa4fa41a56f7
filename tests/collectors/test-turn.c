// SPDX-License-Identifier: MIT
/*
 * Description: whose turn it is: no order is lost, whoever waits for a cycle gets one, with
 * and without an idle timer to hide it.
 */
#include "tap.h"

#include "policy/turn.h"

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
static bool go_on(struct gc_turn *t, bool tells, bool *explicit_served)
{
	if (tells && gc_turn_step(t, GC_TURN_USABLE))
		return true;
	if (gc_turn_step(t, GC_TURN_END))
		return true;
	*explicit_served |= t->state == GC_TURN_DUE_EXPLICIT;
	return gc_turn_step(t, GC_TURN_SERVE);
}

static void orders(void)
{
	bool needed = true, asked = true, kept = true, passed = true;

	for (int s = 0; s < GC_TURN_STATES; s++) {
		for (int tells = 0; tells < 2; tells++) {
			struct gc_turn t = { .state = s }, u = t, v = t, w = t;
			bool seen = false;
			uint64_t freed = t.freed;
			int steps = 0;

			/* A cycle that freed before the order was given does not count. */
			if (s >= GC_TURN_FREED)
				freed++, t.freed++;
			needed &= gc_turn_step(&t, GC_TURN_NEEDED);
			while (t.freed == freed && steps < 4 && go_on(&t, tells, &seen))
				steps++;
			needed &= t.freed > freed;

			asked &= gc_turn_step(&u, GC_TURN_ASKED);
			/* Others come first, and more is ordered. */
			gc_turn_step(&u, GC_TURN_TAKE);
			gc_turn_step(&u, GC_TURN_PASSED);
			gc_turn_step(&u, GC_TURN_NEEDED);
			seen = false;
			for (steps = 0; steps < 6 && !seen && go_on(&u, tells, &seen); steps++)
				;
			asked &= seen;
			/* Once it is served nothing is left. */
			while (steps++ < 12 && go_on(&u, tells, &seen))
				;
			kept &= u.state == GC_TURN_IDLE;

			passed &= gc_turn_step(&v, GC_TURN_PASSED);
			passed &= s == GC_TURN_IDLE ? v.state == GC_TURN_DUE : v.state == w.state;
		}
	}
	ok(needed, "in every state who stands still for memory sees it freed after it asked");
	ok(asked, "in every state an explicit order is served by the daemon, whoever comes first");
	ok(kept, "an order is served once");
	ok(passed, "passing the threshold orders where nothing is under way, and only there");
}

static void turns(void)
{
	static const enum gc_turn_event ends[] = { GC_TURN_USABLE, GC_TURN_END };
	bool one = true, held = true, counts = true;

	for (int s = 0; s < GC_TURN_STATES; s++) {
		struct gc_turn t = { .state = s }, u = t, v = t;
		bool taken = gc_turn_taken(s);

		one &= gc_turn_step(&t, GC_TURN_TAKE) == !taken && gc_turn_taken(t.state);
		one &= gc_turn_step(&u, GC_TURN_SERVE) == gc_turn_due(s);
		one &= gc_turn_taken(u.state) == (taken || gc_turn_due(s));
		held &= gc_turn_step(&v, GC_TURN_END) == taken && !gc_turn_taken(v.state);
		counts &= v.ended == taken && v.freed == (taken && s < GC_TURN_FREED);
		t = (struct gc_turn){ .state = s };
		held &= gc_turn_step(&t, GC_TURN_USABLE) == (taken && s < GC_TURN_FREED);
		held &= !gc_turn_step(&t, GC_TURN_USABLE);
		for (size_t i = 0; i < 2; i++) {
			t = (struct gc_turn){ .state = s };
			if (!gc_turn_step(&t, ends[i]))
				held &= t.state == (enum gc_turn_state)s && !t.freed && !t.ended;
		}
	}
	ok(one, "a turn is taken once, and served only where something is due");
	ok(held, "only who has a turn ends it or tells that memory is usable, the latter once");
	ok(counts,
	   "memory is freed once a cycle: where it becomes usable, at the end at the latest");
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
		int status = child(crowd, (void *)(uintptr_t)crowds[i], 120, text, sizeof(text));

		if (!ok(!status, "%s: whoever waits for a cycle gets one", crowds[i]))
			printf("# status %#x: %s\n", status, text);
	}
	return done();
}
