// SPDX-License-Identifier: MIT
/*
 * Description: arrays that are shrunk keep what is left of them, on every plan, what they referred
 * to dies, their memory is used again, and walks of the heap read it right. With an argument, the
 * program built with the library that leaves out steps (-DGC_MUTANTS), the lack of each is seen.
 */
#include "alone.h"

#include <errno.h>
#include <pthread.h>

#define KIB 1024u
#define MIB (1024u * KIB)

static const char *const rows[] = {
	"plan=cms,policy=fg",
	"plan=cms,policy=fg,trace=finger",
	"plan=cms,stack=conservative,policy=fg",
	"plan=cmsfly,policy=fg",
	"plan=gencms,policy=fg",
	"plan=gss,nursery=512K",
	"plan=gss,nursery=8M,promote=never",
	"plan=gss",
	"plan=immix",
	"plan=immix,defrag=always",
	"plan=immix,stack=conservative",
	"plan=marksweep",
	"plan=marksweep,stack=conservative",
	"plan=semispace",
	"plan=stickyimmix",
	"plan=stickyimmix,defrag=always",
	"plan=stickyimmix,stack=conservative",
};

struct refs {
	struct gc_header header;
	void *at[];
};

struct bytes {
	struct gc_header header;
	uint8_t at[];
};

struct pair {
	struct gc_header header;
	struct pair *next;
	long value;
};

static const struct gc_type *refs_type, *bytes_type, *pair_type;
static struct {
	struct gc_frame head;
	struct refs *refs, *all;
	struct bytes *bytes;
	void *weak[4];
} f;

static void types_register(void)
{
	struct gc_type_desc refs = { .name = "refs", .size = 8, .tail = GC_TAIL_REFS };
	struct gc_type_desc bytes = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	struct gc_type_desc pair = { .name = "pair", .size = sizeof(struct pair), .refs = 2 };

	refs_type = gc_type_register(heap, &refs, NULL);
	bytes_type = gc_type_register(heap, &bytes, NULL);
	pair_type = gc_type_register(heap, &pair, NULL);
}

static int case_begin(const char *options)
{
	WANT(open_heap(options));
	types_register();
	GC_PUSH(m, f);
	return 0;
}

static int case_end(void)
{
	GC_POP(m, f);
	stop();
	return 0;
}

static struct pair *pair_new(long value)
{
	struct pair *pair = GC_NEW(m, pair_type, struct pair);

	if (pair)
		pair->value = value;
	return pair;
}

/* Refs of @length, whose elements are pairs with their numbers */
static bool refs_fill(uint32_t length)
{
	f.refs = gc_alloc_array(m, refs_type, length);
	for (uint32_t i = 0; f.refs && i < length; i++) {
		struct pair *pair = pair_new((long)i);

		if (!pair)
			return false;
		gc_write_element(m, f.refs, f.refs->at, i, pair);
	}
	return f.refs;
}

static bool refs_hold(uint32_t length)
{
	if (gc_length(f.refs) != length)
		return false;
	for (uint32_t i = 0; i < length; i++)
		if (((struct pair *)f.refs->at[i])->value != (long)i)
			return false;
	return true;
}

struct walked {
	size_t objects, bytes;
};

static void object_add(void *obj, const struct gc_type *type, size_t bytes, void *arg)
{
	struct walked *w = arg;

	(void)obj;
	(void)type;
	w->objects++;
	w->bytes += bytes;
}

/* Are the refs with @length pairs all that there is? */
static int walk_want(uint32_t length)
{
	struct walked w = { 0 };
	struct gc_error err = { .text = "" };

	if (gc_heap_walk(m, object_add, &w, &err) || gc_verify(m, &err))
		fprintf(stderr, "%s", err.text);
	WANT(!err.code);
	/* With a conservative stack it also meets what old words there keep. */
	if (strstr(gc_heap_options(heap), "stack=conservative"))
		return 0;
	WANT(w.objects == 1 + (size_t)length);
	WANT(w.bytes == 8 + (size_t)length * (sizeof(void *) + sizeof(struct pair)));
	return 0;
}

/* Lengths on both sides of each bound: inline, large, with cards of elements, and pages */
static int lengths_run(void *arg)
{
	static const uint32_t lengths[] = { 1,	  7,	30,   31,   32,	  100,	 1000,
					    1022, 1023, 1024, 8191, 8192, 20000, 40000 };
	const int count = sizeof(lengths) / sizeof(lengths[0]);

	if (case_begin(arg))
		return 1;
	for (int from = 0; from < count; from++) {
		for (int to = from - 1; to >= -1; to -= 1 + (from > 5)) {
			uint32_t length = to < 0 ? 0 : lengths[to];

			WANT(refs_fill(lengths[from]));
			WANT(!gc_array_shrink(m, f.refs, length));
			WANT(refs_hold(length));
			if (walk_want(length))
				return 1;
		}
		gc_collect_full(m);
		WANT(refs_hold(gc_length(f.refs)));
	}
	return case_end();
}

/* One array that is shrunk again and again, between collections that it survives */
static int again_run(void *arg)
{
	uint32_t length = 30000;

	if (case_begin(arg))
		return 1;
	WANT(refs_fill(length));
	gc_collect(m);
	while (length) {
		length -= length / 3 + 1;
		WANT(!gc_array_shrink(m, f.refs, length));
		/* Elements at the end are new again: a minor collection has to find them. */
		for (uint32_t i = length > 50 ? length - 50 : 0; i < length; i++)
			gc_write_element(m, f.refs, f.refs->at, i, pair_new((long)i));
		for (int i = 0; i < 3000; i++)
			WANT(pair_new(i));
		WANT(refs_hold(length));
		if (length % 3 == 0)
			gc_collect_full(m);
		if (length % 3 == 1)
			gc_collect(m);
		if (refs_hold(length) && walk_want(length))
			return 1;
	}
	return case_end();
}

/* Stored to an element whose card is dirty for that, then shrunk so that elements have no cards */
static int cards_run(void *arg)
{
	if (case_begin(arg))
		return 1;
	for (uint32_t n = 0; n < 6; n++) {
		WANT(refs_fill(10000));
		/* Twice: now it is old everywhere. */
		gc_collect_full(m);
		gc_collect_full(m);
		for (uint32_t i = 5000 + n; i < 10000; i += 16)
			gc_write_element(m, f.refs, f.refs->at, i, pair_new((long)i));
		WANT(!gc_array_shrink(m, f.refs, 8000 - n));
		/* A minor collection */
		gc_collect(m);
		for (int i = 0; i < 60000; i++)
			WANT(pair_new(i));
		WANT(refs_hold(8000 - n));
		if (walk_want(8000 - n))
			return 1;
	}
	return case_end();
}

static int refused_run(void *arg)
{
	if (case_begin(arg))
		return 1;
	WANT(refs_fill(10));
	WANT(gc_array_shrink(m, f.refs, 11) == -EINVAL);
	WANT(!gc_array_shrink(m, f.refs, 10) && refs_hold(10));
	WANT(gc_array_shrink(m, f.refs->at[3], 0) == -EINVAL);
	WANT(refs_hold(10));
	f.bytes = gc_alloc_array(m, bytes_type, 100);
	WANT(f.bytes && !gc_array_shrink(m, f.bytes, 3) && gc_length(f.bytes) == 3);
	WANT(gc_array_shrink(m, f.bytes, UINT32_MAX) == -EINVAL && gc_length(f.bytes) == 3);
	return case_end();
}

/* What only elements behind the new length referred to dies. */
static int dead_run(void *arg)
{
	static const uint32_t lengths[] = { 20, 500, 5000, 20000 };

	if (case_begin(arg))
		return 1;
	for (int n = 0; n < 4; n++) {
		WANT(refs_fill(lengths[n]));
		f.weak[0] = gc_weak_new(m, &f.refs->at[lengths[n] - 1]);
		f.weak[1] = gc_weak_new(m, &f.refs->at[4]);
		WANT(f.weak[0] && f.weak[1]);
		WANT(!gc_array_shrink(m, f.refs, 5));
		gc_collect_full(m);
		gc_collect_full(m);
		WANT(!gc_weak_get(m, f.weak[0]));
		WANT(gc_weak_get(m, f.weak[1]) == f.refs->at[4]);
	}
	return case_end();
}

/* @count arrays of @bytes, each shrunk to 8 */
static bool arrays_shrink(uint32_t count, uint32_t bytes)
{
	f.all = gc_alloc_array(m, refs_type, count);
	for (uint32_t i = 0; f.all && i < count; i++) {
		f.bytes = gc_alloc_array(m, bytes_type, bytes);
		if (!f.bytes)
			return false;
		memset(f.bytes->at, (int)i & 0xff, bytes);
		gc_write_element(m, f.all, f.all->at, i, f.bytes);
		if (gc_array_shrink(m, f.bytes, 8))
			return false;
	}
	f.bytes = NULL;
	return f.all;
}

static bool arrays_hold(void)
{
	for (uint32_t i = 0; i < gc_length(f.all); i++) {
		const struct bytes *b = f.all->at[i];

		if (gc_length(b) != 8)
			return false;
		for (int k = 0; k < 8; k++)
			if (b->at[k] != (i & 0xff))
				return false;
	}
	return true;
}

/* 20 arrays of 4 MiB have lived in a heap of 24: the pages of the former ones were used again. */
static int large_run(void *arg)
{
	char options[160];

	snprintf(options, sizeof(options), "%s,max=24M", (const char *)arg);
	if (case_begin(options))
		return 1;
	WANT(arrays_shrink(20, 4 * MIB - 64));
	WANT(arrays_hold());
	gc_collect_full(m);
	WANT(arrays_hold());
	WANT(stats().live_bytes < MIB && stats().heap_bytes < MIB);
	WANT(stats().footprint_bytes < 20 * MIB);
	return case_end();
}

/* 20,000 of 2,000 bytes: free in lines and in bump spaces; cells are counted as they are. */
static int medium_run(void *arg)
{
	bool cells;

	if (case_begin(arg))
		return 1;
	cells = strstr(arg, "cms") || strstr(arg, "marksweep");
	WANT(arrays_shrink(20000, 2000));
	gc_collect_full(m);
	gc_collect_full(m);
	WANT(arrays_hold());
	if (cells)
		WANT(stats().live_bytes >= 40 * 1000 * 1000);
	else if (!strstr(arg, "immix,stack"))
		WANT(stats().live_bytes < 12 * MIB);
	if (cells)
		WANT(stats().footprint_bytes <= stats().live_bytes + 4 * MIB);
	return case_end();
}

/* An object that only the C stack has, in a row behind arrays that were shrunk: it is found. */
static int row_run(void *arg)
{
	struct pair *volatile pair;

	if (case_begin(arg))
		return 1;
	for (int n = 0; n < 50; n++) {
		for (int i = 0; i < 3; i++) {
			f.bytes = gc_alloc_array(m, bytes_type, 100);
			WANT(f.bytes);
			memset(f.bytes->at, 0xff, 100);
			WANT(!gc_array_shrink(m, f.bytes, (uint32_t)(8 + i)));
		}
		pair = pair_new(n);
		/* The other plans move objects, or do not know the stack. */
		if (strstr(arg, "stack=conservative")) {
			gc_collect_full(m);
			for (int i = 0; i < 1000; i++)
				WANT(pair_new(-1));
		}
		WANT(pair->value == n);
	}
	return case_end();
}

/* ---- while others collect ------------------------------------------------- */

#define THREADS 3

static void *thread_main(void *arg)
{
	struct {
		struct gc_frame head;
		struct refs *refs;
		void *pair;
	} own;
	uintptr_t seed = (uintptr_t)arg;
	struct gc_mutator *mine;
	void *bad = NULL;

	if (gc_mutator_attach(heap, &mine))
		return arg;
	GC_PUSH(mine, own);
	for (unsigned int n = 0; n < 24 && !bad; n++) {
		uint32_t length = n % 4 ? 3000 + n : 20000, left;

		own.refs = gc_alloc_array(mine, refs_type, length);
		for (uint32_t i = 0; own.refs && i < length; i++) {
			struct pair *pair = GC_NEW(mine, pair_type, struct pair);

			if (!pair)
				bad = arg;
			else
				pair->value = (long)i;
			gc_write_element(mine, own.refs, own.refs->at, i, pair);
		}
		if (!own.refs)
			bad = arg;
		for (left = length; left && !bad; left = left * 2 / 3) {
			if (gc_array_shrink(mine, own.refs, left))
				bad = arg;
			for (uint32_t i = 0; i < 200; i++)
				GC_NEW(mine, pair_type, struct pair);
			for (uint32_t i = (uint32_t)seed % 7; i < left; i += 7)
				if (((struct pair *)own.refs->at[i])->value != (long)i)
					bad = arg;
		}
	}
	GC_POP(mine, own);
	gc_mutator_detach(mine);
	return bad;
}

static int threads_run(void *arg)
{
	pthread_t thread[THREADS];
	void *bad[THREADS];

	WANT(open_heap(arg));
	types_register();
	gc_park(m);
	for (uintptr_t i = 0; i < THREADS; i++)
		WANT(!pthread_create(&thread[i], NULL, thread_main, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], &bad[i]);
	gc_unpark(m);
	for (int i = 0; i < THREADS; i++)
		WANT(!bad[i]);
	stop();
	return 0;
}

/* ---- mutants ---------------------------------------------------------------- */

static const struct test {
	const char *name, *what;
	int (*run)(void *arg);
} cases[] = {
	{ "lengths", "any length keeps what is left", lengths_run },
	{ "again", "an array that is shrunk again and again", again_run },
	{ "cards", "elements stored before are not lost", cards_run },
	{ "refused", "what is no shrinking is refused", refused_run },
	{ "dead", "what only lost elements referred to dies", dead_run },
	{ "large", "pages of large arrays are used again", large_run },
	{ "medium", "memory of others is free or counted", medium_run },
	{ "row", "objects behind shorter arrays are found", row_run },
	{ "threads", "threads that shrink while others collect", threads_run },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static void mutants(const char *program)
{
	static const struct {
		const char *number, *lacks, *name, *options;
	} known[] = {
		{ "21", "zeroes behind a shorter array", "lengths", "plan=semispace" },
		{ "21", "zeroes behind a shorter array", "lengths", "plan=gss,promote=never" },
		{ "21", "zeroes behind a shorter array", "row", "plan=immix,stack=conservative" },
		{ "22", "the card of an array whose elements lose theirs", "cards",
		  "plan=gencms,policy=fg" },
		{ "23", "that cells are counted as they are", "medium", "plan=marksweep" },
	};
	static char text[4096];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char options[200];
		char *words[] = { (char *)program, (char *)known[i].name, options, NULL };
		int status;

		snprintf(options, sizeof(options), "%s,trim=0,verify=all,poison=1",
			 known[i].options);
		setenv("GC_MUTANT", known[i].number, 1);
		status = child(program_execute, words, text, sizeof(text));
		if (!ok(status > 0 && (WIFSIGNALED(status) || WEXITSTATUS(status) == 1),
			"%s: the lack of %s is seen", known[i].options, known[i].lacks))
			printf("# status %#x: %s\n", status, text);
		setenv("GC_MUTANT", "0", 1);
		status = child(program_execute, words, text, sizeof(text));
		if (!ok(!status, "%s: nothing is seen without that", known[i].options))
			printf("# status %#x: %s\n", status, text);
	}
	unsetenv("GC_MUTANT");
}

int main(int argc, char **argv)
{
	static char text[4096];
	char options[200];

	for (size_t k = 0; argc == 3 && k < CASES; k++)
		if (!strcmp(argv[1], cases[k].name))
			return cases[k].run(argv[2]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < CASES; k++) {
			snprintf(options, sizeof(options), "%s,trim=0%s", rows[i],
				 cases[k].run == large_run || cases[k].run == medium_run ?
					 "" :
					 ",verify=all,poison=1");
			if (!ok(!child(cases[k].run, options, text, sizeof(text)), "%s: %s",
				rows[i], cases[k].what))
				printf("# %s\n", text);
		}
	}
	if (argc == 2)
		mutants(argv[1]);
	return done();
}
