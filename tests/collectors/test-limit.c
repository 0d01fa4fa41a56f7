// SPDX-License-Identifier: MIT
/*
 * Description: at the limit an allocation returns NULL with a reason, after no more collections
 * than are needed to find the heap full, and in no more time than these take. LIMIT_MB: size of
 * that heap (default: 16).
 */
#include "alone.h"
#include "policy/overhead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct node {
	struct gc_header header;
	struct node *next;
	long pad[2];
};

#define CALLS 40
/* Full collections that are timed; the median is what one takes. */
#define TIMED 5
/*
 * So many times the time may the same work take: a full heap's pages come and go with it, and
 * the first one is a single reading. What is looked for are hundreds.
 */
#define SLACK 16

static const struct gc_type *node_type, *bytes_type;

/*
 * Collections that a refused call takes at most: the first one tries what is cheaper before it
 * collects all, later ones need one to see that nothing has changed. The daemon's are counted.
 */
static const struct row {
	const char *options;
	unsigned int first, later;
} rows[] = {
	{ "plan=cms", 3, 2 },
	{ "plan=cms,policy=bg", 5, 3 },
	{ "plan=cms,policy=fg", 2, 1 },
	{ "plan=cmsfly,policy=fg", 2, 1 },
	{ "plan=gencms,policy=fg", 3, 1 },
	{ "plan=gss", 3, 1 },
	{ "plan=gss,nursery=1M", 3, 1 },
	{ "plan=gss,sizing=fixed", 3, 1 },
	{ "plan=immix", 2, 1 },
	{ "plan=marksweep", 2, 1 },
	{ "plan=semispace", 2, 1 },
	{ "plan=stickyimmix", 3, 1 },
};

static bool start(const char *options)
{
	struct gc_type_desc n = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};

	if (!open_heap(options))
		return false;
	node_type = gc_type_register(heap, &n, NULL);
	bytes_type = gc_type_register(heap, &b, NULL);
	return true;
}

struct frame {
	struct gc_frame head;
	struct node *list, *fresh;
};

/* Of all threads: what others do on the machine is not in it, what the collector's own do is. */
static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *ms, unsigned int n)
{
	qsort(ms, n, sizeof(*ms), by_size);
	return ms[n / 2];
}

/* Collections that an allocation takes that finds no room; 0: it found some. */
static uint64_t refused(size_t array, unsigned int *wrong)
{
	uint64_t before = stats().cycles;
	enum gc_refusal why;

	if (array ? gc_alloc_array(m, bytes_type, (uint32_t)array) :
		    (void *)GC_NEW(m, node_type, struct node))
		return 0;
	why = gc_refused(m);
	*wrong += why != GC_REFUSED_FULL && why != GC_REFUSED_OVERHEAD;
	return stats().cycles - before;
}

/* As much as leaves no room for the array that is asked for then */
static void fill(struct frame *f, unsigned int mb)
{
	for (unsigned int i = 0; i < mb * 7 << 11; i++) {
		f->fresh = GC_NEW(m, node_type, struct node);
		if (!f->fresh)
			break;
		gc_init(&f->fresh->next, f->list);
		f->list = f->fresh;
	}
	f->fresh = NULL;
}

/* A full collection of that heap: as it was filled, and of what one has sorted already */
static bool full_ms(const char *options, unsigned int mb, double *fresh, double *again)
{
	double ms[TIMED];
	struct frame f;

	if (!start(options))
		return false;
	GC_PUSH(m, f);
	fill(&f, mb);
	for (int i = -1; i < TIMED; i++) {
		double *one = i < 0 ? fresh : &ms[i];

		*one = -cpu_ms();
		gc_collect_full(m);
		*one += cpu_ms();
	}
	*again = median(ms, TIMED);
	GC_POP(m, f);
	stop();
	return true;
}

static void full(const struct row *row, unsigned int mb)
{
	const size_t array = (size_t)mb * 3 / 4 << 20;
	double fresh, again, first_ms, later_ms[CALLS], later;
	/* A refusal gives the half back that the next collection fills: each is a first one. */
	const bool cold = strstr(row->options, "semispace");
	unsigned int wrong = 0;
	uint64_t first, worst = 0, n;
	struct frame f;
	char options[96];

	snprintf(options, sizeof(options), "max=%uM,trim=0,%s", mb, row->options);
	if (strstr(options, "sizing=fixed"))
		snprintf(options + strlen(options), sizeof(options) - strlen(options), ",heap=%uM",
			 mb);
	if (!full_ms(options, mb, &fresh, &again) || !start(options))
		return;
	GC_PUSH(m, f);
	fill(&f, mb);
	first_ms = -cpu_ms();
	first = refused(array, &wrong);
	first_ms += cpu_ms();
	for (int i = 0; i < CALLS; i++) {
		later_ms[i] = -cpu_ms();
		n = refused(array, &wrong);
		later_ms[i] += cpu_ms();
		if (n > worst)
			worst = n;
	}
	later = median(later_ms, CALLS);
	if (!ok(first && first <= row->first && worst <= row->later,
		"%s: a refusal takes %u collections, later ones %u", row->options, row->first,
		row->later))
		printf("# took %llu, then up to %llu\n", (unsigned long long)first,
		       (unsigned long long)worst);
	ok(first_ms <= SLACK * (fresh + (row->first - 1) * again) &&
		   later <= SLACK * row->later * (cold ? fresh : again),
	   "%s: in the time of as many full collections", row->options);
	printf("# ms: full %.1f, then %.1f; refusal %.1f, then %.1f, at most %.1f\n", fresh, again,
	       first_ms, later, later_ms[CALLS - 1]);
	ok(!wrong, "%s: gc_refused() returns the reason", row->options);
	ok(!gc_alloc_array(m, bytes_type, (mb + 1) << 20) && gc_refused(m) == GC_REFUSED_SIZE,
	   "%s: a request larger than the heap is refused as such", row->options);
	f.list = NULL;
	f.fresh = gc_alloc_array(m, bytes_type, 1u << 20);
	if (!ok(f.fresh && gc_refused(m) == GC_REFUSED_NOT,
		"%s: allocation succeeds again afterwards", row->options))
		printf("# refused: %d, %llu of %llu in use\n", gc_refused(m),
		       (unsigned long long)stats().heap_bytes,
		       (unsigned long long)stats().soft_limit);
	GC_POP(m, f);
	stop();
}

static int gone, parked;

/* A thread in native code: it takes no part in collecting, and the heap is of no use to it. */
static void *stay_parked(void *arg)
{
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return arg;
	gc_park(own);
	__atomic_store_n(&parked, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&gone, __ATOMIC_SEQ_CST))
		usleep(1000);
	gc_unpark(own);
	gc_mutator_detach(own);
	return NULL;
}

/* Garbage in a heap with hardly any room: all the time goes into collecting. */
static void vain(const char *plan, bool company)
{
	const char *with = company ? " beside a parked thread" : "";
	unsigned long refusals = 0, others = 0;
	pthread_t thread;
	struct frame f;
	char options[96];

	snprintf(options, sizeof(options), "max=12M,sizing=fixed,heap=12M,trim=0,%s", plan);
	if (!start(options))
		return;
	gone = parked = 0;
	if (company) {
		pthread_create(&thread, NULL, stay_parked, NULL);
		while (!__atomic_load_n(&parked, __ATOMIC_SEQ_CST))
			usleep(100);
	}
	GC_PUSH(m, f);
	while ((f.fresh = GC_NEW(m, node_type, struct node))) {
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
	}
	/* 16 KiB of room: a block, or a few lines */
	for (int i = 0; i < 512; i++)
		f.list = f.list->next;
	for (long i = 0; i < 400000 && refusals < 3; i++) {
		if (GC_NEW(m, node_type, struct node))
			continue;
		if (gc_refused(m) == GC_REFUSED_OVERHEAD)
			refusals++;
		else
			others++;
	}
	if (!ok(refusals >= 3, "%s: constant collecting without effect is refused%s", plan, with))
		printf("# %lu refused for it, %lu else, %llu collections\n", refusals, others,
		       (unsigned long long)stats().cycles);
	f.list = NULL;
	gc_collect_full(m);
	for (int i = 0; i < 1000 && f.head.count; i++)
		f.fresh = GC_NEW(m, node_type, struct node);
	ok(f.fresh && gc_refused(m) == GC_REFUSED_NOT, "%s: the refusals end once there is room",
	   plan);
	GC_POP(m, f);
	__atomic_store_n(&gone, 1, __ATOMIC_SEQ_CST);
	gc_park(m);
	if (company)
		pthread_join(thread, NULL);
	gc_unpark(m);
	stop();
}

/* ---- the rule --------------------------------------------------------------- */

struct step {
	uint64_t span, paused, granted;
	bool needed;
};

static unsigned int strikes(const struct step *step, unsigned int count, uint32_t threads)
{
	struct gc_overhead o = { 0 };
	struct gc_overhead_in in = { .limit = 1000, .threads = threads };

	gc_overhead_sample(&o, &in, false);
	for (unsigned int i = 0; i < count; i++) {
		in.now += step->span;
		in.paused_ns += step->paused;
		in.granted += step->granted;
		gc_overhead_sample(&o, &in, step->needed);
	}
	return o.strikes;
}

static void rule(void)
{
	static const struct step vain = { 1000, 990, 10, true }, works = { 1000, 979, 10, true },
				 edge = { 1000, 980, 10, true }, fed = { 1000, 990, 20, true },
				 almost = { 1000, 990, 19, true }, asked = { 1000, 990, 10, false };
	struct gc_overhead o = { .strikes = GC_OVERHEAD_STRIKES - 1 };
	struct gc_overhead_in in = { .limit = 1000, .threads = 1, .granted = 50 }, back = in;

	ok(strikes(&vain, 5, 1) == 5, "five vain collections in a row are five strikes");
	ok(!strikes(&works, 5, 1) && !strikes(&edge, 5, 1), "98 %% of the time is not enough");
	ok(!strikes(&fed, 5, 1) && strikes(&almost, 5, 1) == 5,
	   "2 %% of the limit resets the count");
	ok(!strikes(&asked, 5, 1), "a collection that no mutator needed resets the count");
	ok(!strikes(&vain, 5, 2), "one of two threads paused is half of the time");
	o.since.limit = 1000;
	ok(!gc_overhead_refuses(&o, 19), "one strike less than the limit does not refuse");
	o.strikes++;
	ok(!gc_overhead_refuses(&o, 20), "with 2 %% of the limit free allocation succeeds");
	ok(gc_overhead_refuses(&o, 19) && !gc_overhead_refuses(&o, 19),
	   "each refusal needs another strike");
	o = (struct gc_overhead){ .since = in };
	back.now = back.paused_ns = 1000;
	back.granted = 0;
	gc_overhead_sample(&o, &back, true);
	ok(o.strikes == 1, "returned grants do not count as granted");
}

int main(void)
{
	const char *mb = getenv("LIMIT_MB");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		full(&rows[i], mb ? (unsigned int)strtoul(mb, NULL, 10) : 16);
	vain("plan=marksweep", false);
	vain("plan=marksweep", true);
	vain("plan=semispace", false);
	vain("plan=cms,policy=fg", false);
	vain("plan=cms,policy=fg", true);
	vain("plan=cms", false);
	vain("plan=cms", true);
	vain("plan=immix", false);
	rule();
	return done();
}
