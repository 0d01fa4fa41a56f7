// SPDX-License-Identifier: MIT
/*
 * Description: mutators that stopped help to mark and to copy: the same set as without
 * them, whoever comes, comes late, goes or finds nothing to do; told to the listener and to
 * libgchint.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener-gchint.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define TRIES	   400 /* collections until help has come on a machine that has other work */
#define MOST	   4
#define LATE_NODES 300000
#define LATE_BYTES (LATE_NODES / 2 * sizeof(struct node))

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
	COLLECTING_TOO /* waits for its turn */
};

static int quit, ready, under_way, come_late;

static int get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void add(int *word, int more)
{
	__atomic_fetch_add(word, more, __ATOMIC_SEQ_CST);
}

static void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static bool until(const int *word, int least)
{
	struct timespec ts = { 0, 20000 };

	for (int i = 0; i < 100000 && get(word) < least; i++)
		nanosleep(&ts, NULL);
	return get(word) >= least;
}

static void *keep_company(void *arg)
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
		}
	}
	gc_mutator_detach(own);
	return NULL;
}

static pthread_t others[MOST];
static enum company kinds[MOST];
static int count;

static void join_company(enum company kind)
{
	kinds[count] = kind;
	pthread_create(&others[count], NULL, keep_company, &kinds[count]);
	count++;
	until(&ready, count);
}

static void part_company(void)
{
	add(&quit, 1);
	gc_park(m);
	while (count)
		pthread_join(others[--count], NULL);
	gc_unpark(m);
	quit = ready = under_way = come_late = 0;
}

/* ---- what is marked ------------------------------------------------------ */

static bool open_heap(const char *options, struct gc_listener *l)
{
	struct gc_type_desc node = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc array = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	struct gc_type_desc weak = { .name = "weak", .size = sizeof(struct weak), .weak = true };
	struct gc_error err = { .text = "no memory for a mutator" };
	char text[256];

	snprintf(text, sizeof(text), "max=128M,%s", options);
	if (gc_heap_create(&heap, text, l, &err) || gc_mutator_attach(heap, &m))
		return ok(false, "%s starts: %s", options, err.text);
	node_type = gc_type_register(heap, &node, NULL);
	array_type = gc_type_register(heap, &array, NULL);
	weak_type = gc_type_register(heap, &weak, NULL);
	GC_PUSH(m, f);
	return true;
}

static void close_heap(void)
{
	if (count)
		part_company();
	GC_POP(m, f);
	gc_mutator_detach(m);
	if (gc_heap_destroy(heap))
		ok(false, "all mutators left");
}

static struct gc_heap_stats stats(void)
{
	struct gc_heap_stats s;

	gc_heap_stats(heap, &s);
	return s;
}

/* A random tree, the same each time: a new node comes between one and its child */
static void plant(long nodes)
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
static void string(long nodes)
{
	for (long i = 0; i < nodes; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		gc_init(&f.fresh->child[0], f.kept);
		f.kept = f.fresh;
	}
}

/* Collects until mutators have helped @helps times more and marked @objects. */
static bool collect_until(uint64_t helps, uint64_t objects)
{
	struct gc_heap_stats before = stats(), now = before;

	for (int i = 0; i < TRIES; i++) {
		gc_collect_full(m);
		now = stats();
		if (now.helps - before.helps >= helps &&
		    now.helped_objects - before.helped_objects >= objects)
			return true;
		/* Who is to wait for the next one gets there. */
		sched_yield();
	}
	return false;
}

static void forget(void)
{
	f.tree = f.kept = f.fresh = NULL;
	f.array = NULL;
	f.weak = NULL;
}

/* ---- the same set -------------------------------------------------------- */

static void same(const char *plan, const char *more, int company)
{
	struct gc_heap_stats with, alone;
	bool helped = true;
	char options[160];

	snprintf(options, sizeof(options), "plan=%s,workers=4,help=0%s", plan, more);
	if (!open_heap(options, NULL))
		return;
	plant(120000);
	string(1000);
	gc_collect_full(m);
	alone = stats();
	forget();
	close_heap();
	snprintf(options, sizeof(options), "plan=%s,workers=4%s", plan, more);
	if (!open_heap(options, NULL))
		return;
	plant(120000);
	string(1000);
	for (int i = 0; i < company; i++)
		join_company(AT_SAFEPOINTS);
	if (company)
		helped = collect_until(3, 1);
	else
		gc_collect_full(m);
	with = stats();
	if (!ok(with.live_objects == alone.live_objects &&
			(with.live_bytes == alone.live_bytes || with.copied_bytes) &&
			alone.live_objects == 121000,
		"%s with %d others: the same set", options, company))
		printf("# %llu objects, %llu bytes; alone %llu, %llu\n",
		       (unsigned long long)with.live_objects, (unsigned long long)with.live_bytes,
		       (unsigned long long)alone.live_objects,
		       (unsigned long long)alone.live_bytes);
	ok(helped && (company || !with.helps), "%s with %d others: %llu helped, %llu objects",
	   options, company, (unsigned long long)with.helps,
	   (unsigned long long)with.helped_objects);
	ok(!gc_verify(m, NULL), "%s: verified", options);
	close_heap();
}

static void nothing_to_do(void)
{
	struct gc_heap_stats s;

	if (!open_heap("plan=marksweep,workers=4,stress=1M", NULL))
		return;
	for (int i = 0; i < 3; i++)
		join_company(AT_SAFEPOINTS);
	for (int i = 0; i < 100; i++)
		gc_collect_full(m);
	string(1);
	ok(collect_until(1, 0), "one object: who helps finds nothing to do and all end");
	s = stats();
	ok(s.live_objects == 1, "one object is one");
	string(200000);
	ok(collect_until(1, 0), "a list, which cannot be shared");
	ok(stats().live_objects == 200001, "all of the list is marked");
	close_heap();
}

static void crowd(const char *plan)
{
	char options[96];

	snprintf(options, sizeof(options), "plan=%s,workers=3,verify=all", plan);
	if (!open_heap(options, NULL))
		return;
	plant(20000);
	join_company(AT_SAFEPOINTS);
	join_company(COMING_AND_GOING);
	join_company(COMING_AND_GOING);
	ok(collect_until(20, 1), "%s: threads that come, park and go", options);
	ok(stats().live_objects == 20000, "%s: nothing is lost by that", options);
	close_heap();
}

/* ---- weak references, finalizers, long arrays ---------------------------- */

static void weak(const char *plan)
{
	const uint32_t many = 60000;
	struct gc_heap_stats before, now;
	bool helped = false;
	uint32_t kept = 0, cleared = 0, fetched = 0;
	char options[96];

	snprintf(options, sizeof(options), "plan=%s,workers=3", plan);
	if (!open_heap(options, NULL))
		return;
	f.kept = GC_NEW(m, node_type, struct node);
	f.array = gc_alloc_array(m, array_type, many);
	join_company(AT_SAFEPOINTS);
	join_company(AT_SAFEPOINTS);
	/* Every other one refers to what has died, until a helper had one of them for certain. */
	for (int i = 0; i < TRIES && !helped; i++) {
		for (uint32_t at = 0; at < many; at++) {
			f.weak = gc_alloc(m, weak_type);
			f.fresh = f.kept;
			if (at % 2)
				f.fresh = GC_NEW(m, node_type, struct node);
			if (at % 2000 == 1)
				gc_finalizer_add(m, f.fresh);
			gc_write(m, f.weak, &f.weak->target, f.fresh);
			gc_write(m, f.array, &f.array->item[at], f.weak);
		}
		f.fresh = NULL;
		f.weak = NULL;
		while (gc_finalizer_next(m))
			;
		before = stats();
		gc_collect_full(m);
		now = stats();
		/* What has been copied already is not counted where it is scanned. */
		helped = now.helped_objects - before.helped_objects >= 8 ||
			 (now.copied_bytes && now.helps >= 8);
	}
	for (uint32_t at = 0; at < many; at++) {
		void *target = gc_weak_get(m, f.array->item[at]);

		kept += !(at % 2) && target == f.kept;
		cleared += at % 2 && !target;
	}
	while (gc_finalizer_next(m))
		fetched++;
	ok(helped, "%s: helpers met weak references", options);
	ok(kept == many / 2 && cleared == many / 2, "%s: those of the dead are cleared", options);
	ok(fetched == many / 2000, "%s: what was due is finalized: %u", options, fetched);
	close_heap();
}

static void long_array(const char *plan)
{
	const uint32_t many = 200000;
	char options[96];

	snprintf(options, sizeof(options), "plan=%s,workers=3,split=64", plan);
	if (!open_heap(options, NULL))
		return;
	f.array = gc_alloc_array(m, array_type, many);
	for (uint32_t at = 0; at < many; at++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		gc_write(m, f.array, &f.array->item[at], f.fresh);
	}
	f.fresh = NULL;
	join_company(AT_SAFEPOINTS);
	join_company(AT_SAFEPOINTS);
	ok(collect_until(1, many / 8), "%s: an array is shared in parts", options);
	ok(stats().live_objects == many + 1, "%s: each part once", options);
	close_heap();
}

/* ---- what is told -------------------------------------------------------- */

struct hearing {
	struct gc_listener base;
	pthread_t leader;
	bool wait_for_late;
	int begins, ends, wrong, progress;
	uint64_t done;
};

static struct hearing *hearing_of(struct gc_listener *self)
{
	return (struct hearing *)self;
}

static void heard_mark(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	(void)e;
	h->leader = pthread_self();
	h->done = 0;
}

/* The collecting thread, in the middle of it: who is in native code comes back now. */
static void heard_progress(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (e->phase != GC_PHASE_MARK)
		return;
	h->progress++;
	if (!pthread_equal(pthread_self(), h->leader) || e->work_done < h->done)
		add(&h->wrong, 1);
	h->done = e->work_done;
	if (!h->wait_for_late || !get(&h->begins) || e->work_done > LATE_BYTES)
		return;
	h->wait_for_late = false;
	set(&under_way, 1);
	until(&h->begins, 2);
}

static void heard_help(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (!e->stw || e->phase != GC_PHASE_MARK || !e->mutator || e->mutator == m || !e->cycle ||
	    pthread_equal(pthread_self(), h->leader))
		add(&h->wrong, 1);
	add(&h->begins, 1);
}

static void heard_end(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (!e->stw || e->phase != GC_PHASE_MARK)
		add(&h->wrong, 1);
	add(&h->ends, 1);
}

/* All helpers have left before the phase ends. */
static void heard_mark_end(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	(void)e;
	if (get(&h->begins) != get(&h->ends))
		add(&h->wrong, 1);
}

static const struct gc_listener_ops hearing_ops = {
	.mark_begin = heard_mark,
	.mark_end = heard_mark_end,
	.progress = heard_progress,
	.help_begin = heard_help,
	.help_end = heard_end,
};

static void take_turns(void)
{
	struct hearing h = { .base.ops = &hearing_ops };
	struct gc_heap_stats s;

	if (!open_heap("plan=marksweep,workers=2", &h.base))
		return;
	plant(120000);
	join_company(COLLECTING_TOO);
	for (int i = 0; i < TRIES && get(&h.begins) < 3; i++)
		gc_collect_full(m);
	part_company();
	s = stats();
	ok(h.begins >= 3 && s.helps == (uint64_t)h.begins,
	   "who waits for its turn to collect helps: %d times", h.begins);
	ok(s.live_objects == 120000, "and nothing is lost by that");
	close_heap();
}

static void late(void)
{
	struct hearing h = { .base.ops = &hearing_ops };

	if (!open_heap("plan=marksweep,workers=3", &h.base))
		return;
	plant(LATE_NODES);
	join_company(AT_SAFEPOINTS);
	join_company(PARKED);
	for (int i = 0; i < TRIES && h.begins < 2; i++) {
		h.begins = h.ends = 0;
		set(&under_way, 0);
		h.wait_for_late = true;
		gc_collect_full(m);
	}
	ok(h.begins >= 2 && get(&come_late), "who comes late from native code helps with the rest");
	ok(stats().live_objects == LATE_NODES, "and nothing is marked twice");
	ok(!h.wrong && h.progress,
	   "help is told on its own thread, within marking; progress by who collects");
	close_heap();
}

static long tally(const char *text, const char *word)
{
	long n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

/* The mutator's own slot says what it does, and nothing afterwards. */
static void hints(void)
{
	static char text[1 << 20];
	char path[] = "/tmp/gchint-help-XXXXXX";
	struct gc_listener_gchint l;
	int fd = mkstemp(path);
	long helps, begins, ends;
	char own[64];
	ssize_t n;

	setenv("GCHINT_TRACE", path, 1);
	if (gc_listener_gchint_open(&l, 0) ||
	    !open_heap("plan=marksweep,workers=2,trim=0", &l.base)) {
		ok(false, "the session opens");
		return;
	}
	plant(100000);
	join_company(AT_SAFEPOINTS);
	ok(collect_until(1, 1), "with hints, help comes");
	helps = (long)stats().helps;
	close_heap();
	gc_listener_gchint_close(&l);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(path);
	begins = tally(text, " begin mark stw");
	ends = tally(text, " end mark stw");
	/* less those of who collects */
	snprintf(own, sizeof(own), " %ld begin mark stw", (long)getpid());
	begins -= tally(text, own);
	snprintf(own, sizeof(own), " %ld end mark stw", (long)getpid());
	ends -= tally(text, own);
	if (!ok(begins == helps && ends == helps && !tally(text, " role "),
		"each help is a phase of its own thread, whose role stays"))
		printf("# %ld begin and %ld end of %ld\n%.800s\n", begins, ends, helps, text);
}

#define IN_PLACE 3 /* of the plans below */

int main(void)
{
	static const char *const plans[] = { "marksweep", "immix,defrag=never", "stickyimmix",
					     "semispace", "gss,nursery=8M" };
	for (int company = 0; company < MOST; company += 1 + (company == 1))
		for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
			same(plans[i], "", company);
	same("marksweep", ",overflow=reserve", 1);
	same("immix", ",split=16", 2);
	nothing_to_do();
	take_turns();
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		crowd(plans[i]);
		weak(plans[i]);
		if (i < IN_PLACE)
			long_array(plans[i]);
	}
	late();
	hints();
	return done();
}
