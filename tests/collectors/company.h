/* SPDX-License-Identifier: MIT */
/* A heap, graphs on it, and mutators that keep the collecting one company. */
#ifndef COMPANY_H
#define COMPANY_H

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define TRIES 2000 /* collections until help has come on a machine that has other work */
#define MOST  4

struct node {
	struct gc_header header;
	struct node *child[2];
	long pad;
};

struct array {
	struct gc_header header;
	void *item[];
};

struct weak {
	struct gc_header header;
	void *target;
};

static struct gc_heap *heap;
static struct gc_mutator *m;
static const struct gc_type *node_type, *array_type, *weak_type;
static struct {
	struct gc_frame head;
	struct node *tree;
	struct array *array;
	struct node *kept, *fresh;
	struct weak *weak;
} f;

/* ---- who waits ----------------------------------------------------------- */

enum company {
	AT_SAFEPOINTS,
	PARKED, /* in native code until a collection is under way */
	COMING_AND_GOING,
	COLLECTING_TOO, /* waits for its turn */
	WRITING /* moves what only it knows from old object to old object */
};

static int quit, ready, under_way, come_late;

static inline int get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void add(int *word, int more)
{
	__atomic_fetch_add(word, more, __ATOMIC_SEQ_CST);
}

static inline void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline bool until(const int *word, int least)
{
	struct timespec ts = { 0, 20000 };

	for (int i = 0; i < 100000 && get(word) < least; i++)
		nanosleep(&ts, NULL);
	return get(word) >= least;
}

static int lost;

#define HANDED 4000

/*
 * Two lists, of which the one's head goes to the other's: the only reference to it is written
 * into an object that may have been scanned already.
 */
static inline void write_lists(struct gc_mutator *own)
{
	struct {
		struct gc_frame head;
		struct node *from, *to, *moved;
	} w;
	int length = 0;

	GC_PUSH(own, w);
	w.from = GC_NEW(own, node_type, struct node);
	w.to = GC_NEW(own, node_type, struct node);
	for (int i = 0; i < HANDED; i++) {
		w.moved = GC_NEW(own, node_type, struct node);
		gc_init(&w.moved->child[0], w.from->child[0]);
		gc_write(own, w.from, &w.from->child[0], w.moved);
	}
	while (!get(&quit)) {
		w.moved = w.from->child[0];
		if (!w.moved) {
			w.moved = w.from;
			w.from = w.to;
			w.to = w.moved;
			continue;
		}
		gc_write(own, w.from, &w.from->child[0], w.moved->child[0]);
		gc_write(own, w.moved, &w.moved->child[0], w.to->child[0]);
		gc_write(own, w.to, &w.to->child[0], w.moved);
		w.moved = NULL;
		gc_safepoint(own);
	}
	for (w.moved = w.from->child[0]; w.moved; w.moved = w.moved->child[0])
		length++;
	for (w.moved = w.to->child[0]; w.moved; w.moved = w.moved->child[0])
		length++;
	add(&lost, HANDED - length);
	GC_POP(own, w);
}

static inline void *keep_company(void *arg)
{
	enum company kind = *(const enum company *)arg;
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return NULL;
	add(&ready, 1);
	while (!get(&quit)) {
		switch (kind) {
		case AT_SAFEPOINTS:
			gc_safepoint(own);
			sched_yield();
			break;
		case PARKED:
			gc_park(own);
			while (!get(&quit) && !get(&under_way))
				sched_yield();
			add(&come_late, get(&under_way));
			gc_unpark(own);
			break;
		case COMING_AND_GOING:
			gc_mutator_detach(own);
			sched_yield();
			if (gc_mutator_attach(heap, &own))
				return NULL;
			gc_safepoint(own);
			gc_park(own);
			sched_yield();
			gc_unpark(own);
			break;
		case COLLECTING_TOO:
			gc_collect(own);
			break;
		case WRITING:
			write_lists(own);
			break;
		}
	}
	gc_mutator_detach(own);
	return NULL;
}

static pthread_t others[MOST];
static enum company kinds[MOST];
static int count;

static inline void join_company(enum company kind)
{
	kinds[count] = kind;
	pthread_create(&others[count], NULL, keep_company, &kinds[count]);
	count++;
	until(&ready, count);
}

static inline void part_company(void)
{
	add(&quit, 1);
	gc_park(m);
	while (count)
		pthread_join(others[--count], NULL);
	gc_unpark(m);
	quit = ready = under_way = come_late = 0;
}

/* ---- what is marked ------------------------------------------------------ */

static inline bool open_heap(const char *options, struct gc_listener *l)
{
	struct gc_type_desc node = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc array = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	struct gc_type_desc weak = { .name = "weak", .size = sizeof(struct weak), .weak = true };
	struct gc_error err = { .text = "no memory for a mutator" };
	char text[256];

	snprintf(text, sizeof(text), "max=128M,trim=0,%s", options);
	if (gc_heap_create(&heap, text, l, &err) || gc_mutator_attach(heap, &m))
		return ok(false, "%s starts: %s", options, err.text);
	node_type = gc_type_register(heap, &node, NULL);
	array_type = gc_type_register(heap, &array, NULL);
	weak_type = gc_type_register(heap, &weak, NULL);
	GC_PUSH(m, f);
	return true;
}

static inline void close_heap(void)
{
	if (count)
		part_company();
	GC_POP(m, f);
	gc_mutator_detach(m);
	if (gc_heap_destroy(heap))
		ok(false, "all mutators detached");
}

static inline struct gc_heap_stats stats(void)
{
	struct gc_heap_stats s;

	gc_heap_stats(heap, &s);
	return s;
}

/* A random tree, the same each time: a new node comes between one and its child */
static inline void plant(long nodes)
{
	uint64_t rng = 88172645463325252u;

	f.array = gc_alloc_array(m, array_type, (uint32_t)nodes);
	for (long i = 0; i < nodes; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		if (i) {
			struct node *up = f.array->item[rng % (uint64_t)i];
			struct node **at = &up->child[rng >> 63];

			gc_init(&f.fresh->child[rng >> 62 & 1], *at);
			gc_write(m, up, at, f.fresh);
		} else {
			f.tree = f.fresh;
		}
		gc_write(m, f.array, &f.array->item[i], f.fresh);
	}
	f.array = NULL;
}

/* A list: at each step one object is known, and nothing can be handed over */
static inline void string(long nodes)
{
	for (long i = 0; i < nodes; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		gc_init(&f.fresh->child[0], f.kept);
		f.kept = f.fresh;
	}
}

/* Collects until mutators have helped @helps times more and marked @objects. */
static inline bool collect_until(uint64_t helps, uint64_t objects)
{
	struct gc_heap_stats before = stats(), now = before;

	for (int i = 0; i < TRIES; i++) {
		gc_collect_full(m);
		now = stats();
		if (now.helps - before.helps >= helps &&
		    now.helped_objects - before.helped_objects >= objects)
			return true;
		/* Who is to wait for the next one gets there, on a busy host too. */
		if (i < TRIES / 10)
			sched_yield();
		else
			usleep(2000);
	}
	return false;
}

static inline void forget(void)
{
	f.tree = f.kept = f.fresh = NULL;
	f.array = NULL;
	f.weak = NULL;
}

#endif
