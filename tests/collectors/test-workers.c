// SPDX-License-Identifier: MIT
/*
 * Description: the sharing of copying, step by step: the copiers and their stacks, the pieces of
 * to-space, the sums, and the recovery from overflows.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <dirent.h>
#include <trace/evacuate.h>
#include <pthread.h>
#include <sched.h>
#include <space/pages.h>

#define WORKERS 4
#define PIECE	GC_CHUNK
#define SMALL	(PIECE / 16)
#define NODE	32

static struct gc_copier *of[WORKERS];

static int get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void until(const int *word, int least)
{
	for (int i = 0; i < 10000 && get(word) < least; i++)
		usleep(1000);
}

/* ---- who copies ---------------------------------------------------------- */

/* All of the crew, or who of it sleeps */
static int workers_running(bool asleep)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int count = 0;

	while (d && (e = readdir(d))) {
		char path[300], state = 0;
		FILE *stat;

		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
		stat = fopen(path, "re");
		if (!stat)
			continue;
		if (fscanf(stat, "%*d (gc-worker) %c", &state) == 1)
			count += !asleep || state == 'S';
		fclose(stat);
	}
	if (d)
		closedir(d);
	return count;
}

static void count_of_workers(const char *options, int want)
{
	int now;

	if (!open_heap(options))
		return;
	now = workers_running(false);
	ok(now == want, "%s: %d worker threads", options, now);
	stop();
	for (int i = 0; i < 1000 && workers_running(false); i++)
		usleep(1000);
	ok(!workers_running(false), "%s: the workers end with the heap", options);
}

static int came, loops;

static void note(struct gc_copier *c)
{
	unsigned int place = gc_help_index(c->helper);

	of[place] = c;
	c->objects = 1 + place;
	c->bytes = 10 * (1 + place);
	c->old_bytes = 100 * (1 + place);
	c->promoted_bytes = 1000 * (1 + place);
	c->promoted = 10000 * (1 + place);
	c->stack->dropped = place == 2;
	__atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
}

/* On this thread alone: a mutator, one of the crew, and a mutator again come while it copies. */
static void in_turn(struct gc_copier *c)
{
	note(c);
	if (loops++)
		return;
	gc_help_join(heap, gc_thread(m));
	gc_help_join(heap, NULL);
	gc_help_join(heap, gc_thread(m));
	while (gc_help_more(c->helper))
		;
}

/* The crew alone: this thread waits for all of it. */
static void with_crew(struct gc_copier *c)
{
	note(c);
	if (c->first)
		until(&came, WORKERS);
	while (gc_help_more(c->helper))
		;
}

static void never(struct gc_copier *c)
{
	(void)c;
	loops++;
}

static void each_its_own(void)
{
	bool right = true;

	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct gc_copier *c = of[i];

		if (!c)
			right = false;
		else
			right &= c->heap == heap && c->own.heap == heap &&
				 c->helper == gc_help_place(heap, i) && c->first == !i &&
				 c->stack == (i ? &c->helper->own : &heap->stack) &&
				 c->rng == (i ? &c->own_rng : &heap->rng) &&
				 c->own_rng == (uint64_t)heap->opt.seed + i;
	}
	ok(right, "each copier has a place, a stack and random numbers of its own");
	ok(of[0] == gc_copy_first(heap), "the first copier is the collecting thread's");
}

static void sums(void)
{
	const struct gc_copier *first = gc_copy_first(heap);
	bool rested = true;

	heap->cycle.marked_objects = 5;
	heap->cycle.marked_bytes = 7;
	/* More than a page of stack was used. */
	for (unsigned int i = 1; i < WORKERS; i++)
		of[i]->stack->limit += 100;
	ok(gc_copy_end(heap) == first && first->objects == 10 && first->bytes == 100 &&
		   first->old_bytes == 1000 && first->promoted_bytes == 10000 &&
		   first->promoted == 100000,
	   "the counters of all copiers are added up in the first");
	ok(heap->cycle.marked_objects == 15 && heap->cycle.marked_bytes == 107,
	   "the sums are added to the cycle's");
	for (unsigned int i = 1; i < WORKERS; i++)
		rested &= of[i]->stack->limit == of[i]->stack->base + GC_PAGE / sizeof(void *);
	ok(rested, "stacks are reset");
}

static void copiers(void)
{
	struct gc_heap_stats before;
	bool fresh = true, flags = true;

	if (!open_heap("plan=semispace,trim=0,workers=4,seed=77"))
		return;
	gc_bump_open(heap);
	gc_copy_begin(heap);
	ok(!gc_help_called(heap, &(uint32_t){ 0 }), "nothing is called before");
	heap->gc.waiting = WORKERS - 1;
	before = stats();
	ok(gc_copy_share(heap, in_turn) && came == WORKERS, "three helpers join the first copier");
	heap->gc.waiting = 0;
	each_its_own();
	ok(stats().helps == before.helps + 2 &&
		   stats().helped_objects == before.helped_objects + 2 + 4,
	   "help of mutators is counted, that of workers is not");
	ok(heap->stack.dropped, "an overflow of one stack is recovered by scanning again");
	for (unsigned int i = 1; i < WORKERS; i++)
		flags &= !of[i]->stack->dropped;
	ok(flags, "the overflow is reported once");
	heap->stack.dropped = false;
	sums();

	for (unsigned int i = 0; i < WORKERS; i++) {
		of[i]->at = of[i]->limit = 0;
		of[i]->young = true;
		of[i]->from = of[i]->into = of[i]->span = 1;
	}
	gc_copy_begin(heap);
	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct gc_copier *c = of[i];

		fresh &= !c->at && !c->limit && !c->young && !c->objects && !c->bytes &&
			 !c->old_bytes && !c->promoted_bytes && !c->promoted &&
			 c->from == heap->bump->start[heap->bump->now] &&
			 c->into == heap->bump->start[!heap->bump->now] &&
			 c->span == heap->bump->span;
	}
	ok(fresh, "the next copying resets the copiers to the current spaces");

	came = 0;
	before = stats();
	for (int i = 0; i < 10000 && workers_running(true) < WORKERS - 1; i++)
		usleep(1000);
	ok(workers_running(true) == WORKERS - 1, "workers sleep until they are called");
	ok(gc_copy_share(heap, with_crew) && came == WORKERS,
	   "without waiting mutators all workers join");
	ok(stats().helps == before.helps, "no help of mutators is counted");
	sums();
	stop();

	if (!open_heap("plan=semispace,trim=0,workers=1"))
		return;
	loops = 0;
	ok(!gc_copy_share(heap, never) && !loops, "one worker: nothing is shared or done");
	ok(gc_copy_first(heap)->first && gc_copy_first(heap)->stack == &heap->stack &&
		   gc_copy_first(heap)->rng == &heap->rng && !gc_copy_first(heap)->helper,
	   "one worker uses the heap's stack");
	ok(gc_copy_note_weak(gc_copy_first(heap), gc_weak_new(m, &(void *){ NULL })) &&
		   heap->weak.weaks.count == 1,
	   "a weak object is noted");
	heap->weak.weaks.count = 0;
	stop();
}

/* ---- pieces of to-space -------------------------------------------------- */

#define AT(n) (c->into + (n))

/* One with @left bytes in the piece, which ends @gap below the free pointer, is to have @size. */
static void piece(size_t left, size_t gap, size_t size, bool beside)
{
	struct gc_copier *c = gc_copy_first(heap);
	uintptr_t end, got, want;
	bool right, hole = true;

	gc_copy_begin(heap);
	end = AT(4 * PIECE);
	memset((void *)AT(0), 0x77, 8 * PIECE);
	c->limit = left ? end - gap : 0;
	c->at = left ? c->limit - left : 0;
	heap->bump->to = end;
	want = !beside && !gap && left ? end - left : end;
	got = gc_copy_refill(c, size);
	if (beside)
		right = c->at == (left ? end - gap - left : 0) &&
			c->limit == (left ? end - gap : 0) && heap->bump->to == end + size;
	else
		right = c->at == want + size && c->limit == end + PIECE &&
			heap->bump->to == end + PIECE;
	/* What touches is used up, all else is left as it was or reads as a hole. */
	for (uintptr_t at = end - gap - left; left && at < end - gap; at += 8)
		hole &= !gc_word((void *)at) == (!beside && gap > 0);
	hole &= gc_word((void *)(end - gap - left - 8)) && (!gap || gc_word((void *)(end - gap))) &&
		gc_word((void *)end);
	ok(got == want && right && hole, "%zu bytes, %zu left %zu below: %s", size, left, gap,
	   beside ? "outside of the piece" :
	   gap	  ? "a new piece, the rest of the old one a hole" :
		    "a new piece, the old one continues");
	c->at = c->limit = 0;
}

/* Header words in to-space that are not zero: garbage does for what only looks at zeros. */
static void pieces(void)
{
	static const struct {
		size_t left, gap, size;
		bool beside;
	} rows[] = {
		{ 0, 0, NODE, false },
		{ 0, 0, PIECE / 4, false },
		{ 0, 0, PIECE / 4 + 8, true },
		{ NODE, 0, 2 * NODE, false },
		{ NODE, 512, 2 * NODE, false },
		{ NODE, 0, PIECE / 4, false },
		{ NODE, 512, PIECE / 4, false },
		{ NODE, 0, PIECE / 4 + 8, true },
		{ SMALL - 8, 512, SMALL, false },
		{ SMALL, 512, SMALL + 8, true },
		{ SMALL + 8, 512, SMALL + 16, true },
		{ SMALL + 8, 512, PIECE / 4, true },
	};
	struct gc_bump *b;
	bool right = true;

	if (!open_heap("plan=semispace,trim=0,workers=4,max=64M"))
		return;
	b = heap->bump;
	gc_bump_open(heap);
	heap->gc.waiting = WORKERS - 1;
	loops = 0;
	gc_copy_share(heap, in_turn);
	heap->gc.waiting = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		piece(rows[i].left, rows[i].gap, rows[i].size, rows[i].beside);

	gc_copy_begin(heap);
	b->to = b->start[!b->now];
	memset((void *)b->to, 0x77, 8 * PIECE);
	for (unsigned int i = 0; i < WORKERS; i++)
		gc_copy_refill(of[i], NODE);
	gc_copy_end(heap);
	ok(b->to == b->start[!b->now] + (WORKERS - 1) * PIECE + NODE,
	   "the piece that was taken last ends at its last object");
	for (unsigned int i = 0; i < WORKERS; i++) {
		const uintptr_t at = b->start[!b->now] + i * PIECE;

		right &= !of[i]->at && !of[i]->limit;
		for (size_t k = 0; k < PIECE; k += 8)
			right &= !gc_word((void *)(at + k)) == (k >= NODE && i < WORKERS - 1);
	}
	ok(right, "the rest of every other piece reads as a hole");
	stop();
}

static int copies_more(void *more)
{
	struct gc_copier *c;

	if (!open_heap("plan=semispace,trim=0,workers=1,help=0,max=8M"))
		return 3;
	gc_bump_open(heap);
	gc_copy_begin(heap);
	c = gc_copy_first(heap);
	heap->bump->to = c->into + c->span - PIECE;
	gc_copy_refill(c, PIECE + (more ? 8 : 0));
	stop();
	return 0;
}

static void too_much(void)
{
	char text[256];
	int status = child(copies_more, NULL, text, sizeof(text));

	ok(WIFEXITED(status) && !WEXITSTATUS(status), "to-space can be used to its end");
	status = child(copies_more, text, text, sizeof(text));
	ok(WIFSIGNALED(status) && strstr(text, "more bytes were copied than the space has"),
	   "beyond the end an overwritten header is reported");
}

/* ---- what is looked at again --------------------------------------------- */

static uintptr_t scanned[16];
static int scans, drains;

static void note_scan(struct gc_copier *c, void *obj, bool shared)
{
	if (c == gc_copy_first(heap) && !shared && scans < 16)
		scanned[scans] = (uintptr_t)obj;
	scans++;
}

static void note_drain(struct gc_copier *c)
{
	drains += c == gc_copy_first(heap) && drains + 1 == scans;
}

/* Objects at the beginning and the end of to-space, holes between them, and some in pages. */
static void again(void)
{
	static const size_t object[] = { 0, NODE, 3 * NODE, 3 * NODE + 512, PIECE - NODE };
	const struct gc_type_desc desc = { .name = "node", .size = NODE, .refs = 2 };
	const struct gc_type *type;
	uintptr_t old[3];
	struct gc_copier *c;
	uint64_t before;
	bool right = true;

	if (!open_heap("plan=semispace,trim=0,workers=4,large=4K,max=64M"))
		return;
	type = gc_type_register(heap, &desc, NULL);
	/* Pages that are in use */
	gc_alloc_array(m,
		       gc_type_register(heap,
					&(struct gc_type_desc){ .name = "bytes",
								.size = 8,
								.tail = GC_TAIL_DATA,
								.elem_size = 1 },
					NULL),
		       100000);
	gc_bump_open(heap);
	gc_copy_begin(heap);
	c = gc_copy_first(heap);
	for (size_t i = 0; i < 5; i++)
		((struct gc_header *)AT(object[i]))->word = type->word;
	heap->bump->to = AT(PIECE);
	/* What was there long ago, in what is left of a piece */
	c->at = AT(2 * NODE);
	c->limit = AT(3 * NODE);
	memset((void *)c->at, 0x77, c->limit - c->at);
	old[0] = heap->base;
	old[1] = heap->base + 4096 + 8;
	old[2] = gc_high(heap) - 8;
	for (int i = 0; i < 3; i++)
		gc_bit_set(heap->mark, old[i]);
	before = stats().rescanned_objects;
	heap->stack.dropped = false;
	ok(!gc_copy_recover(heap, heap->mark, note_scan, note_drain) && !scans,
	   "without an overflow nothing is scanned again");
	heap->stack.dropped = true;
	ok(gc_copy_recover(heap, heap->mark, note_scan, note_drain) && !heap->stack.dropped,
	   "with an overflow the flag is cleared");
	for (int i = 0; i < 8; i++)
		right &= scanned[i] == (i < 5 ? AT(object[i]) : old[i - 5]);
	ok(right && scans == 8 && drains == 8,
	   "copied objects and those marked in pages are scanned, and drained");
	ok(stats().rescanned_objects == before + 8, "these objects are counted");
	for (int i = 0; i < 3; i++)
		heap->mark[old[i] >> GC_WORD_SHIFT] &= ~gc_bit(old[i]);
	heap->cycle.phase = GC_PHASE_COPY;
	gc_copy_progress(c);
	ok(heap->cycle.done == PIECE, "progress is the bytes that were copied");
	heap->cycle.phase = GC_PHASE_IDLE;
	c->at = c->limit = 0;
	stop();
}

/* ---- an object that another thread copies -------------------------------- */

static uint64_t busy[1];
static int copied; /* what was written before the address was: the thread sanitizer looks */

static void *await(void *arg)
{
	__atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
	*(uint64_t *)arg = gc_copy_await(busy) + (uint64_t)copied;
	return NULL;
}

static void awaited(void)
{
	uint64_t got = 0;
	pthread_t other;

	came = 0;
	busy[0] = 0x1001;
	ok(gc_copy_await(busy) == 0x1001, "a copied object has its address");
	busy[0] = GC_BUSY;
	pthread_create(&other, NULL, await, &got);
	until(&came, 1);
	copied = 2;
	__atomic_store_n(busy, 0x2001, __ATOMIC_RELEASE);
	pthread_join(other, NULL);
	ok(got == 0x2003, "an object that is being copied is waited for");
}

int main(void)
{
	alarm(CHILD_S);
	count_of_workers("plan=semispace,trim=0,workers=1", 0);
	count_of_workers("plan=semispace,trim=0,workers=2", 1);
	count_of_workers("plan=gss,trim=0,workers=4", 3);
	count_of_workers("plan=marksweep,trim=0,workers=4", 0);
	copiers();
	pieces();
	too_much();
	again();
	awaited();
	return done();
}
