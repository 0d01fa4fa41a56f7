// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "model.h"
#include "disturb.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOTS	    24
#define EDGES	    6
#define NO_OBJECT   0u
#define THREADS	    8
#define SHARED	    6 /* objects that all programs write */
#define HEAPS	    2
#define STAY	    400 /* steps on a heap, on average */
#define FORK	    1000 /* steps between two forks of a thread, on average */
#define AFTERLIFE   300 /* steps of a forked child */
#define FORK_S	    250 /* only a child that hangs takes as long */
#define CROWD_ODDS  500 /* steps between two crowds, on average */
#define FILL_ODDS   1500 /* steps of a thread between two arrays that fill a heap, on average */
#define FILL_BYTES  ((24u << 20) - (64u << 10)) /* of them: nearly max= */
#define CROWD_LEAST 600 /* of its members: a mark stack of 4 KiB has 512 entries */

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
	EPHEMERON,
	CROWD, /* an array of links to leaves, whose numbers follow its own */
	SHAPES
};

/* An object of the model; its number is written in the heap's object too. */
struct twin {
	uint8_t shape;
	uint32_t edges; /* how many of edge[] the heap's object has */
	/* of a weak object the target, and of an ephemeron key and value: none of edges */
	uint32_t edge[EDGES];
	uint32_t members; /* of a crowd */
	uint32_t stamp;
	uint64_t hash; /* its identity, if the program asked for it */
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

struct ephemeron {
	struct gc_header header;
	struct object *key, *value;
	uint64_t id;
};

/* Each program has a field that it alone writes, and one that all of them do. */
#define OPEN   THREADS
#define FIELDS (THREADS + 1)

struct board {
	struct gc_header header;
	struct object *field[FIELDS];
};

/* A heap and what all of its programs use */
struct arena {
	struct gc_heap *heap;
	const struct gc_type *type[SHAPES], *board[2];
	struct gc_header *shared[SHARED]; /* roots until all programs have them */
	unsigned int started;
};

struct refs {
	struct object *root[ROOTS];
	struct object *fresh, *member, *guest; /* guest: another program's object */
	struct gc_header *shared[SHARED];
};

/* What one thread does on one heap. It leaves the heap to work on the other one. */
struct program {
	struct world *world;
	struct arena *arena;
	unsigned int number;
	struct gc_mutator *m; /* NULL: its thread is not attached to this heap */
	unsigned int steps; /* done, by all threads that were this program's */
	uint64_t rng;
	struct twin *twins;
	uint32_t count, room, stamp;
	uint32_t root[ROOTS];
	uint32_t own[SHARED]; /* what this program's fields of shared objects refer to */
	uint64_t guest; /* id of f.guest */
	struct {
		struct gc_frame head;
		struct refs refs;
	} f;
	struct refs kept; /* roots of the heap while the thread is away */
	bool away;
};

struct world {
	struct model_run *run;
	unsigned int heaps;
	struct arena arena[HEAPS];
	struct program program[HEAPS][THREADS];
	int failed;
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

	fprintf(stderr,
		"model: %s (object %llu, thread %u, heap %d); again: graph '%s' %llu %u %u '%s' "
		"%d %d %d\n",
		what, (unsigned long long)id, p->number, (int)(p->arena - p->world->arena),
		r->options, (unsigned long long)r->seed, r->steps, r->threads,
		r->other ? r->other : "", r->forks, r->crowds, r->disturbs);
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
	case CROWD:
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
	case EPHEMERON:
		return &((struct ephemeron *)o)->id;
	default:
		return &o->id;
	}
}

/* An id in the heap tells whose object it is. */
static uint64_t tag_of(const struct program *p, uint64_t id)
{
	return ((uint64_t)(p->arena - p->world->arena) * THREADS + p->number) << 32 | id;
}

/* Another thread may be shrinking the object. */
static uint8_t shape_of(const struct arena *a, const struct object *o)
{
	const struct gc_type *type = gc_type_of(a->heap, o);
	uint8_t shape = 0;

	while (shape < SHAPES && type != a->type[shape])
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

static int types(struct arena *a)
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
		[EPHEMERON] = { .name = "ephemeron",
				.size = sizeof(struct ephemeron),
				.ephemeron = true },
		[CROWD] = { .name = "crowd", .size = 16, .tail = GC_TAIL_REFS },
	};

	static const struct gc_type_desc board[2] = {
		{ .name = "board", .size = sizeof(struct board), .refs = 0x3fe },
		{ .name = "board array", .size = sizeof(struct gc_header), .tail = GC_TAIL_REFS },
	};

	_Static_assert(sizeof(struct six) == GC_SMALL_MAX && FIELDS == 9, "as described");
	for (int i = 0; i < SHAPES; i++) {
		a->type[i] = gc_type_register(a->heap, &desc[i], NULL);
		if (!a->type[i])
			return 1;
	}
	for (int i = 0; i < 2; i++) {
		a->board[i] = gc_type_register(a->heap, &board[i], NULL);
		if (!a->board[i])
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

/* The model has room for @more objects; 0, or 1 and a failure. */
static int twins_reserve(struct program *p, uint32_t more)
{
	struct twin *twins;

	if (p->count + more <= p->room)
		return 0;
	p->room = 2 * p->room + more;
	twins = realloc(p->twins, p->room * sizeof(*twins));
	if (!twins)
		return fail(p, "no memory for the model", 0);
	p->twins = twins;
	return 0;
}

/* Number an object that was allocated now; it has no edges yet. */
static struct twin *twin_add(struct program *p, struct object *o, uint8_t shape)
{
	struct twin *t = &p->twins[p->count];

	memset(t, 0, sizeof(*t));
	t->shape = shape;
	*id_at(o, shape) = tag_of(p, p->count++);
	return t;
}

/* A new object without edges, of @members elements, and its twin in *@t; NULL: no memory */
static struct object *object_add(struct program *p, uint8_t shape, uint32_t members,
				 struct twin **t)
{
	const struct gc_type *type = p->arena->type[shape];
	struct object *o = members ? gc_alloc_array(p->m, type, members) : gc_alloc(p->m, type);

	if (o)
		*t = twin_add(p, o, shape);
	return o;
}

/* A crowd of @members in p->f.refs.fresh; false: no memory */
static bool crowd_allocate(struct program *p, uint32_t members)
{
	struct object *o;
	struct twin *t;

	p->f.refs.fresh = object_add(p, CROWD, members, &t);
	if (!p->f.refs.fresh)
		return false;
	t->members = members;
	for (uint32_t i = 0; i < members; i++) {
		p->f.refs.member = object_add(p, LINK, 0, &t);
		if (!p->f.refs.member)
			return false;
		t->edges = 1;
		t->edge[0] = p->count;
		o = object_add(p, LEAF, 0, &t);
		if (!o)
			return false;
		t->hash = i % 64 ? 0 : gc_identity_hash(p->m, o);
		store(p, p->f.refs.member, fields(p->f.refs.member, LINK), o);
		store(p, p->f.refs.fresh, &fields(p->f.refs.fresh, CROWD)[i], p->f.refs.member);
	}
	return true;
}

/* Put an object that was allocated now, the last one of the model, in a root. */
static void root_set(struct program *p, uint32_t slot, struct object *o)
{
	p->f.refs.root[slot] = o;
	p->root[slot] = p->count - 1;
}

/*
 * A finalizable object alone leads to a crowd, or an ephemeron with a living key; then there is a
 * weak reference to its last leaf.
 */
static int crowd_hide(struct program *p)
{
	uint32_t members = CROWD_LEAST + (uint32_t)rnd(p, CROWD_LEAST), crowd = p->count;
	uint32_t slot = (uint32_t)rnd(p, ROOTS - 2);
	bool finalizable = rnd(p, 2);
	struct object *o;
	struct twin *t;

	if (twins_reserve(p, 2 * members + 4))
		return 1;
	if (!crowd_allocate(p, members))
		return fail(p, "out of memory", p->count);
	o = object_add(p, finalizable ? NODE : LEAF, 0, &t);
	if (!o)
		return fail(p, "out of memory", p->count);
	if (finalizable) {
		gc_init(&fields(o, NODE)[0], p->f.refs.fresh);
		t->edges = 3;
		t->edge[0] = crowd;
		t->due = true;
		p->f.refs.fresh = p->f.refs.member = NULL;
		return gc_finalizer_add(p->m, o) ? fail(p, "out of memory", p->count) : 0;
	}
	root_set(p, slot, o);
	o = object_add(p, EPHEMERON, 0, &t);
	if (!o)
		return fail(p, "out of memory", p->count);
	gc_init(&((struct ephemeron *)o)->key, p->f.refs.root[slot]);
	gc_init(&((struct ephemeron *)o)->value, p->f.refs.fresh);
	t->edge[0] = p->root[slot];
	t->edge[1] = crowd;
	root_set(p, slot + 1, o);
	o = object_add(p, WEAK, 0, &t);
	if (!o)
		return fail(p, "out of memory", p->count);
	gc_init(&((struct weak *)o)->target, *fields(p->f.refs.member, LINK));
	t->edge[0] = crowd + 2 * members;
	root_set(p, slot + 2, o);
	p->f.refs.fresh = p->f.refs.member = NULL;
	return 0;
}

static int allocate(struct program *p)
{
	static const uint8_t odds[] = { LINK, LINK, PAIR,   PAIR,   SIX,  SIX,	    LEAF,  LEAF,
					NODE, NODE, NODE,   NODE,   WIDE, ARRAY,    ARRAY, BIG,
					DATA, DATA, CALLED, CALLED, WEAK, EPHEMERON };
	uint8_t shape = odds[rnd(p, sizeof(odds))];
	const struct gc_type *type = p->arena->type[shape];
	struct twin *t;
	uint32_t slot = (uint32_t)rnd(p, ROOTS), length = 0, from = (uint32_t)rnd(p, ROOTS);
	struct object *o;

	if (twins_reserve(p, 1))
		return 1;
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
		/* The longest have cards of elements. */
		length = EDGES * (uint32_t)(1 + rnd(p, rnd(p, 4) ? 60 : rnd(p, 4) ? 700 : 3000));
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
		gc_init(&((struct weak *)o)->target, p->f.refs.root[from]);
		t->edge[0] = p->root[from];
	}
	if (shape == EPHEMERON) {
		uint32_t value = (uint32_t)rnd(p, ROOTS);

		gc_init(&((struct ephemeron *)o)->key, p->f.refs.root[from]);
		gc_init(&((struct ephemeron *)o)->value, p->f.refs.root[value]);
		t->edge[0] = p->root[from];
		t->edge[1] = p->root[from] ? p->root[value] : NO_OBJECT;
	}
	if (shape == DATA)
		memset(((struct data *)o)->byte, (int)(p->count * 7 & 0xff), length);
	/* half of the fields are set before the object is published, without a barrier */
	for (uint32_t i = 0; i < t->edges; i++) {
		uint32_t at = (uint32_t)rnd(p, ROOTS);

		if (rnd(p, 2)) {
			gc_init(&fields(o, shape)[place(o, shape, i)], p->f.refs.root[at]);
			t->edge[i] = p->root[at];
		}
	}
	if (!rnd(p, 16) && shape != WEAK) {
		if (gc_finalizer_add(p->m, o))
			return fail(p, "no memory for a finalizer", p->count);
		t->due = true;
	}
	p->f.refs.root[slot] = o;
	p->root[slot] = p->count++;
	return 0;
}

/* Store into an object that a few steps lead to from a root. */
static int link_some(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS), to = (uint32_t)rnd(p, ROOTS);
	uint32_t id = p->root[at];
	struct object *o = p->f.refs.root[at];
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
		      clear ? NULL : p->f.refs.root[to]);
		t->edge[i] = clear ? NO_OBJECT : p->root[to];
	}
	return 0;
}

/* Write this program's field of a shared object, or the one that all write. */
static void share(struct program *p)
{
	unsigned int at = (unsigned int)rnd(p, SHARED), from = (unsigned int)rnd(p, ROOTS);
	struct gc_header *shared = p->f.refs.shared[at];
	struct object *value = rnd(p, 4) ? p->f.refs.root[from] : NULL;

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
	struct object *o = p->f.refs.guest;
	uint8_t shape;

	if (!o)
		return 0;
	shape = shape_of(p->arena, o);
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
	struct gc_header *shared = p->f.refs.shared[rnd(p, SHARED)];
	struct object **slot = field_of(shared, field);
	uint64_t owner;
	uint8_t shape;

	if (check_guest(p))
		return 1;
	p->f.refs.guest = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (!p->f.refs.guest)
		return 0;
	shape = shape_of(p->arena, p->f.refs.guest);
	if (shape == SHAPES)
		return fail(p, "a shared object refers to what has no type", field);
	p->guest = *id_at(p->f.refs.guest, shape);
	/* The number of a program on this heap; objects of the other heap have none here. */
	owner = (p->guest >> 32) + p->number - (tag_of(p, 0) >> 32);
	if (owner >= p->world->run->threads || (field != OPEN && owner != field))
		return fail(p, "a shared object refers to what its owner has not", p->guest);
	return 0;
}

struct step {
	struct object *o;
	uint32_t id;
};

/*
 * A walk over both graphs at once
 * @m: the mutator of the calling thread
 * @dead: it begins at an object that was finalized, so others may be reached that were, and
 *	  ephemerons that lost a key before the key was reached again
 * @stack: to be visited
 * @waiting: ephemerons whose keys were not reached
 */
struct walk {
	struct program *p;
	struct gc_mutator *m;
	bool dead;
	struct step *stack, *waiting;
	size_t count, waits;
};

static bool walk_begin(struct walk *w, struct program *p, struct gc_mutator *m)
{
	*w = (struct walk){ .p = p, .m = m };
	w->stack = malloc((ROOTS + SHARED + (size_t)p->count * (EDGES + 1)) * sizeof(*w->stack));
	w->waiting = malloc(p->count * sizeof(*w->waiting));
	p->stamp++;
	return w->stack && w->waiting;
}

static void walk_push(struct walk *w, struct object *o, uint32_t id)
{
	w->stack[w->count++] = (struct step){ o, id };
}

/* Visit one object; it is stamped in the model. */
static int walk_visit(struct walk *w, struct step at)
{
	struct program *p = w->p;
	struct twin *t = &p->twins[at.id];

	if (!at.id != !at.o)
		return fail(p, "null where the model is not, or the reverse", at.id);
	if (!at.id)
		return 0;
	if (*id_at(at.o, t->shape) != tag_of(p, at.id))
		return fail(p, "another object stands here", at.id);
	if (t->stamp == p->stamp)
		return 0;
	t->stamp = p->stamp;
	if (t->seen_dead && !w->dead)
		return fail(p, "finalized while reachable", at.id);
	if (t->hash && gc_identity_hash(w->m, at.o) != t->hash)
		return fail(p, "its identity changed", at.id);
	for (uint32_t i = 0; i < t->edges; i++)
		walk_push(w, fields(at.o, t->shape)[place(at.o, t->shape, i)], t->edge[i]);
	for (uint32_t i = 0; i < t->members; i++)
		walk_push(w, fields(at.o, t->shape)[i], at.id + 1 + 2 * i);
	if (t->shape == EPHEMERON)
		w->waiting[w->waits++] = at;
	if (t->shape == DATA) {
		const struct data *d = (const struct data *)at.o;

		for (uint32_t i = 0; i < gc_length(d); i++)
			if (d->byte[i] != (at.id * 7 & 0xff))
				return fail(p, "data changed", at.id);
	}
	return 0;
}

/* An ephemeron was reached: go on to its value if its key was. False: its key was not yet. */
static bool ephemeron_visit(struct walk *w, struct step at, int *ret)
{
	struct program *p = w->p;
	struct twin *t = &p->twins[at.id];
	struct object *key = gc_ephemeron_key(w->m, at.o);

	if (!t->edge[0] || p->twins[t->edge[0]].stamp != p->stamp)
		return false;
	if (!key && w->dead)
		return false;
	if (!key || *id_at(key, p->twins[t->edge[0]].shape) != tag_of(p, t->edge[0]))
		*ret = fail(p, "ephemeron lost a key that is reachable", at.id);
	else
		walk_push(w, gc_ephemeron_value(w->m, at.o), t->edge[1]);
	return true;
}

/* The key of an ephemeron was not reached: it may have been dropped. */
static int ephemeron_check(struct walk *w, struct step at)
{
	struct program *p = w->p;
	struct twin *t = &p->twins[at.id];
	struct object *key = gc_ephemeron_key(w->m, at.o);

	if (!key) {
		if (gc_ephemeron_value(w->m, at.o))
			return fail(p, "ephemeron has a value without a key", at.id);
		t->edge[0] = t->edge[1] = NO_OBJECT;
		return 0;
	}
	if (!t->edge[0] || *id_at(key, p->twins[t->edge[0]].shape) != tag_of(p, t->edge[0]))
		return fail(p, "ephemeron has another key", at.id);
	return 0;
}

/* Walk from what was pushed, and free the walk. */
static int walk_end(struct walk *w)
{
	int ret = 0;

	while (w->count && !ret) {
		size_t left = 0;

		while (w->count && !ret)
			ret = walk_visit(w, w->stack[--w->count]);
		for (size_t i = 0; i < w->waits && !ret; i++)
			if (!ephemeron_visit(w, w->waiting[i], &ret))
				w->waiting[left++] = w->waiting[i];
		w->waits = left;
	}
	for (size_t i = 0; i < w->waits && !ret; i++)
		ret = ephemeron_check(w, w->waiting[i]);
	free(w->stack);
	free(w->waiting);
	return ret;
}

/*
 * Walk both graphs from @refs, or, without the roots, from the shared objects alone; every
 * reachable object is stamped in the model. @m: of the calling thread
 */
static int compare_from(struct program *p, struct gc_mutator *m, const struct refs *refs,
			bool roots)
{
	struct walk w;

	if (!walk_begin(&w, p, m))
		return fail(p, "no memory for the model", 0);
	for (int i = 0; i < ROOTS && roots; i++)
		walk_push(&w, refs->root[i], p->root[i]);
	for (int i = 0; i < SHARED; i++)
		walk_push(&w, *field_of(refs->shared[i], p->number), p->own[i]);
	return walk_end(&w);
}

static int compare(struct program *p)
{
	return compare_from(p, p->m, &p->f.refs, true);
}

/* What @o, which was finalized, leads to is whole. */
static int compare_dead(struct program *p, struct object *o, uint32_t id)
{
	struct walk w;

	if (!walk_begin(&w, p, p->m))
		return fail(p, "no memory for the model", 0);
	w.dead = true;
	walk_push(&w, o, id);
	return walk_end(&w);
}

/* Move down the graph: a root becomes one of its object's fields, or an ephemeron's value. */
static int step_down(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS), to = (uint32_t)rnd(p, ROOTS), i;
	struct twin *t = &p->twins[p->root[at]];
	struct object *o = p->f.refs.root[at];

	if (o && t->shape == EPHEMERON) {
		struct object *value = gc_ephemeron_value(p->m, o);

		/* It was dropped: that is right if the key is not reachable. */
		if (!value && t->edge[1])
			return compare(p);
		p->f.refs.root[to] = value;
		p->root[to] = t->edge[1];
		return 0;
	}
	if (!p->root[at] || !t->edges)
		return 0;
	i = (uint32_t)rnd(p, t->edges);
	p->f.refs.root[to] = fields(o, t->shape)[place(o, t->shape, i)];
	p->root[to] = t->edge[i];
	return 0;
}

/* Ask for the identity of an object, which it keeps. */
static int hash_some(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS);
	struct twin *t = &p->twins[p->root[at]];
	uint64_t hash;

	if (!p->root[at])
		return 0;
	hash = gc_identity_hash(p->m, p->f.refs.root[at]);
	if (t->hash && t->hash != hash)
		return fail(p, "its identity changed", p->root[at]);
	t->hash = hash;
	return 0;
}

static int check_weak(struct program *p, bool exact)
{
	for (int i = 0; i < ROOTS; i++) {
		uint32_t id = p->root[i], target;
		struct object *o;

		if (id && p->twins[id].shape == EPHEMERON && exact &&
		    gc_ephemeron_key(p->m, p->f.refs.root[i]) &&
		    p->twins[p->twins[id].edge[0]].stamp != p->stamp)
			return fail(p, "ephemeron kept a key that is unreachable", id);
		if (!id || p->twins[id].shape != WEAK)
			continue;
		target = p->twins[id].edge[0];
		o = gc_weak_get(p->m, p->f.refs.root[i]);
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
		uint64_t id = *id_at(o, shape_of(p->arena, o)) - tag_of(p, 0);

		if (id >= p->count || !p->twins[id].due)
			return fail(p, "finalized without being asked", id);
		if (p->twins[id].seen_dead)
			return fail(p, "finalized twice", id);
		p->twins[id].seen_dead = true;
		(*fetched)++;
		if (compare_dead(p, o, (uint32_t)id))
			return 1;
	}
	return 0;
}

static int check_all(struct program *p)
{
	unsigned int fetched;
	struct gc_error err;

	/* The model does not know what is reachable from these. */
	p->f.refs.guest = NULL;
	for (int i = 0; i < SHARED && p->world->run->threads == 1; i++)
		store(p, (struct object *)p->f.refs.shared[i], field_of(p->f.refs.shared[i], OPEN),
		      NULL);
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

/* Go on where the program left the heap; false: the thread cannot attach. */
static bool heap_enter(struct program *p)
{
	if (gc_mutator_attach(p->arena->heap, &p->m))
		return false;
	GC_PUSH(p->m, p->f);
	if (p->away) {
		p->f.refs = p->kept;
		gc_roots_remove(p->arena->heap, (void **)&p->kept);
		p->away = false;
	}
	return true;
}

/* Leave the program's objects to roots of the heap: other threads collect it meanwhile. */
static bool heap_leave(struct program *p)
{
	p->kept = p->f.refs;
	if (gc_roots_add(p->arena->heap, (void **)&p->kept, sizeof(p->kept) / sizeof(void *)))
		return false;
	p->away = true;
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	p->m = NULL;
	return true;
}

/* The same thread's program on the other heap, or NULL */
static struct program *heap_change(struct program *p)
{
	struct program *next = p + THREADS;
	struct gc_mutator *m;

	if (p->world->heaps == 1)
		return p;
	if (p->arena != p->world->arena)
		next = p - THREADS;
	if (gc_mutator_attach(next->arena->heap, &m) != -EBUSY) {
		fail(p, "attached to two heaps", 0);
		return NULL;
	}
	if (heap_leave(p) && heap_enter(next))
		return next;
	fail(p, "cannot change to another heap", 0);
	return NULL;
}

/* The first program makes the shared objects, and all get them before they do anything else. */
static int get_shared(struct program *p)
{
	struct world *w = p->world;
	struct arena *a = p->arena;

	for (int i = 0; i < SHARED && !p->number; i++) {
		static const uint32_t parts[] = { 0, 0, 1, 7, 400, 1200 };

		a->shared[i] = i < 2 ? gc_alloc(p->m, a->board[0]) :
				       gc_alloc_array(p->m, a->board[1], FIELDS * parts[i]);
		if (!a->shared[i])
			return fail(p, "out of memory", 0);
	}
	__atomic_fetch_add(&a->started, !p->number, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&a->started, __ATOMIC_SEQ_CST) && !has_failed(w))
		gc_safepoint(p->m);
	memcpy(p->f.refs.shared, a->shared, sizeof(p->f.refs.shared));
	__atomic_fetch_add(&a->started, !!p->number, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&a->started, __ATOMIC_SEQ_CST) < w->run->threads && !has_failed(w))
		gc_safepoint(p->m);
	/*
	 * From here on the programs alone keep them; cmsfly has no roots of the program then. But a
	 * thread that takes the place of a canceled one gets them here.
	 */
	if (!p->number && !w->run->disturbs)
		gc_roots_remove(a->heap, (void **)a->shared);
	return 0;
}

/* Shrink an array that a root refers to; a big one keeps its references, closer together. */
static int shrink_some(struct program *p)
{
	uint32_t at = (uint32_t)rnd(p, ROOTS), length;
	struct object *o = p->f.refs.root[at], *edge[EDGES];
	struct twin *t = &p->twins[p->root[at]];

	if (!p->root[at] || (t->shape != ARRAY && t->shape != BIG && t->shape != DATA))
		return 0;
	length = (uint32_t)rnd(p, (uint64_t)gc_length(o) + 1);
	if (t->shape == BIG) {
		length = length / EDGES * EDGES + EDGES;
		if (length > gc_length(o))
			return 0;
		for (uint32_t i = 0; i < EDGES; i++) {
			edge[i] = fields(o, BIG)[place(o, BIG, i)];
			gc_write(p->m, o, &fields(o, BIG)[place(o, BIG, i)], NULL);
		}
	}
	if (gc_array_shrink(p->m, o, length) || gc_length(o) != length)
		return fail(p, "an array did not shrink", p->root[at]);
	if (t->shape == ARRAY)
		t->edges = length;
	for (uint32_t i = 0; i < EDGES && t->shape == BIG; i++)
		gc_write(p->m, o, &fields(o, BIG)[place(o, BIG, i)], edge[i]);
	return 0;
}

static int step_run(struct program *p)
{
	switch (rnd(p, 72)) {
	case 0 ... 27:
		return allocate(p);
	case 28 ... 49:
		return link_some(p);
	case 50 ... 57:
		return step_down(p);
	case 58 ... 60:
		gc_safepoint(p->m);
		return 0;
	case 61:
		gc_park(p->m);
		gc_unpark(p->m);
		return hash_some(p);
	case 62:
		if (!rnd(p, 40))
			gc_collect(p->m);
		return 0;
	case 63:
		return shrink_some(p);
	case 64 ... 68:
		share(p);
		return 0;
	case 69 ... 71:
		return visit(p);
	default:
		if (!rnd(p, 24))
			return compare(p) || check_weak(p, false);
		return 0;
	}
}

/*
 * In a forked child: compare the graphs of all programs on this heap. Threads that were attached
 * are gone with their roots, and left what is reachable from shared objects.
 */
static int compare_all(struct program *p)
{
	struct program *first = p - p->number;

	for (unsigned int i = 0; i < p->world->run->threads; i++) {
		struct program *q = &first[i];
		int ret = q->away ? compare_from(q, p->m, &q->kept, true) :
				    compare_from(q, p->m, &p->f.refs, q == p);

		if (ret)
			return ret;
	}
	return 0;
}

/* All heaps are as the fork found them, can be collected and worked on, and can be destroyed. */
static int child_run(struct program *p)
{
	struct world *w = p->world;
	struct program *other;
	struct gc_error err;

	for (unsigned int h = 0; h < w->heaps; h++) {
		if (compare_all(p))
			return 1;
		gc_collect_full(p->m);
		if (compare_all(p) || check_weak(p, false))
			return 1;
		for (int i = 0; i < AFTERLIFE; i++)
			if (step_run(p))
				return 1;
		gc_collect_full(p->m);
		if (compare_all(p))
			return 1;
		if (gc_verify(p->m, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return fail(p, "gc_verify", 0);
		}
		other = heap_change(p);
		if (!other)
			return 1;
		p = other;
	}
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	for (unsigned int h = 0; h < w->heaps; h++)
		if (gc_heap_destroy(w->arena[h].heap))
			return fail(p, "a heap of a child is not destroyed", h);
	return 0;
}

static int fork_some(struct program *p)
{
	int status = -1, state;
	pid_t pid;

	/* The child's thread may be to be canceled as well. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pid = fork();
	if (!pid) {
		alarm(FORK_S);
		_exit(child_run(p));
	}
	/* Other threads collect meanwhile, and fork. */
	gc_park(p->m);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	gc_unpark(p->m);
	pthread_setcancelstate(state, &state);
	return status ? fail(p, "a forked child failed", (uint64_t)(uint32_t)status) : 0;
}

static int disturb_some(struct program *p)
{
	struct arena *a = p->arena;
	const char *wrong;

	disturb_step(p->m);
	if (rnd(p, FILL_ODDS))
		return 0;
	wrong = disturb_fill(p->m, a->type[ARRAY], FILL_BYTES / sizeof(void *), rnd(p, 2));
	return wrong ? fail(p, wrong, 0) : 0;
}

static int programs_run(struct program **at)
{
	struct program *p = *at;
	struct model_run *run = p->world->run;

	for (unsigned int i = p->steps; i < run->steps; i++) {
		p->steps = i;
		if (run->disturbs && disturb_some(p))
			return 1;
		if (run->crowds && !rnd(p, CROWD_ODDS) && crowd_hide(p))
			return 1;
		if (step_run(p) || (run->forks && !rnd(p, FORK) && fork_some(p)))
			return 1;
		if (p->world->heaps == 1 || rnd(p, STAY))
			continue;
		p = heap_change(p);
		if (!p)
			return 1;
		*at = p;
	}
	return 0;
}

/* The thread was canceled: drop what it kept, and detach, or leave that to its end. */
static void program_drop(void *arg)
{
	struct program *p = arg;

	p->m->frames = NULL;
	if (rnd(p, 2))
		gc_mutator_detach(p->m);
}

/* programs_run() of a thread that is disturbed, and may be canceled in it */
static int program_run_disturbed(struct program *p)
{
	int state, ret;

	pthread_cleanup_push(program_drop, p);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	ret = programs_run(&p);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cleanup_pop(0);
	return ret;
}

/* The steps of a thread that may be canceled, from where the one before it was. */
static void *disturbed_main(void *arg)
{
	struct program *p = arg;
	bool again = p->twins;

	disturb_thread();
	memset(p->root, 0, sizeof(p->root));
	if (!again) {
		p->room = 1024;
		p->count = 1;
		p->twins = calloc(p->room, sizeof(*p->twins));
	}
	if (!p->twins || !heap_enter(p)) {
		fail(p, "cannot start", 0);
	} else {
		if (again)
			memcpy(p->f.refs.shared, p->arena->shared, sizeof(p->f.refs.shared));
		if ((again || !get_shared(p)) && !program_run_disturbed(p) && !check_guest(p))
			check_all(p);
		GC_POP(p->m, p->f);
		gc_mutator_detach(p->m);
	}
	disturb_leave();
	return NULL;
}

static void disturbed_run(struct world *w)
{
	struct model_run *run = w->run;
	void *arg[THREADS];

	for (unsigned int i = 0; i < run->threads; i++)
		arg[i] = &w->program[0][i];
	gc_oom_callback(w->arena[0].heap, refusal_leave, NULL);
	disturb_run(disturbed_main, arg, run->threads, run->seed);
	run->canceled = disturbance.canceled;
	run->handled = disturbance.handled;
	run->left = disturbance.left;
	if (disturbance.foreign)
		fail(&w->program[0][0], "a thread of the heap ran a handler", 0);
}

static void *program_main(void *arg)
{
	struct program *p = arg, *next;
	struct world *w = p->world;
	bool bad = false;

	for (unsigned int h = 0; h < w->heaps; h++) {
		struct program *each = p + (size_t)h * THREADS;

		each->room = 1024;
		each->count = 1; /* 0 is null */
		each->twins = calloc(each->room, sizeof(*each->twins));
		bad |= !each->twins;
	}
	if (bad || !heap_enter(p)) {
		fail(p, "cannot start", 0);
		return NULL;
	}
	for (unsigned int h = 0; h < w->heaps; h++) {
		if (get_shared(p))
			return NULL;
		next = heap_change(p);
		if (!next)
			return NULL;
		p = next;
	}
	bad = programs_run(&p);
	for (unsigned int h = 0; h < w->heaps && !bad && !has_failed(w); h++) {
		bad = check_guest(p) || check_all(p);
		next = heap_change(p);
		if (!next)
			return NULL;
		p = next;
	}
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	return NULL;
}

/* The steps of all threads, without disturbance */
static void undisturbed_run(struct world *w)
{
	pthread_t thread[THREADS];

	for (unsigned int i = 1; i < w->run->threads; i++)
		pthread_create(&thread[i], NULL, program_main, &w->program[0][i]);
	program_main(&w->program[0][0]);
	for (unsigned int i = 1; i < w->run->threads; i++)
		pthread_join(thread[i], NULL);
}

static int arena_create(struct arena *a, const char *options)
{
	struct gc_error err;

	if (gc_heap_create(&a->heap, options, NULL, &err)) {
		fprintf(stderr, "model: %s: %s\n", options, err.text);
		return 1;
	}
	return types(a) || gc_roots_add(a->heap, (void **)a->shared, SHARED);
}

int model_run(struct model_run *run)
{
	struct world w = { .run = run, .heaps = run->other ? 2 : 1 };

	for (unsigned int h = 0; h < w.heaps; h++) {
		if (arena_create(&w.arena[h], h ? run->other : run->options))
			return 1;
		for (unsigned int i = 0; i < run->threads; i++) {
			struct program *p = &w.program[h][i];

			p->world = &w;
			p->arena = &w.arena[h];
			p->number = i;
			p->rng = (run->seed + (uint64_t)h * 1000003) * 0x9e3779b97f4a7c15u + i + 1;
		}
	}
	if (run->disturbs)
		disturbed_run(&w);
	else
		undisturbed_run(&w);
	gc_heap_stats(w.arena[0].heap, &run->stats);
	for (unsigned int h = 0; h < w.heaps; h++) {
		/* Not by the programs: children of those that still run compare their objects. */
		for (unsigned int i = 0; i < run->threads; i++)
			free(w.program[h][i].twins);
		if (gc_heap_destroy(w.arena[h].heap)) {
			fprintf(stderr, "model: a mutator stayed attached\n");
			return 1;
		}
	}
	return w.failed;
}
