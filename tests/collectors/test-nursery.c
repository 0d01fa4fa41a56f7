// SPDX-License-Identifier: MIT
/*
 * Description: the size of a nursery, by programs whose survivors are a function of it: it grows
 * where that pays off, shrinks where it does not, and rarely retries. In a heap: small garbage
 * alongside a large old tree is collected from little memory, and the whole heap only when
 * memory is short.
 */
#include "alone.h"
#include "tree.h"

#include "plan/nursery.h"

#include <pthread.h>

#define MB (1ull << 20)

/* Parts that survive of a nursery of so many bytes */
static double none(double bytes)
{
	return bytes * 0;
}

static double all(double bytes)
{
	return 1 + bytes * 0;
}

/* What is alive at any time is a megabyte: the larger the nursery, the less of it. */
static double a_megabyte(double bytes)
{
	return bytes > MB ? MB / bytes : 1;
}

struct seen {
	uint64_t least, most, last, moves;
};

static struct seen run(struct gc_nursery *n, double (*part)(double), int collections)
{
	struct seen s = { UINT64_MAX, 0, 0, 0 };

	for (int i = 0; i < collections; i++) {
		uint64_t size = n->size;

		gc_nursery_end(n, size, (uint64_t)(part((double)size) * (double)size));
		s.moves += n->size != size;
		s.least = n->size < s.least ? n->size : s.least;
		s.most = n->size > s.most ? n->size : s.most;
	}
	s.last = n->size;
	return s;
}

static void rules(void)
{
	struct gc_nursery n;
	struct seen s;

	gc_nursery_init(&n, 2 * MB, 32 * MB);
	s = run(&n, none, 1000);
	ok(s.most == 2 * MB, "where nothing survives the size stays at the minimum");
	gc_nursery_init(&n, 2 * MB, 32 * MB);
	s = run(&n, a_megabyte, 1000);
	ok(s.last == 32 * MB && s.moves == 4, "the size grows while less survives");
	s = run(&n, none, 1000);
	ok(s.last == 2 * MB && s.moves == 4, "the size shrinks when nothing survives");
	gc_nursery_init(&n, 2 * MB, 32 * MB);
	s = run(&n, all, 1000);
	ok(s.most == 4 * MB && s.least == 2 * MB && s.moves >= 2 && s.moves <= 40,
	   "where all survives it is doubled rarely and once at a time: %d moves", (int)s.moves);
	gc_nursery_init(&n, 2 * MB, 3 * MB);
	s = run(&n, a_megabyte, 100);
	ok(s.most == 2 * MB, "the size is not doubled above the maximum");
	gc_nursery_init(&n, 64 * MB, 32 * MB);
	ok(n.size == 32 * MB, "the size is not below the minimum");
	for (int i = 0; i < 100; i++)
		gc_nursery_end(&n, n.size / 4, 0);
	ok(n.size == 32 * MB && !n.seen, "an early collection is ignored");
	gc_nursery_init(&n, 2 * MB, 32 * MB);
	gc_nursery_bound(&n, 8 * MB);
	ok(n.size == 8 * MB, "more mutators raise the minimum");
	gc_nursery_bound(&n, 2 * MB);
	s = run(&n, none, 100);
	ok(s.last == 2 * MB, "fewer mutators lower the size gradually");
	ok(gc_nursery_cache() >= MB && gc_nursery_cache() <= 4 * MB,
	   "the cache size is 1 to 4 MiB");
}

/* An old tree and @garbage bytes of objects that die at once */
static void heap_of(const char *options, uint64_t garbage, uint64_t most)
{
	struct {
		struct gc_frame head;
		struct node *tree;
	} f;
	const struct gc_type *type;
	struct gc_heap_stats s;

	if (!open_heap(options))
		return;
	GC_PUSH(m, f);
	type = tree_type(heap);
	f.tree = tree(m, type, 17);
	for (uint64_t i = 0; i < garbage / sizeof(struct node); i++)
		if (!GC_NEW(m, type, struct node))
			break;
	s = stats();
	ok(s.minors > 20 && s.majors == 0, "%s: old objects are not collected: %d minor, %d major",
	   options, (int)s.minors, (int)s.majors);
	ok(s.footprint_bytes < most, "%s: little memory is touched: %d KiB", options,
	   (int)(s.footprint_bytes >> 10));
	f.tree = NULL;
	GC_POP(m, f);
	stop();
}

static void garbage(const struct gc_type *type, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / sizeof(struct node); i++)
		if (!GC_NEW(m, type, struct node))
			break;
}

#define CACHES 64

static unsigned int parked;
static bool enough;

static void *stay_parked(void *arg)
{
	struct gc_mutator *own;

	if (gc_mutator_attach(heap, &own))
		return arg;
	gc_park(own);
	__atomic_fetch_add(&parked, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&enough, __ATOMIC_SEQ_CST))
		usleep(1000);
	gc_unpark(own);
	gc_mutator_detach(own);
	return NULL;
}

/* So much for each mutator, but for no more of them than can run at a time */
static void share(unsigned int mutators, unsigned int want)
{
	pthread_t more[8];
	const struct gc_type *type;
	uint64_t before, took;

	if (!open_heap("plan=gss,sizing=fixed,heap=128M,max=256M,trim=0,workers=1"))
		return;
	type = tree_type(heap);
	parked = 0;
	enough = false;
	for (unsigned int i = 1; i < mutators; i++)
		pthread_create(&more[i], NULL, stay_parked, NULL);
	while (__atomic_load_n(&parked, __ATOMIC_SEQ_CST) < mutators - 1)
		usleep(100);
	/* What it had grown to for the first ones it gives up. */
	garbage(type, CACHES * gc_nursery_cache());
	before = stats().minors;
	garbage(type, CACHES * gc_nursery_cache());
	took = stats().minors - before;
	if (!ok(took * want >= CACHES * 3 / 4 && took * want <= CACHES * 5 / 4,
		"the nursery of %u mutators has room for %s", mutators,
		want == mutators ? "each mutator" : "as many as CPUs"))
		printf("# %llu collections for %d caches\n", (unsigned long long)took, CACHES);
	__atomic_store_n(&enough, true, __ATOMIC_SEQ_CST);
	gc_park(m);
	for (unsigned int i = 1; i < mutators; i++)
		pthread_join(more[i], NULL);
	gc_unpark(m);
	stop();
}

int main(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	rules();
	share(1, 1);
	if (cpus > 0 && cpus < 4)
		share((unsigned int)cpus + 2, (unsigned int)cpus);
	else
		share(2, 2);
	heap_of("plan=gss,sizing=fixed,heap=128M,trim=0,workers=1", 256 * MB, 48 * MB);
	return done();
}
