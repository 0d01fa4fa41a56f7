// SPDX-License-Identifier: MIT
#include "model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOTS	  24
#define EDGES	  6
#define NO_OBJECT 0u
#define THREADS	  8
#define SHARED	  6 /* objects that all programs write */

enum shape {
	LINK,
	PAIR,
	SIX,
	LEAF,
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

/*
 * What has a shape: references right behind the header, or none, and no more than GC_SMALL_MAX
 * bytes. Marking and copying have loops of their own for these.
 */
struct link {
	struct gc_header header;
	struct object *field[1];
	uint64_t id;
};

struct pair {
	struct gc_header header;
	struct object *field[2];
	uint64_t id;
};

struct six {
	struct gc_header header;
	struct object *field[EDGES];
	uint64_t id;
	uint64_t filler[24]; /* GC_SMALL_MAX bytes in all */
};

struct leaf {
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

/* Each program has a field that it alone writes, and one that all of them do. */
#define OPEN   THREADS
#define FIELDS (THREADS + 1)

struct board {
	struct gc_header header;
	struct object *field[FIELDS];
};

struct world {
	struct model_run *run;
	struct gc_heap *heap;
	const struct gc_type *type[SHAPES], *board[2];
	struct gc_header *shared[SHARED]; /* roots until all programs have them */
	unsigned int started;
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
	uint32_t own[SHARED]; /* what this program's fields of shared objects refer to */
	uint64_t guest; /* id of f.guest */
	struct {
		struct gc_frame head;
		struct object *root[ROOTS];
		struct object *fresh, *guest; /* guest: another program's object */
		struct gc_header *shared[SHARED];
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
	__atomic_store_n(&p->world->failed, 1, __ATOMIC_RELAXED);
	return 1;
}

static bool has_failed(const struct world *w)
{
	return __atomic_load_n(&w->failed, __ATOMIC_RELAXED);
}

static struct object **fields(struct object *o, uint8_t shape)
{
	switch (shape) {
	case LINK:
		return ((struct link *)o)->field;
	case PAIR:
		return ((struct pair *)o)->field;
	case SIX:
		return ((struct six *)o)->field;
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

/* Written once, when the object is new */
static uint64_t *id_at(struct object *o, uint8_t shape)
{
	switch (shape) {
	case LINK:
		return &((struct link *)o)->id;
	case PAIR:
		return &((struct pair *)o)->id;
	case SIX:
		return &((struct six *)o)->id;
	case WEAK:
		return &((struct weak *)o)->id;
	default:
		return &o->id;
	}
}

/* An id in the heap tells whose object it is. */
static uint64_t tag_of(const struct program *p, uint64_t id)
{
	return (uint64_t)p->number << 32 | id;
}

/* The type is in a header's upper half of the lower word; its number is not public. */
static uint8_t shape_of(const struct world *w, const struct object *o)
{
	uint8_t shape = 0;

	while (shape < SHAPES && (uint32_t)(o->header.word >> 8 & 0xffff) !=
					 (uint32_t)(w->type[shape]->word >> 8 & 0xffff))
		shape++;
	return shape;
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
		[LINK] = { .name = "link", .size = sizeof(struct link), .refs = 0x2 },
		[PAIR] = { .name = "pair", .size = sizeof(struct pair), .refs = 0x6 },
		[SIX] = { .name = "six", .size = sizeof(struct six), .refs = 0x7e },
		[LEAF] = { .name = "leaf", .size = sizeof(struct leaf) },
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

	static const struct gc_type_desc board[2] = {
		{ .name = "board", .size = sizeof(struct board), .refs = 0x3fe },
		{ .name = "board array", .size = sizeof(struct gc_header), .tail = GC_TAIL_REFS },
	};

	_Static_assert(sizeof(struct six) == GC_SMALL_MAX && FIELDS == 9, "as described");
	for (int i = 0; i < SHAPES; i++) {
		w->type[i] = gc_type_register(w->heap, &desc[i], NULL);
		if (!w->type[i])
			return 1;
	}
	for (int i = 0; i < 2; i++) {
		w->board[i] = gc_type_register(w->heap, &board[i], NULL);
		if (!w->board[i])
			return 1;
	}
	return 0;
}

/* An array has unused fields between: it may be large, or marked in parts. */
static struct object **field_of(struct gc_header *shared, unsigned int i)
{
	struct object **field = (struct object **)(shared + 1);

	if (gc_length(shared))
		i *= gc_length(shared) / FIELDS;
	return &field[i];
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
	static const uint8_t odds[] = { LINK,  LINK, PAIR, PAIR, SIX,	 SIX,	 LEAF,
					LEAF,  NODE, NODE, NODE, NODE,	 WIDE,	 ARRAY,
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
	case LINK:
		t->edges = 1;
		o = gc_alloc_sized(p->m, type, sizeof(struct link));
		break;
	case PAIR:
		t->edges = 2;
		o = gc_alloc_sized(p->m, type, sizeof(struct pair));
		break;
	case SIX:
		t->edges = EDGES;
		o = gc_alloc_sized(p->m, type, sizeof(struct six));
		break;
	case LEAF:
		o = gc_alloc_sized(p->m, type, sizeof(struct leaf));
		break;
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
	*id_at(o, shape) = tag_of(p, p->count);
	if (shape == WEAK) {
		gc_init(&((struct weak *)o)->target, p->f.root[from]);
		t->edge[0] = p->root[from];
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
		t->edge[i] = clear ? NO_OBJECT : p->root[to];
	}
	return 0;
}

/* Write this program's field of a shared object, or the one that all write. */
static void share(struct program *p)
{
	unsigned int at = (unsigned int)rnd(p, SHARED), from = (unsigned int)rnd(p, ROOTS);
	struct gc_header *shared = p->f.shared[at];
	struct object *value = rnd(p, 4) ? p->f.root[from] : NULL;

	if (!rnd(p, 3)) {
		store(p, (struct object *)shared, field_of(shared, OPEN), value);
		return;
	}
	store(p, (struct object *)shared, field_of(shared, p->number), value);
	p->own[at] = value ? p->root[from] : NO_OBJECT;
}

/* The guest is whole: a type of the model, and an id that its program gave it. */
static int check_guest(struct program *p)
{
	struct object *o = p->f.guest;
	uint8_t shape;

	if (!o)
		return 0;
	shape = shape_of(p->world, o);
	if (shape == SHAPES)
		return fail(p, "another program's object has no type", p->guest);
	if (*id_at(o, shape) != p->guest)
		return fail(p, "another program's object was replaced", p->guest);
	return 0;
}

/* Take any field of a shared object, which its owner may write at the same time. */
static int visit(struct program *p)
{
	unsigned int field = (unsigned int)rnd(p, FIELDS);
	struct gc_header *shared = p->f.shared[rnd(p, SHARED)];
	struct object **slot = field_of(shared, field);
	uint8_t shape;

	if (check_guest(p))
		return 1;
	p->f.guest = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (!p->f.guest)
		return 0;
	shape = shape_of(p->world, p->f.guest);
	if (shape == SHAPES)
		return fail(p, "a shared object refers to what has no type", field);
	p->guest = *id_at(p->f.guest, shape);
	if (p->guest >> 32 >= p->world->run->threads || (field != OPEN && p->guest >> 32 != field))
		return fail(p, "a shared object refers to what its owner has not", p->guest);
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

struct step {
	struct object *o;
	uint32_t id;
};

/* Walk both graphs from the roots; every reachable object is stamped in the model. */
static int compare(struct program *p)
{
	struct step *stack =
		malloc((ROOTS + SHARED + (size_t)p->count * (EDGES + 1)) * sizeof(*stack));
	size_t n = 0;
	int ret = 0;

	if (!stack)
		return fail(p, "no memory for the model", 0);
	p->stamp++;
	for (int i = 0; i < ROOTS; i++)
		stack[n++] = (struct step){ p->f.root[i], p->root[i] };
	for (int i = 0; i < SHARED; i++)
		stack[n++] = (struct step){ *field_of(p->f.shared[i], p->number), p->own[i] };
	while (n && !ret) {
		struct step at = stack[--n];
		struct twin *t = &p->twins[at.id];

		if (!at.id != !at.o) {
			ret = fail(p, "null where the model is not, or the reverse", at.id);
			break;
		}
		if (!at.id)
			continue;
		if (*id_at(at.o, t->shape) != tag_of(p, at.id)) {
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
				(struct step){ fields(at.o, t->shape)[place(at.o, t->shape, i)],
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
		if (o && *id_at(o, p->twins[target].shape) != tag_of(p, target))
			return fail(p, "weak reference to another object", target);
		if (exact && o && p->twins[target].stamp != p->stamp)
			return fail(p, "weak reference kept what is unreachable", target);
		if (!o)
			p->twins[id].edge[0] = NO_OBJECT;
	}
	return 0;
}

static int fetch_dead(struct program *p, unsigned int *fetched)
{
	struct object *o;

	/* Several programs share the queue: one at a time, and only in runs of one thread. */
	while (p->world->run->threads == 1 && (o = gc_finalizer_next(p->m))) {
		uint64_t id = *id_at(o, shape_of(p->world, o));

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

	/* The model does not know what is reachable from these. */
	p->f.guest = NULL;
	for (int i = 0; i < SHARED && p->world->run->threads == 1; i++)
		store(p, (struct object *)p->f.shared[i], field_of(p->f.shared[i], OPEN), NULL);
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

/* The first program makes the shared objects, and all get them before they do anything else. */
static int get_shared(struct program *p)
{
	struct world *w = p->world;

	for (int i = 0; i < SHARED && !p->number; i++) {
		static const uint32_t parts[] = { 0, 0, 1, 7, 40, 400 };

		w->shared[i] = i < 2 ? gc_alloc(p->m, w->board[0]) :
				       gc_alloc_array(p->m, w->board[1], FIELDS * parts[i]);
		if (!w->shared[i])
			return fail(p, "out of memory", 0);
	}
	__atomic_fetch_add(&w->started, !p->number, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&w->started, __ATOMIC_SEQ_CST) && !has_failed(w))
		gc_safepoint(p->m);
	memcpy(p->f.shared, w->shared, sizeof(p->f.shared));
	__atomic_fetch_add(&w->started, !!p->number, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&w->started, __ATOMIC_SEQ_CST) < w->run->threads && !has_failed(w))
		gc_safepoint(p->m);
	/* From here on the programs alone keep them; cmsfly has no roots of the program then. */
	if (!p->number)
		gc_roots_remove(w->heap, (void **)w->shared);
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
	if (get_shared(p))
		return NULL;
	for (unsigned int i = 0; i < steps && !bad; i++) {
		switch (rnd(p, 72)) {
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
		case 64 ... 68:
			share(p);
			break;
		case 69 ... 71:
			bad = visit(p);
			break;
		default:
			if (!rnd(p, 24))
				bad = compare(p) || check_weak(p, false);
			break;
		}
	}
	if (!bad && !check_guest(p) && !has_failed(p->world))
		check_all(p);
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	free(p->twins);
	return NULL;
}

int model_run(struct model_run *run)
{
	struct program programs[THREADS] = { 0 };
	pthread_t thread[THREADS];
	struct world w = { .run = run };
	struct gc_error err;

	if (gc_heap_create(&w.heap, run->options, NULL, &err)) {
		fprintf(stderr, "model: %s: %s\n", run->options, err.text);
		return 1;
	}
	if (types(&w) || gc_roots_add(w.heap, (void **)w.shared, SHARED))
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
