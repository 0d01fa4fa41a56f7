// SPDX-License-Identifier: MIT
#include "model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOTS  24
#define EDGES  6
#define NOBODY 0u

enum shape {
	NODE,
	WIDE,
	ARRAY,
	BIG,
	DATA,
	CALLED,
	WEAK,
	SHAPES
};

/* An object of the model; its number is written in the heap's object too. */
struct twin {
	uint8_t shape;
	uint32_t edges; /* how many of edge[] the heap's object has */
	uint32_t edge[EDGES];
	uint32_t stamp;
	bool due, seen_dead; /* has a finalizer; was handed out */
};

struct object {
	struct gc_header header;
	uint64_t id;
};

struct node {
	struct gc_header header;
	uint64_t id;
	struct object *field[3];
};

struct wide { /* above GC_SMALL_MAX: a medium size class */
	struct gc_header header;
	uint64_t id;
	struct object *field[EDGES];
	uint64_t filler[64];
};

struct called {
	struct gc_header header;
	uint64_t id;
	uint64_t filler;
	struct object *field[2];
};

struct array {
	struct gc_header header;
	uint64_t id;
	struct object *field[];
};

struct data {
	struct gc_header header;
	uint64_t id;
	uint8_t byte[];
};

struct weak {
	struct gc_header header;
	struct object *target;
	uint64_t id;
};

struct world {
	struct model_run *run;
	struct gc_heap *heap;
	const struct gc_type *type[SHAPES];
	int failed;
};

struct program {
	struct world *world;
	unsigned int number;
	struct gc_mutator *m;
	uint64_t rng;
	struct twin *twins;
	uint32_t count, room, stamp;
	uint32_t root[ROOTS];
	struct {
		struct gc_frame head;
		struct object *root[ROOTS];
		struct object *fresh;
	} f;
};

static uint64_t rnd(struct program *p, uint64_t below)
{
	p->rng ^= p->rng << 13;
	p->rng ^= p->rng >> 7;
	p->rng ^= p->rng << 17;
	return p->rng % below;
}

static int fail(struct program *p, const char *what, uint64_t id)
{
	struct model_run *r = p->world->run;

	fprintf(stderr, "model: %s (object %llu, thread %u); again: graph '%s' %llu %u %u\n", what,
		(unsigned long long)id, p->number, r->options, (unsigned long long)r->seed,
		r->steps, r->threads);
	p->world->failed = 1;
	return 1;
}

static struct object **fields(struct object *o, uint8_t shape)
{
	switch (shape) {
	case NODE:
		return ((struct node *)o)->field;
	case WIDE:
		return ((struct wide *)o)->field;
	case CALLED:
		return ((struct called *)o)->field;
	case ARRAY:
	case BIG:
		return ((struct array *)o)->field;
	default:
		return NULL;
	}
}

static uint64_t id_of(struct object *o, uint8_t shape)
{
	return shape == WEAK ? ((struct weak *)o)->id : o->id;
}

/* References of a big array are spread: edge i is element i * stride. */
static uint32_t place(const struct object *o, uint8_t shape, uint32_t i)
{
	return shape == BIG ? i * (gc_length(o) / EDGES) : i;
}

static void trace_called(void *obj, gc_visit_fn visit, void *arg)
{
	struct called *c = obj;

	visit((void **)&c->field[0], arg);
	visit((void **)&c->field[1], arg);
}

static int types(struct world *w)
{
	static const struct gc_type_desc desc[SHAPES] = {
		[NODE] = { .name = "node", .size = sizeof(struct node), .refs = 0x1c },
		[WIDE] = { .name = "wide", .size = sizeof(struct wide), .refs = 0xfc },
		[ARRAY] = { .name = "array", .size = 16, .tail = GC_TAIL_REFS },
		[BIG] = { .name = "big", .size = 16, .tail = GC_TAIL_REFS },
		[DATA] = { .name = "data", .size = 16, .tail = GC_TAIL_DATA, .elem_size = 1 },
		[CALLED] = { .name = "called",
			     .size = sizeof(struct called),
			     .trace = trace_called },
		[WEAK] = { .name = "weak", .size = sizeof(struct weak), .weak = true },
	};

	for (int i = 0; i < SHAPES; i++) {
		w->type[i] = gc_type_register(w->heap, &desc[i], NULL);
		if (!w->type[i])
			return 1;
	}
	return 0;
}

static void store(struct program *p, struct object *o, struct object **slot, struct object *value)
{
	if (p->world->run->skip_barrier)
		*slot = value;
	else
		gc_write(p->m, o, slot, value);
}

static int allocate(struct program *p)
{
	static const uint8_t odds[] = { NODE,  NODE, NODE, NODE, NODE,	 WIDE,	 ARRAY,
					ARRAY, BIG,  DATA, DATA, CALLED, CALLED, WEAK };
	uint8_t shape = odds[rnd(p, sizeof(odds))];
	const struct gc_type *type = p->world->type[shape];
	struct twin *t;
	uint32_t slot = (uint32_t)rnd(p, ROOTS), length = 0, from = (uint32_t)rnd(p, ROOTS);
	struct object *o;

	if (p->count == p->room) {
		p->room *= 2;
		p->twins = realloc(p->twins, p->room * sizeof(*p->twins));
		if (!p->twins)
			return fail(p, "no memory for the model", 0);
	}
	t = &p->twins[p->count];
	memset(t, 0, sizeof(*t));
	t->shape = shape;
	switch (shape) {
	case NODE:
		t->edges = 3;
		o = gc_alloc_sized(p->m, type, sizeof(struct node));
		break;
	case WIDE:
		t->edges = EDGES;
		o = gc_alloc(p->m, type);
		break;
	case CALLED:
		t->edges = 2;
		o = gc_alloc(p->m, type);
		break;
	case ARRAY:
		length = t->edges = (uint32_t)rnd(p, EDGES + 1);
		o = gc_alloc_array(p->m, type, length);
		break;
	case BIG:
		length = EDGES * (uint32_t)(1 + rnd(p, rnd(p, 4) ? 60 : 700));
		t->edges = EDGES;
		o = gc_alloc_array(p->m, type, length);
		break;
	case DATA:
		length = (uint32_t)rnd(p, rnd(p, 8) ? 300 : 20000);
		o = gc_alloc_array(p->m, type, length);
		break;
	default:
		o = gc_alloc(p->m, type);
		break;
	}
	if (!o)
		return fail(p, "out of memory", p->count);
	if (shape == WEAK) {
		struct weak *w = (struct weak *)o;

		w->id = p->count;
		gc_init(&w->target, p->f.root[from]);
		t->edge[0] = p->root[from];
	} else {
		o->id = p->count;
	}
	if (shape == DATA)
		memset(((struct data *)o)->byte, (int)(p->count * 7 & 0xff), length);
	/* half of the fields are set before the object is published, without a barrier */
	for (uint32_t i = 0; i < t->edges; i++) {
		uint32_t at = (uint32_t)rnd(p, ROOTS);

		if (rnd(p, 2)) {
			gc_init(&fields(o, shape)[place(o, shape, i)], p->f.root[at]);
			t->edge[i] = p->root[at];
		}
	}
	if (!rnd(p, 16) && shape != WEAK) {
		if (gc_finalizer_add(p->m, o))
			return fail(p, "no memory for a finalizer", p->count);
		t->due = true;
	}
	p->f.root[slot] = o;
	p->root[slot] = p->count++;
	return 0;
}

/* Store into an object that a few steps lead to from a root. */
static int link_some(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS), to = (uint32_t)rnd(p, ROOTS);
	uint32_t id = p->root[at];
	struct object *o = p->f.root[at];
	bool clear = !rnd(p, 3);

	for (uint64_t steps = rnd(p, 6); steps && id; steps--) {
		struct twin *t = &p->twins[id];
		uint32_t i;

		if (!t->edges)
			break;
		i = (uint32_t)rnd(p, t->edges);
		if (!t->edge[i])
			break;
		o = fields(o, t->shape)[place(o, t->shape, i)];
		id = t->edge[i];
	}
	if (!id || !p->twins[id].edges)
		return 0;
	if (!o)
		return fail(p, "lost", id);
	{
		struct twin *t = &p->twins[id];
		uint32_t i = (uint32_t)rnd(p, t->edges);

		store(p, o, &fields(o, t->shape)[place(o, t->shape, i)],
		      clear ? NULL : p->f.root[to]);
		t->edge[i] = clear ? NOBODY : p->root[to];
	}
	return 0;
}

/* Move down the graph: a root becomes one of its object's fields. */
static void step_down(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS), to = (uint32_t)rnd(p, ROOTS), i;
	struct twin *t = &p->twins[p->root[at]];

	if (!p->root[at] || !t->edges)
		return;
	i = (uint32_t)rnd(p, t->edges);
	p->f.root[to] = fields(p->f.root[at], t->shape)[place(p->f.root[at], t->shape, i)];
	p->root[to] = t->edge[i];
}

struct pair {
	struct object *o;
	uint32_t id;
};

/* Walk both graphs from the roots; every reachable object is stamped in the model. */
static int compare(struct program *p)
{
	struct pair *stack = malloc((ROOTS + (size_t)p->count * (EDGES + 1)) * sizeof(*stack));
	size_t n = 0;
	int ret = 0;

	if (!stack)
		return fail(p, "no memory for the model", 0);
	p->stamp++;
	for (int i = 0; i < ROOTS; i++)
		stack[n++] = (struct pair){ p->f.root[i], p->root[i] };
	while (n && !ret) {
		struct pair at = stack[--n];
		struct twin *t = &p->twins[at.id];

		if (!at.id != !at.o) {
			ret = fail(p, "null where the model is not, or the reverse", at.id);
			break;
		}
		if (!at.id)
			continue;
		if (id_of(at.o, t->shape) != at.id) {
			ret = fail(p, "another object stands here", at.id);
			break;
		}
		if (t->stamp == p->stamp)
			continue;
		t->stamp = p->stamp;
		if (t->seen_dead)
			ret = fail(p, "finalized while reachable", at.id);
		for (uint32_t i = 0; i < t->edges; i++)
			stack[n++] =
				(struct pair){ fields(at.o, t->shape)[place(at.o, t->shape, i)],
					       t->edge[i] };
		if (t->shape == DATA) {
			const struct data *d = (const struct data *)at.o;

			for (uint32_t i = 0; i < gc_length(d) && !ret; i++)
				if (d->byte[i] != (at.id * 7 & 0xff))
					ret = fail(p, "data changed", at.id);
		}
	}
	free(stack);
	return ret;
}

static int check_weak(struct program *p, bool exact)
{
	for (int i = 0; i < ROOTS; i++) {
		uint32_t id = p->root[i], target;
		struct object *o;

		if (!id || p->twins[id].shape != WEAK)
			continue;
		target = p->twins[id].edge[0];
		o = gc_weak_get(p->m, p->f.root[i]);
		if (target && p->twins[target].stamp == p->stamp && !o)
			return fail(p, "weak reference lost a reachable object", target);
		if (o && id_of(o, p->twins[target].shape) != target)
			return fail(p, "weak reference to another object", target);
		if (exact && o && p->twins[target].stamp != p->stamp)
			return fail(p, "weak reference kept what is unreachable", target);
		if (!o)
			p->twins[id].edge[0] = NOBODY;
	}
	return 0;
}

static int fetch_dead(struct program *p, unsigned int *fetched)
{
	struct object *o;

	/* Several programs share the queue: one at a time, and only in runs of one thread. */
	while (p->world->run->threads == 1 && (o = gc_finalizer_next(p->m))) {
		uint64_t id = o->id;

		if (id >= p->count || !p->twins[id].due)
			return fail(p, "finalized without being asked", id);
		if (p->twins[id].seen_dead)
			return fail(p, "finalized twice", id);
		p->twins[id].seen_dead = true;
		(*fetched)++;
	}
	return 0;
}

static int check_all(struct program *p)
{
	unsigned int fetched;
	struct gc_error err;

	/* What waits in the queue keeps what it reaches: repeat until the queue stays empty. */
	do {
		fetched = 0;
		gc_collect_full(p->m);
		if (compare(p) || check_weak(p, false) || fetch_dead(p, &fetched))
			return 1;
	} while (fetched);
	if (check_weak(p, p->world->run->threads == 1))
		return 1;
	if (p->world->run->threads == 1)
		for (uint32_t id = 1; id < p->count; id++)
			if (p->twins[id].due && !p->twins[id].seen_dead &&
			    p->twins[id].stamp != p->stamp)
				return fail(p, "died and was not finalized", id);
	if (gc_verify(p->m, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return fail(p, "gc_verify", 0);
	}
	return 0;
}

static void *program_main(void *arg)
{
	struct program *p = arg;
	unsigned int steps = p->world->run->steps;
	int bad = 0;

	p->room = 1024;
	p->count = 1; /* 0 is null */
	p->twins = calloc(p->room, sizeof(*p->twins));
	if (!p->twins || gc_mutator_attach(p->world->heap, &p->m)) {
		fail(p, "cannot start", 0);
		return NULL;
	}
	GC_PUSH(p->m, p->f);
	for (unsigned int i = 0; i < steps && !bad; i++) {
		switch (rnd(p, 64)) {
		case 0 ... 27:
			bad = allocate(p);
			break;
		case 28 ... 49:
			bad = link_some(p);
			break;
		case 50 ... 57:
			step_down(p);
			break;
		case 58 ... 60:
			gc_safepoint(p->m);
			break;
		case 61:
			gc_park(p->m);
			gc_unpark(p->m);
			break;
		case 62:
			if (!rnd(p, 40))
				gc_collect(p->m);
			break;
		default:
			if (!rnd(p, 24))
				bad = compare(p) || check_weak(p, false);
			break;
		}
	}
	if (!bad && !p->world->failed)
		check_all(p);
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	free(p->twins);
	return NULL;
}

int model_run(struct model_run *run)
{
	struct program programs[8] = { 0 };
	pthread_t thread[8];
	struct world w = { .run = run };
	struct gc_error err;

	if (gc_heap_create(&w.heap, run->options, NULL, &err)) {
		fprintf(stderr, "model: %s: %s\n", run->options, err.text);
		return 1;
	}
	if (types(&w))
		return 1;
	for (unsigned int i = 0; i < run->threads; i++) {
		programs[i].world = &w;
		programs[i].number = i;
		programs[i].rng = run->seed * 0x9e3779b97f4a7c15u + i + 1;
		if (i)
			pthread_create(&thread[i], NULL, program_main, &programs[i]);
	}
	program_main(&programs[0]);
	for (unsigned int i = 1; i < run->threads; i++)
		pthread_join(thread[i], NULL);
	gc_heap_stats(w.heap, &run->stats);
	if (gc_heap_destroy(w.heap)) {
		fprintf(stderr, "model: a mutator stayed attached\n");
		return 1;
	}
	return w.failed;
}
