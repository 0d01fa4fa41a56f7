// SPDX-License-Identifier: MIT
/*
 * Description: tagged words and addresses of static objects in fields, arrays and roots, on every
 * plan: random graphs equal a model, and the collectors leave such words alone.
 */
#include "alone.h"

#include <errno.h>

#define SLOTS 4
#define LONG  9000 /* elements of an array with cards of its own */
#define ROOTS 8
#define STEPS 60000

struct node {
	struct gc_header header;
	void *slot[SLOTS];
	long id;
};

struct array {
	struct gc_header header;
	long id;
	void *slot[];
};

/* Static objects; they have headers as others do. */
static struct node still[3];

enum kind {
	PLAIN,
	TRACED,
	ARRAY,
	KINDS
};

/* What the model knows of an object: a word is a reference if its id is not 0 */
struct word {
	uint32_t id;
	void *other;
};

struct twin {
	enum kind kind;
	struct word word[SLOTS];
	uint32_t seen; /* by the comparison of that number */
};

static const struct gc_type *type[KINDS], *weak_type;
static struct twin *twins;
static uint32_t twin_count, comparison;
static struct word root_word[ROOTS];
static uint64_t rng;

static struct {
	struct gc_frame head;
	void *root[ROOTS];
	struct node *fresh;
} f;

static uint32_t rnd(uint32_t below)
{
	return (uint32_t)((rng = rng * 6364136223846793005u + 1442695040888963407u) >> 33) % below;
}

static void node_trace(void *obj, gc_visit_fn visit, void *arg)
{
	for (int i = 0; i < SLOTS; i++)
		visit(&((struct node *)obj)->slot[i], arg);
}

/* Where slot @i of a long array lies: on different cards */
static void **slot_of(void *obj, enum kind kind, uint32_t i)
{
	struct array *a = obj;

	if (kind != ARRAY)
		return &((struct node *)obj)->slot[i];
	return &a->slot[gc_length(a) == LONG ? i * (LONG / SLOTS) : i];
}

static long id_of(void *obj, enum kind kind)
{
	return kind == ARRAY ? ((struct array *)obj)->id : ((struct node *)obj)->id;
}

static bool heap_open(const char *options)
{
	struct gc_type_desc d[KINDS] = {
		{ .name = "plain", .size = sizeof(struct node), .refs = 30, .mixed = true },
		{ .name = "traced", .size = sizeof(struct node), .trace = node_trace },
		{ .name = "array", .size = sizeof(struct array), .tail = GC_TAIL_REFS },
	};
	struct gc_type_desc w = { .name = "weak", .size = sizeof(struct node), .weak = true };
	struct gc_error err = { .text = "no memory" };

	if (gc_heap_create(&heap, options, NULL, &err))
		return ok(false, "%s starts: %s", options, err.text);
	for (int i = 0; i < KINDS; i++)
		type[i] = gc_type_register(heap, &d[i], &err);
	weak_type = gc_type_register(heap, &w, &err);
	for (size_t i = 0; i < sizeof(still) / sizeof(still[0]); i++)
		still[i].header.word = type[PLAIN]->word;
	return !gc_mutator_attach(heap, &m) || ok(false, "a thread attaches");
}

/* A word that is no reference: NULL, a number, a tagged address of an object, or something static */
static void *other_word(void)
{
	uintptr_t tag = 1 + rnd(7);

	switch (rnd(5)) {
	case 0:
		return NULL;
	case 1:
		return (void *)((uintptr_t)rnd(1u << 30) << 3 | tag);
	case 2:
		/* It may be the only one that looks like a reference to a dead object. */
		return (void *)((uintptr_t)f.root[rnd(ROOTS)] | tag);
	case 3:
		return &still[rnd(3)];
	default:
		return (void *)(UINTPTR_MAX << 3 & (uintptr_t)rng << 20);
	}
}

static void slot_set(void *obj, struct twin *t, uint32_t i, struct word word, void *value)
{
	t->word[i] = word;
	if (t->kind == ARRAY && rnd(2)) {
		gc_write_element(m, obj, ((struct array *)obj)->slot,
				 (size_t)(slot_of(obj, ARRAY, i) - ((struct array *)obj)->slot),
				 value);
		return;
	}
	gc_write(m, obj, slot_of(obj, t->kind, i), value);
}

/* An object in f.fresh, whose words are no references; false: no memory */
static bool object_make(void)
{
	enum kind kind = (enum kind)rnd(KINDS);
	struct twin *t = &twins[twin_count];
	uint32_t i;

	if (kind == ARRAY)
		f.fresh = gc_alloc_array(m, type[kind], rnd(30) ? SLOTS : LONG);
	else
		f.fresh = gc_alloc(m, type[kind]);
	if (!f.fresh)
		return false;
	*t = (struct twin){ .kind = kind };
	if (kind == ARRAY)
		((struct array *)f.fresh)->id = twin_count++;
	else
		f.fresh->id = twin_count++;
	for (i = 0; i < SLOTS; i++) {
		void *word = other_word();

		slot_set(f.fresh, t, i, (struct word){ 0, word }, word);
	}
	return true;
}

/* The object of a random root, or of what its fields lead to, and its twin; NULL: no reference */
static void *object_choose(struct twin **t)
{
	uint32_t r = rnd(ROOTS), id = root_word[r].id;
	void *obj = id ? f.root[r] : NULL;

	for (uint32_t depth = rnd(5); obj && depth--;) {
		uint32_t i = rnd(SLOTS);

		if (!twins[id].word[i].id)
			break;
		obj = *slot_of(obj, twins[id].kind, i);
		id = twins[id].word[i].id;
	}
	*t = &twins[id];
	return obj;
}

static bool step_run(void)
{
	struct twin *from, *to;
	void *obj, *value;
	uint32_t r;

	switch (rnd(4)) {
	case 0:
		if (!object_make())
			return false;
		r = rnd(ROOTS);
		f.root[r] = f.fresh;
		root_word[r] = (struct word){ twin_count - 1, NULL };
		break;
	case 1:
		r = rnd(ROOTS);
		f.root[r] = other_word();
		root_word[r] = (struct word){ 0, f.root[r] };
		break;
	case 2:
		obj = object_choose(&from);
		value = object_choose(&to);
		if (obj && value)
			slot_set(obj, from, rnd(SLOTS),
				 (struct word){ (uint32_t)(to - twins), NULL }, value);
		break;
	default:
		obj = object_choose(&from);
		value = other_word();
		if (obj)
			slot_set(obj, from, rnd(SLOTS), (struct word){ 0, value }, value);
	}
	return true;
}

static bool word_holds(struct word word, void *real);

static bool object_holds(uint32_t id, void *obj)
{
	struct twin *t = &twins[id];

	if (t->seen == comparison)
		return true;
	t->seen = comparison;
	if (gc_type_of(heap, obj) != type[t->kind] || id_of(obj, t->kind) != (long)id)
		return false;
	for (uint32_t i = 0; i < SLOTS; i++)
		if (!word_holds(t->word[i], *slot_of(obj, t->kind, i)))
			return false;
	return true;
}

static bool word_holds(struct word word, void *real)
{
	return word.id ? object_holds(word.id, real) : real == word.other;
}

static bool graph_holds(void)
{
	comparison++;
	for (uint32_t i = 0; i < ROOTS; i++)
		if (!word_holds(root_word[i], f.root[i]))
			return false;
	return true;
}

static void graph_run(const char *options)
{
	bool good = true;
	uint32_t i;

	if (!heap_open(options))
		return;
	twins = calloc(STEPS + 2, sizeof(*twins));
	twin_count = 1;
	rng = 42;
	memset(root_word, 0, sizeof(root_word));
	GC_PUSH(m, f);
	for (i = 0; i < STEPS && good; i++) {
		good = step_run();
		if (i % 512 == 511)
			good &= graph_holds();
	}
	gc_collect_full(m);
	ok(good && graph_holds() && stats().cycles > 20,
	   "%s: equal to the model, %u objects, %llu collections", options, twin_count,
	   (unsigned long long)stats().cycles);
	GC_POP(m, f);
	stop();
	free(twins);
}

/* Weak references, ephemerons and hashes of what is no object of the heap */
static void weak_words(const char *options)
{
	struct {
		struct gc_frame head;
		void *weak, *key, *value, *ephemeron;
	} w;
	uint64_t hash;

	if (!heap_open(options))
		return;
	GC_PUSH(m, w);
	w.key = &still[1];
	w.weak = gc_weak_new(m, &w.key);
	w.value = gc_alloc(m, type[PLAIN]);
	((struct node *)w.value)->id = 77;
	w.ephemeron = gc_ephemeron_new(m, &w.key, &w.value);
	w.key = w.value = NULL;
	hash = gc_identity_hash(m, &still[1]);
	ok(hash && hash != gc_identity_hash(m, &still[2]), "%s: static objects have hashes",
	   options);
	ok(gc_finalizer_add(m, &still[1]) == -EINVAL, "%s: static objects are not finalized",
	   options);
	gc_collect_full(m);
	gc_collect(m);
	gc_collect_full(m);
	ok(gc_weak_get(m, w.weak) == &still[1] && gc_ephemeron_key(m, w.ephemeron) == &still[1] &&
		   gc_ephemeron_value(m, w.ephemeron) &&
		   ((struct node *)gc_ephemeron_value(m, w.ephemeron))->id == 77 &&
		   gc_identity_hash(m, &still[1]) == hash,
	   "%s: weak references to a static object stay, and so does an ephemeron's value",
	   options);
	gc_write(m, w.ephemeron, (char *)w.ephemeron + 8, (void *)77);
	gc_collect_full(m);
	ok(gc_ephemeron_key(m, w.ephemeron) == (void *)77 && gc_ephemeron_value(m, w.ephemeron),
	   "%s: so they do with a number as key", options);
	GC_POP(m, w);
	stop();
}

static void registration_late(void)
{
	struct gc_type_desc d = { .name = "late", .size = 16, .refs = 2 };
	struct gc_error err = { 0 };

	if (!open_heap("plan=marksweep"))
		return;
	d.mixed = true;
	ok(!gc_type_register(heap, &d, &err) && err.code == -EBUSY && strstr(err.text, "late"),
	   "the first mixed type is refused when a thread was attached: %s", err.text);
	stop();
}

int main(void)
{
	static const char *const rows[] = {
		"plan=cms,stress=8K",
		"plan=cms,stress=8K,trace=finger",
		"plan=cms,stress=8K,markstack=4K,overflow=card+filter",
		"plan=cmsfly,stress=8K",
		"plan=gencms,stress=8K",
		"plan=gss,nursery=512K,stress=8K",
		"plan=gss,nursery=512K,stress=8K,promote=naive,p=0.3",
		"plan=gss,nursery=512K,stress=8K,promote=never,workers=3",
		"plan=immix,stress=8K,defrag=always",
		"plan=immix,stress=8K,defrag=never,workers=3",
		"plan=marksweep,stress=8K,workers=3",
		"plan=marksweep,stress=8K",
		"plan=semispace,stress=8K",
		"plan=semispace,stress=8K,workers=3",
		"plan=stickyimmix,stress=16K",
		"plan=stickyimmix,stress=8K,defrag=always",
	};
	char options[160];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(options, sizeof(options), "%s,max=32M,verify=all,poison=1", rows[i]);
		graph_run(options);
		weak_words(options);
	}
	registration_late();
	return done();
}
