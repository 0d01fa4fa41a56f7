// SPDX-License-Identifier: MIT
/*
 * Description: random graphs of objects and ephemerons, on every plan, against the least
 * fixpoint of reachability. test-ephemeron-graph OPTIONS SEED STEPS THREADS runs one of them.
 * Another argument is such a program with the library that leaves out a step (-DGC_MUTANTS), which
 * must be detected.
 */
#include "ephemeron.h"

#include <pthread.h>

#define ROOTS 16
#define TRIES 12

struct twin {
	bool pair, reached;
	uint32_t field[FIELDS]; /* numbers of twins; 0 is NULL */
};

struct program {
	const char *options;
	unsigned int number, steps, threads;
	struct gc_mutator *m;
	uint64_t rng;
	struct twin *twins;
	uint32_t count, root[ROOTS];
	struct {
		struct gc_frame head;
		struct object *root[ROOTS], *fresh;
	} f;
	bool bad;
};

static uint32_t rnd(struct program *p, uint32_t below)
{
	return (uint32_t)(((p->rng = p->rng * 6364136223846793005u + 1442695040888963407u) >> 33) %
			  below);
}

static void fail(struct program *p, const char *what, uint32_t id)
{
	fprintf(stderr, "%s (object %u, thread %u) %s\n", what, id, p->number, p->options);
	p->bad = true;
}

/* What is reachable: by the definition, again and again until nothing is new */
static void reach(struct program *p)
{
	bool more = true;

	for (uint32_t i = 1; i < p->count; i++)
		p->twins[i].reached = false;
	for (int i = 0; i < ROOTS; i++)
		p->twins[p->root[i]].reached = true;
	p->twins[0].reached = false;
	while (more) {
		more = false;
		for (uint32_t i = p->count; i-- > 1;) {
			struct twin *t = &p->twins[i];

			for (int k = 0; k < FIELDS && t->reached; k++) {
				uint32_t to = t->field[k];

				if (!to || p->twins[to].reached)
					continue;
				if (t->pair &&
				    (k == 0 || (k == 1 && !p->twins[t->field[0]].reached)))
					continue;
				p->twins[to].reached = more = true;
			}
		}
	}
}

static bool same(struct program *p, const struct object *o, uint32_t id)
{
	if (!o == !id && (!o || o->id == id))
		return true;
	fail(p, o ? "another object, or one that should be NULL" : "lost", id);
	return false;
}

/*
 * The heap's graph is the model's. What is dropped is dropped in the model, too; @exact: nothing
 * else may be left.
 */
static void compare(struct program *p, bool exact)
{
	struct {
		struct object *o;
		uint32_t id;
	} *stack = malloc(p->count * sizeof(*stack));
	char *seen = calloc(1, p->count);
	uint32_t n = 0;

	reach(p);
	for (int i = 0; i < ROOTS; i++) {
		if (same(p, p->f.root[i], p->root[i]) && p->root[i] && !seen[p->root[i]]) {
			seen[p->root[i]] = 1;
			stack[n].o = p->f.root[i];
			stack[n++].id = p->root[i];
		}
	}
	while (n && !p->bad) {
		struct object *o = stack[--n].o;
		uint32_t id = stack[n].id;
		struct twin *t = &p->twins[id];
		int k = 0;

		if (t->pair && t->field[0] && !p->twins[t->field[0]].reached) {
			if (exact && gc_ephemeron_key(p->m, o))
				fail(p, "a key that nobody holds is alive", t->field[0]);
			if (!gc_ephemeron_key(p->m, o))
				t->field[0] = 0;
		}
		if (t->pair && !t->field[0]) {
			if (gc_ephemeron_value(p->m, o))
				fail(p, "a value without a key", t->field[1]);
			t->field[1] = 0;
			k = 2;
		} else if (t->pair && !p->twins[t->field[0]].reached) {
			/* It may be collected any time. */
			same(p, gc_ephemeron_value(p->m, o), t->field[1]);
			k = 2;
		}
		for (; k < FIELDS && !p->bad; k++) {
			uint32_t to = t->field[k];

			if (same(p, o->field[k], to) && to && !seen[to]) {
				seen[to] = 1;
				stack[n].o = o->field[k];
				stack[n++].id = to;
			}
		}
	}
	free(stack);
	free(seen);
}

static void allocate(struct program *p)
{
	struct twin *t = &p->twins[p->count];
	uint32_t to = rnd(p, ROOTS);
	struct object *o;

	memset(t, 0, sizeof(*t));
	t->pair = !rnd(p, 3);
	o = p->f.fresh = gc_alloc(p->m, t->pair ? pair : node);
	if (!o) {
		fail(p, "out of memory", p->count);
		return;
	}
	o->id = p->count;
	for (int k = 0; k < FIELDS; k++) {
		uint32_t from = rnd(p, ROOTS);

		if (!t->pair && rnd(p, 2))
			continue;
		gc_init(&o->field[k], p->f.root[from]);
		t->field[k] = p->root[from];
	}
	p->f.root[to] = o;
	p->root[to] = p->count++;
}

/* The key, and the value only with it, as a program sees them; what was dropped may be so. */
static bool look(struct program *p, uint32_t at, int k)
{
	struct twin *t = &p->twins[p->root[at]];

	if (!t->pair || k == 2 || gc_ephemeron_key(p->m, p->f.root[at]))
		return true;
	reach(p);
	if (t->field[0] && p->twins[t->field[0]].reached)
		fail(p, "a key that is held is lost", t->field[0]);
	t->field[0] = t->field[1] = 0;
	return false;
}

static void step(struct program *p)
{
	uint32_t at = rnd(p, ROOTS), from = rnd(p, ROOTS), what = rnd(p, 16);
	int k = (int)rnd(p, FIELDS);
	struct object *o = p->f.root[at];
	struct twin *t = &p->twins[p->root[at]];

	if (what < 7) {
		allocate(p);
	} else if (what < 11) {
		/* A key or a value that is younger than what it comes to hang on */
		if (!o || !look(p, at, k))
			return;
		gc_write(p->m, o, &o->field[k], p->f.root[from]);
		t->field[k] = p->root[from];
		if (t->pair && !t->field[0]) {
			gc_write(p->m, o, &o->field[1], NULL);
			t->field[1] = 0;
		}
	} else if (what < 14) {
		if (!o || !look(p, at, k))
			return;
		p->f.root[from] = t->pair && k == 1 ? gc_ephemeron_value(p->m, o) : o->field[k];
		p->root[from] = t->field[k];
		if (p->root[from])
			same(p, p->f.root[from], p->root[from]);
	} else if (what == 14) {
		p->f.root[at] = NULL;
		p->root[at] = 0;
		gc_safepoint(p->m);
	} else if (!rnd(p, 40)) {
		compare(p, false);
	}
}

static void *program_main(void *arg)
{
	struct program *p = arg;

	p->count = 1;
	p->twins = calloc(p->steps + 2, sizeof(*p->twins));
	if (!p->twins || gc_mutator_attach(heap, &p->m)) {
		fail(p, "cannot start", 0);
		return NULL;
	}
	GC_PUSH(p->m, p->f);
	for (unsigned int i = 0; i < p->steps && !p->bad; i++)
		step(p);
	if (!p->bad) {
		p->f.fresh = NULL;
		gc_collect_full(p->m);
		compare(p, p->threads == 1);
	}
	GC_POP(p->m, p->f);
	gc_mutator_detach(p->m);
	free(p->twins);
	return NULL;
}

struct run {
	const char *options;
	uint64_t seed;
	unsigned int steps, threads;
};

static int run_program(void *arg)
{
	const struct run *r = arg;
	struct program p[4] = { 0 };
	pthread_t thread[4];
	struct gc_heap_stats s;
	int bad = 0;

	if (!start(r->options))
		return 1;
	gc_park(m);
	for (unsigned int i = 0; i < r->threads; i++) {
		p[i] = (struct program){ .options = r->options,
					 .number = i,
					 .steps = r->steps,
					 .threads = r->threads,
					 .rng = r->seed * 1000 + i };
		pthread_create(&thread[i], NULL, program_main, &p[i]);
	}
	for (unsigned int i = 0; i < r->threads; i++) {
		pthread_join(thread[i], NULL);
		bad |= p[i].bad;
	}
	gc_unpark(m);
	s = stats();
	if (!bad && !s.weak_cleared)
		bad = fprintf(stderr, "nothing was ever dropped\n");
	stop();
	return bad != 0;
}

#define SMALL ",heap=1M,minfree=64K,maxfree=256K"

static const struct row {
	const char *options;
	unsigned int threads, steps;
} rows[] = {
	{ "plan=cms,stress=64K", 1, 12000 },
	{ "plan=cms" SMALL, 3, 12000 },
	{ "plan=cms,stress=16K,markstack=4K,overflow=card+filter", 2, 8000 },
	{ "plan=cms,stress=16K,trace=finger", 2, 8000 },
	{ "plan=cmsfly,stress=64K", 1, 12000 },
	{ "plan=cmsfly,stress=16K,remark-limit=1", 3, 8000 },
	{ "plan=gencms,stress=64K", 1, 12000 },
	{ "plan=gencms,stress=2K", 3, 8000 },
	{ "plan=gss,stress=64K", 1, 12000 },
	{ "plan=gss,nursery=512K,stress=1K,promote=naive,p=0.3", 2, 8000 },
	{ "plan=gss,nursery=512K,stress=16K,promote=never,workers=3", 2, 8000 },
	{ "plan=gss,nursery=512K,stress=16K,threshold=64K,workers=3", 3, 8000 },
	{ "plan=immix,stress=64K", 1, 12000 },
	{ "plan=immix,stress=16K,defrag=always", 2, 8000 },
	{ "plan=immix,stress=16K,defrag=never,workers=3", 3, 8000 },
	{ "plan=marksweep,stress=64K", 1, 12000 },
	{ "plan=marksweep,stress=16K,workers=3", 3, 8000 },
	{ "plan=marksweep,stress=16K,markstack=4K,overflow=scan-all", 1, 8000 },
	{ "plan=semispace,stress=64K", 1, 12000 },
	{ "plan=semispace,stress=16K,workers=3", 3, 8000 },
	{ "plan=stickyimmix,stress=64K", 1, 12000 },
	{ "plan=stickyimmix,stress=2K,defrag=always", 2, 8000 },
};

static void random_programs(void)
{
	static char text[4096];
	char options[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r = { options, i + 1, rows[i].steps, rows[i].threads };
		int status;

		snprintf(options, sizeof(options), "%s" CHECKS, rows[i].options);
		status = child(run_program, &r, text, sizeof(text));
		if (!ok(!status, "%s, %u threads: equal to the model", rows[i].options, r.threads))
			printf("# status %#x: %s\n", status, text);
	}
}

/* Of at most TRIES runs, does one end badly, and say so? */
static bool noticed(const char *program, const char *options, const char *says, char *text,
		    size_t size)
{
	for (int seed = 1; seed <= TRIES; seed++) {
		char number[16];
		char *words[] = { (char *)program, (char *)options, number,
				  (char *)"12000", (char *)"1",	    NULL };
		int status;

		snprintf(number, sizeof(number), "%d", seed);
		status = child(program_execute, words, text, size);
		if (status != -1 && status && !(WIFEXITED(status) && WEXITSTATUS(status) > 1) &&
		    strstr(text, says))
			return true;
	}
	return false;
}

static void mutants(int argc, char **argv)
{
	static const struct {
		const char *number, *lacks, *options;
	} known[] = {
		{ "9", "a key that it does not keep", "plan=marksweep,stress=64K" },
		{ "10", "a value that it keeps", "plan=cms,stress=64K,poison=1" },
		{ "11", "the card of an old one whose value is young",
		  "plan=gss,nursery=512K,stress=1K,promote=naive,p=0.3,poison=1" },
		{ "13", "a note of a key that tracing reached", "plan=cms,stress=4K,poison=1" },
	};
	static char text[4096];

	for (size_t i = 0; argc > 1 && i < sizeof(known) / sizeof(known[0]); i++) {
		char options[160];

		setenv("GC_MUTANT", known[i].number, 1);
		ok(noticed(argv[1], known[i].options, "", text, sizeof(text)),
		   "the model detects the lack of %s", known[i].lacks);
		snprintf(options, sizeof(options), "%s,verify=all", known[i].options);
		/* A broken heap ends in its own words, not in the model's. */
		if (!ok(noticed(argv[1], options, "re-run with", text, sizeof(text)),
			"verify=all detects the lack of %s", known[i].lacks))
			printf("# %s\n", text);
	}
}

int main(int argc, char **argv)
{
	if (argc == 5 && strchr(argv[1], '=')) {
		struct run r = { argv[1], strtoull(argv[2], NULL, 0), (unsigned int)atoi(argv[3]),
				 (unsigned int)atoi(argv[4]) };

		return run_program(&r);
	}
	random_programs();
	mutants(argc, argv);
	return done();
}
