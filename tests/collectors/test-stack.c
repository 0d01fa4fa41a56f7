// SPDX-License-Identifier: MIT
/*
 * Description: stack=conservative on every plan that has it: random programs whose references are
 * in C locals, often into the middle of objects, equal a model; so do what is only in registers,
 * parked threads, and stacks of coroutines. Pinned objects stay. The steps without which that would
 * not hold are left out one by one, and are missed.
 */
#include "alone.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <ucontext.h>

#define SLOTS 4
#define HELD  12 /* words of a thread's locals */
#define ROOTS 8 /* precise ones, whose objects may move */
#define LONG  6000 /* elements of an array with pages of its own */
#define STEPS 20000
#define TRIES 8 /* programs, of which one shows what is left out */

struct node {
	struct gc_header header;
	struct node *slot[SLOTS];
	uint64_t id;
	char data[];
};

/* What the model knows of a node; 0: no node */
struct twin {
	uint32_t edge[SLOTS];
	uint32_t bytes, seen;
};

/* A thread's program; nothing in it but root[] refers to the heap */
struct program {
	struct gc_mutator *m;
	struct twin *twins;
	uint32_t count, steps, comparison;
	uint64_t rng;
	void *root[ROOTS];
	uint32_t root_id[ROOTS];
	uint64_t moved;
	const char *bad;
};

/* The address sanitizer keeps what functions had in their frames. */
#if defined(__SANITIZE_ADDRESS__)
#define FRAMES_LINGER true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FRAMES_LINGER true
#endif
#endif
#ifndef FRAMES_LINGER
#define FRAMES_LINGER false
#endif

static const struct gc_type *type;

static uint32_t rnd(struct program *p, uint32_t below)
{
	p->rng = p->rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(p->rng >> 33) % below;
}

static const struct gc_type *node_type(void)
{
	struct gc_type_desc d = {
		.name = "node",
		.size = sizeof(struct node),
		.refs = ((1u << SLOTS) - 1) << sizeof(struct gc_header) / sizeof(void *),
		.tail = GC_TAIL_DATA,
		.elem_size = 1,
	};

	return gc_type_register(heap, &d, NULL);
}

static bool node_holds(struct program *p, const struct node *node, uint32_t id)
{
	struct twin *t = &p->twins[id];

	if (!id)
		return true;
	if (t->seen == p->comparison)
		return true;
	t->seen = p->comparison;
	if (node->id != id || gc_length(node) != t->bytes)
		return false;
	for (int i = 0; i < SLOTS; i++)
		if (!node_holds(p, node->slot[i], t->edge[i]) || !node->slot[i] != !t->edge[i])
			return false;
	return true;
}

static struct node *node_make(struct program *p)
{
	uint32_t bytes = rnd(p, 40) ? rnd(p, 200) : rnd(p, 2) ? rnd(p, 3000) : LONG * 2;
	struct node *node = gc_alloc_array(p->m, type, bytes);

	if (!node || p->count == p->steps)
		return NULL;
	node->id = p->count;
	p->twins[p->count++] = (struct twin){ .bytes = bytes };
	return node;
}

/* struct local - a word of the stack, and what it is: @offset into the object @id, or junk */
struct local {
	uintptr_t word;
	uint32_t id, offset;
};

static struct node *local_node(const struct local *l)
{
	return l->id ? (struct node *)(l->word - l->offset) : NULL;
}

/* In the middle of the object, so that nothing else refers to it */
static void local_set(struct program *p, struct local *l, struct node *node, uint32_t id)
{
	uint32_t bytes = (uint32_t)sizeof(struct node) + p->twins[id].bytes;

	l->id = id;
	l->offset = rnd(p, 2) ? rnd(p, bytes) : 0;
	l->word = (uintptr_t)node + l->offset;
}

static void *thread_yields(void *arg)
{
	sched_yield();
	return arg;
}

/* The stack of a thread is this function's frame. */
static __attribute__((noinline)) void program_run(struct program *p)
{
	struct local held[HELD] = { { 0 } };

	for (uint32_t step = 0; step < p->steps && !p->bad; step++) {
		struct local *a = &held[rnd(p, HELD)], *b = &held[rnd(p, HELD)];
		uint32_t i = rnd(p, SLOTS), r = rnd(p, ROOTS);
		struct node *node;

		switch (rnd(p, 8)) {
		case 0:
		case 1:
			if (p->count + 1 == p->steps || !(node = node_make(p)))
				return;
			local_set(p, a, node, p->count - 1);
			break;
		case 2:
			/* A number that looks like an address of the heap */
			*a = (struct local){ .word = (uintptr_t)local_node(b) + rnd(p, 1u << 20) };
			break;
		case 3:
		case 4:
			if (!a->id)
				break;
			gc_write(p->m, local_node(a), &local_node(a)->slot[i], local_node(b));
			p->twins[a->id].edge[i] = b->id;
			break;
		case 5:
			/* What only the precise roots lead to may move. */
			p->root[r] = local_node(a);
			p->root_id[r] = a->id;
			*a = (struct local){ 0 };
			break;
		case 6:
			if (!p->root[r])
				break;
			node = ((struct node *)p->root[r])->slot[i];
			if (node)
				local_set(p, a, node, p->twins[p->root_id[r]].edge[i]);
			break;
		default:
			if (!rnd(p, 20))
				gc_parked_call(p->m, thread_yields, NULL);
			gc_safepoint(p->m);
		}
		if (step % 64)
			continue;
		p->comparison++;
		for (uint32_t n = 0; n < HELD; n++)
			if (!node_holds(p, local_node(&held[n]), held[n].id))
				p->bad = "an object of the stack";
		for (uint32_t n = 0; n < ROOTS; n++)
			if (!node_holds(p, p->root[n], p->root_id[n]))
				p->bad = "an object of a root";
	}
}

static void *thread_main(void *arg)
{
	struct program *p = arg;

	if (gc_mutator_attach(heap, &p->m)) {
		p->bad = "attaching";
		return NULL;
	}
	gc_roots_add(heap, p->root, ROOTS);
	program_run(p);
	gc_roots_remove(heap, p->root);
	gc_mutator_detach(p->m);
	return NULL;
}

/* 0, or 1 with a line on stderr. */
static int graph_run(const char *options, unsigned int threads, uint64_t seed)
{
	struct gc_error err = { .text = "no memory" };
	struct program program[4] = { 0 };
	pthread_t id[4];
	int bad = 0;

	if (gc_heap_create(&heap, options, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	type = node_type();
	for (unsigned int i = 0; i < threads; i++) {
		program[i].rng = seed + i;
		program[i].steps = STEPS / threads;
		program[i].count = 1;
		program[i].twins = calloc(program[i].steps, sizeof(*program[i].twins));
		pthread_create(&id[i], NULL, thread_main, &program[i]);
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(id[i], NULL);
		if (program[i].bad) {
			fprintf(stderr, "%s differs from the model\n", program[i].bad);
			bad = 1;
		}
		free(program[i].twins);
	}
	if (stats().cycles < 20) {
		fprintf(stderr, "only %llu collections\n", (unsigned long long)stats().cycles);
		bad = 1;
	}
	return gc_heap_destroy(heap) || bad;
}

/* ---- registers of a parked thread ---- */

static int parked, released;

static void state_await(const int *word)
{
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sched_yield();
}

/* Not to be read by what scans the stack */
static uintptr_t hidden(const void *p)
{
	return ~(uintptr_t)p;
}

struct arguments {
	long word[16];
};

/* Overwrite what earlier calls left on the stack; the arguments lie above what aligns the frame. */
static __attribute__((noinline)) void scribble_with(struct arguments a)
{
	char bytes[8192];

	memset(bytes, 1, sizeof(bytes));
	__asm__ __volatile__("" : : "r"(bytes), "m"(a) : "memory");
}

static inline __attribute__((always_inline)) void stack_scribble(void)
{
	scribble_with((struct arguments){ { 0 } });
}

static __attribute__((noinline)) uintptr_t node_hidden(struct gc_mutator *own, uint64_t id)
{
	struct node *node = gc_alloc_array(own, type, 80);

	if (node)
		node->id = id;
	return hidden(node);
}

static __attribute__((noinline)) void parked_wait(void)
{
	__atomic_store_n(&parked, 1, __ATOMIC_SEQ_CST);
	state_await(&released);
}

/* Two references that compilers keep in registers which calls preserve */
static __attribute__((noinline)) bool registers_keep(struct gc_mutator *own)
{
	uintptr_t one = node_hidden(own, 111), two = node_hidden(own, 222);

	stack_scribble();
	one = ~one;
	two = ~two;
	__asm__ __volatile__("" : "+r"(one), "+r"(two));
	gc_park(own);
	stack_scribble();
	parked_wait();
	gc_unpark(own);
	__asm__ __volatile__("" : "+r"(one), "+r"(two));
	return ((struct node *)one)->id == 111 && ((struct node *)two)->id == 222;
}

static void *registers_thread(void *arg)
{
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return NULL;
	*(bool *)arg = registers_keep(own);
	gc_mutator_detach(own);
	return NULL;
}

static int registers_run(const char *options)
{
	bool good = false;
	pthread_t id;

	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m))
		return 1;
	type = node_type();
	parked = released = 0;
	pthread_create(&id, NULL, registers_thread, &good);
	gc_park(m);
	state_await(&parked);
	gc_unpark(m);
	for (int i = 0; i < 3; i++) {
		gc_collect_full(m);
		/* What is free is used, and what was freed has other contents. */
		for (int n = 0; n < 20000; n++)
			gc_alloc_array(m, type, 80);
	}
	__atomic_store_n(&released, 1, __ATOMIC_SEQ_CST);
	gc_park(m);
	pthread_join(id, NULL);
	gc_unpark(m);
	stop();
	if (!good)
		fprintf(stderr, "an object in a register was freed\n");
	return !good;
}

/* ---- pinned objects ---- */

static bool weak_is_dead(void *weak)
{
	stack_scribble();
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	return !gc_weak_get(m, weak);
}

/* Every 13th of many objects in fragments is pinned; does one move, do others? */
static int pins_run(const char *options)
{
	enum {
		COUNT = 3000
	};
	static void *slot[COUNT];
	static uintptr_t was[COUNT];
	static bool pinned[COUNT];
	struct {
		struct gc_frame head;
		void *weak, *target;
	} f;
	uintptr_t alone;
	long moved = 0, bad = 0;

	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m))
		return 1;
	type = node_type();
	memset(slot, 0, sizeof(slot));
	gc_roots_add(heap, slot, COUNT);
	for (int i = 0; i < COUNT; i++) {
		for (int n = 0; n < 5; n++)
			gc_alloc_array(m, type, 60);
		slot[i] = gc_alloc_array(m, type, 60);
		((struct node *)slot[i])->id = (uint64_t)i;
		pinned[i] = i % 13 == 0;
		if (pinned[i] && gc_object_pin(m, slot[i]))
			bad++;
	}
	for (int i = 0; i < COUNT; i++)
		was[i] = hidden(slot[i]);
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	for (int i = 0; i < COUNT; i++) {
		bad += ((struct node *)slot[i])->id != (uint64_t)i;
		bad += pinned[i] && was[i] != hidden(slot[i]);
		moved += was[i] != hidden(slot[i]);
	}
	if (bad || !!moved != gc_heap_moves(heap))
		fprintf(stderr, "%ld pinned objects moved or are lost, %ld others moved\n", bad,
			moved);
	/* Pinned twice, and in no root */
	GC_PUSH(m, f);
	f.target = gc_alloc_array(m, type, 100);
	f.weak = gc_weak_new(m, &f.target);
	alone = hidden(f.target);
	bad += gc_object_pin(m, f.target) || gc_object_pin(m, f.target);
	f.target = NULL;
	bad += weak_is_dead(f.weak) || hidden(gc_weak_get(m, f.weak)) != alone;
	bad += gc_object_unpin(m, gc_weak_get(m, f.weak)) != 0;
	bad += weak_is_dead(f.weak);
	bad += gc_object_unpin(m, gc_weak_get(m, f.weak)) != 0;
	bad += !weak_is_dead(f.weak);
	bad += gc_object_unpin(m, slot[1]) != -ENOENT;
	bad += gc_object_pin(m, &alone) != -EINVAL;
	if (bad)
		fprintf(stderr, "%ld faults with pins\n", bad);
	GC_POP(m, f);
	gc_roots_remove(heap, slot);
	stop();
	return bad || (!moved && strstr(options, "always"));
}

static void unsupported(const char *plan)
{
	struct gc_error err = { 0 };
	struct {
		struct gc_frame head;
		void *small, *large;
	} f;
	char options[64];

	snprintf(options, sizeof(options), "plan=%s,stack=conservative", plan);
	ok(gc_heap_create(&heap, options, NULL, &err) == -EOPNOTSUPP &&
		   strstr(err.text, "stack=") && strstr(err.text, plan),
	   "plan=%s has no conservative stack: %s", plan, err.text);
	snprintf(options, sizeof(options), "plan=%s", plan);
	if (!open_heap(options))
		return;
	type = node_type();
	GC_PUSH(m, f);
	f.small = gc_alloc_array(m, type, 8);
	f.large = gc_alloc_array(m, type, 20000);
	((struct node *)f.large)->id = 5;
	ok(!gc_heap_pins(heap) && gc_object_pin(m, f.small) == -EOPNOTSUPP &&
		   gc_words_add(heap, &f, sizeof(f)) == -EOPNOTSUPP,
	   "plan=%s pins no small object, and says so", plan);
	if (ok(!gc_object_pin(m, f.large), "plan=%s pins a large one", plan)) {
		uintptr_t large = hidden(f.large);

		f.large = NULL;
		gc_collect_full(m);
		gc_collect_full(m);
		ok(((struct node *)hidden((void *)large))->id == 5 &&
			   !gc_object_unpin(m, (void *)hidden((void *)large)),
		   "plan=%s: it is kept", plan);
	}
	GC_POP(m, f);
	stop();
}

/* ---- other stacks ---- */

static ucontext_t outside, inside;
static char *coroutine_stack;
static bool coroutine_good;

#define COROUTINE_BYTES (256u << 10)

static void coroutine_main(void)
{
	struct node *volatile mine = gc_alloc_array(m, type, 33);

	mine->id = 77;
	swapcontext(&inside, &outside);
	/* Now the thread runs on this stack, and collects. */
	gc_collect_full(m);
	coroutine_good = mine->id == 77;
}

static int coroutine_run(const char *options)
{
	struct node *volatile mine;
	void *weak;
	int bad;

	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m))
		return 1;
	type = node_type();
	coroutine_stack = malloc(COROUTINE_BYTES);
	coroutine_good = false;
	bad = gc_words_add(heap, coroutine_stack, COROUTINE_BYTES) ||
	      gc_words_add(heap, &inside, sizeof(inside)) ||
	      /* Of this stack, what is above the function that switches */
	      gc_words_add(heap, (void *)&mine, 256) ||
	      gc_words_add(heap, &outside, sizeof(outside));
	mine = gc_alloc_array(m, type, 33);
	mine->id = 78;
	getcontext(&inside);
	inside.uc_stack.ss_sp = coroutine_stack;
	inside.uc_stack.ss_size = COROUTINE_BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine_main, 0);
	swapcontext(&outside, &inside);
	for (int i = 0; i < 3; i++) {
		gc_collect_full(m);
		for (int n = 0; n < 20000; n++)
			gc_alloc_array(m, type, 33);
	}
	swapcontext(&outside, &inside);
	bad |= !coroutine_good || mine->id != 78;
	if (bad)
		fprintf(stderr, "a coroutine's object was freed\n");
	bad |= gc_words_remove(heap, coroutine_stack) || gc_words_remove(heap, &inside) ||
	       gc_words_remove(heap, (void *)&mine) || gc_words_remove(heap, &outside) ||
	       gc_words_remove(heap, &outside) != -ENOENT;
	/* A range that was removed keeps nothing. */
	mine = gc_alloc_array(m, type, 33);
	weak = gc_weak_new(m, (void **)(uintptr_t)&mine);
	memcpy(coroutine_stack, (void *)(uintptr_t)&mine, sizeof(void *));
	gc_words_add(heap, coroutine_stack, sizeof(void *));
	mine = NULL;
	bad |= weak_is_dead(weak);
	gc_words_remove(heap, coroutine_stack);
	bad |= !weak_is_dead(weak) && !FRAMES_LINGER;
	if (bad)
		fprintf(stderr, "ranges of words do not count as they should\n");
	stop();
	free(coroutine_stack);
	return bad;
}

/* ---- all of it, in children ---- */

struct run {
	char what;
	const char *options;
	unsigned int threads;
	uint64_t seed;
};

static int run_one(void *arg)
{
	const struct run *r = arg;

	switch (r->what) {
	case 'g':
		return graph_run(r->options, r->threads, r->seed);
	case 'r':
		return registers_run(r->options);
	case 'p':
		return pins_run(r->options);
	default:
		return coroutine_run(r->options);
	}
}

static void run_row(char what, const char *row, unsigned int threads, uint64_t seed,
		    const char *says)
{
	static char text[4096];
	char options[200];
	struct run r = { what, options, threads, seed };
	int status;

	snprintf(options, sizeof(options), "%s,max=48M,verify=all,poison=1%s", row,
		 what == 'p' ? "" : ",stack=conservative");
	status = child(run_one, &r, text, sizeof(text));
	if (!ok(!status, "%s, %u threads: %s", row, threads, says))
		printf("# status %#x: %s\n", status, text);
}

static void mutants(const char *program)
{
	static const struct {
		const char *number, *lacks, *what, *options;
	} known[] = {
		{ "17", "the registers of a parked thread", "r", "plan=marksweep" },
		{ "17", "the registers of a parked thread", "r", "plan=immix" },
		{ "18", "references into objects", "g", "plan=marksweep,stress=16K" },
		{ "18", "references into objects", "g", "plan=immix,stress=16K" },
		{ "19", "that objects of the stack do not move", "g",
		  "plan=immix,defrag=always,stress=16K" },
		{ "20", "that pinned objects do not move", "p", "plan=immix,defrag=always" },
	};
	static char text[4096];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char options[200], seed[16];
		char *words[] = { (char *)program, (char *)known[i].what, options, seed, NULL };
		bool seen = false;
		int status = 0;

		snprintf(options, sizeof(options), "%s,max=48M,poison=1%s", known[i].options,
			 known[i].what[0] == 'p' ? "" : ",stack=conservative");
		setenv("GC_MUTANT", known[i].number, 1);
		for (int n = 1; n <= TRIES && !seen; n++) {
			snprintf(seed, sizeof(seed), "%d", n);
			status = child(program_execute, words, text, sizeof(text));
			seen = status > 0 && (WIFSIGNALED(status) || WEXITSTATUS(status) == 1);
		}
		if (!ok(seen, "%s: the lack of what ensures %s is seen", known[i].options,
			known[i].lacks))
			printf("# status %#x: %s\n", status, text);
	}
	unsetenv("GC_MUTANT");
}

int main(int argc, char **argv)
{
	static const char *const rows[] = {
		"plan=cms,stress=16K",
		"plan=cms,stress=16K,trace=finger",
		"plan=cms,stress=16K,markstack=4K,overflow=card+filter",
		"plan=cmsfly,stress=16K",
		"plan=gencms,stress=16K",
		"plan=immix,stress=16K,defrag=always",
		"plan=immix,stress=16K,defrag=never,workers=3",
		"plan=marksweep,stress=16K",
		"plan=marksweep,stress=16K,workers=3",
		"plan=stickyimmix,stress=16K,defrag=always",
		"plan=stickyimmix,stress=16K,defrag=never",
	};
	static const char *const plans[] = { "plan=cms",
					     "plan=cmsfly",
					     "plan=gencms",
					     "plan=marksweep",
					     "plan=immix",
					     "plan=immix,defrag=always",
					     "plan=stickyimmix,defrag=always" };

	if (argc == 4) {
		struct run r = { argv[1][0], argv[2], 1, strtoull(argv[3], NULL, 0) };

		return run_one(&r);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_row('g', rows[i], 1, i + 1, "equal to the model");
		run_row('g', rows[i], 3, i + 100, "equal to the model");
	}
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		run_row('r', plans[i], 2, 0, "registers of a parked thread");
		run_row('c', plans[i], 1, 0, "coroutines, by ranges of words");
		run_row('p', plans[i], 1, 0, "pinned objects stay, and live as long as pinned");
	}
	unsupported("semispace");
	unsupported("gss");
	if (argc == 2)
		mutants(argv[1]);
	return done();
}
