// SPDX-License-Identifier: MIT
/*
 * Description: an identity hash stays the same while its object lives, wherever that moves, on
 * every plan; hashes are unique and evenly distributed; many threads ask at once; entries of
 * dead objects are dropped; without memory the hash is 0. Built with malloc() and
 * pthread_mutex_lock() wrapped.
 */
#include "alone.h"

#include <pthread.h>

#define KEPT	3000 /* objects that are watched */
#define ROUNDS	60000
#define LARGE	16 /* of these are large */
#define SAMPLES 65536
#define THREADS 4

static bool starved;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return starved ? NULL : __real_malloc(size);
}

/* Asked for while somebody else, who did not find its hash, goes to note one */
static __thread const void *between;
static uint64_t faster;

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	const void *obj = between;

	between = NULL;
	if (obj)
		faster = gc_identity_hash(m, obj);
	return __real_pthread_mutex_lock(lock);
}

struct node {
	struct gc_header header;
	uint64_t hash; /* once it was asked for; 0 it was not */
	uintptr_t was;
	struct node *next;
};

struct array {
	struct gc_header header;
	uint64_t hash;
	struct node *item[];
};

static const struct gc_type *node, *array;

static bool start(const char *options)
{
	const struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 8 };
	const struct gc_type_desc a = { .name = "array", .size = 16, .tail = GC_TAIL_REFS };

	if (!open_heap(options))
		return false;
	node = gc_type_register(heap, &d, NULL);
	array = gc_type_register(heap, &a, NULL);
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool distinct(uint64_t *hash, size_t count)
{
	qsort(hash, count, sizeof(*hash), by_value);
	for (size_t i = 0; i < count; i++)
		if (!hash[i] || (i && hash[i] == hash[i - 1]))
			return false;
	return true;
}

/* Bits [@shift, @shift + 8) of @count hashes: chi squared of 256 cells */
static double uneven(const uint64_t *hash, size_t count, unsigned int shift)
{
	double want = (double)count / 256, sum = 0;
	size_t cell[256] = { 0 };

	for (size_t i = 0; i < count; i++)
		cell[hash[i] >> shift & 255]++;
	for (int i = 0; i < 256; i++)
		sum += ((double)cell[i] - want) * ((double)cell[i] - want) / want;
	return sum;
}

struct frame {
	struct gc_frame head;
	struct array *all;
	struct node *fresh;
	struct array *large;
};

/* Objects come and go, and are asked at once, later, again and again, or never. */
static void stays(const char *options, bool moves)
{
	static uint64_t seen[KEPT];
	uint64_t changed = 0, moved = 0, known = 0, rng = 7;
	struct frame f;
	bool apart;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, KEPT);
	f.all->hash = gc_identity_hash(m, f.all);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		rng = rng * 6364136223846793005u + 1442695040888963407u;
		if (!(i & 1023)) {
			f.large = gc_alloc_array(m, array, 2000);
			f.large->hash = gc_identity_hash(m, f.large);
		}
		f.fresh = GC_NEW(m, node, struct node);
		if (rng >> 60 < 8)
			f.fresh->hash = gc_identity_hash(m, f.fresh);
		f.fresh->was = (uintptr_t)f.fresh;
		/* Some live for long: their place is not among the first. */
		gc_write(m, f.all, &f.all->item[(rng >> 32) % (rng >> 50 & 3 ? KEPT / 8 : KEPT)],
			 f.fresh);
		f.fresh = f.all->item[(rng >> 20) % KEPT];
		if (!f.fresh)
			continue;
		if (!f.fresh->hash)
			f.fresh->hash = gc_identity_hash(m, f.fresh);
		changed += f.fresh->hash != gc_identity_hash(m, f.fresh);
		moved += f.fresh->was != (uintptr_t)f.fresh;
		changed += f.large->hash != gc_identity_hash(m, f.large);
	}
	gc_collect_full(m);
	for (int i = 0; i < KEPT; i++) {
		f.fresh = f.all->item[i];
		if (f.fresh)
			seen[known++] = gc_identity_hash(m, f.fresh);
		changed += f.fresh && f.fresh->hash && f.fresh->hash != seen[known - 1];
	}
	changed += f.all->hash != gc_identity_hash(m, f.all);
	apart = distinct(seen, known);
	if (!ok(!changed && !!moved == moves && apart && known > KEPT / 2,
		"%s: %s, %llu live objects keep unique hashes", options,
		moves ? "objects move" : "objects stay", (unsigned long long)known))
		printf("# %llu changed, %llu moved, distinct %d\n", (unsigned long long)changed,
		       (unsigned long long)moved, apart);
	/* What is dead is noted no more. */
	known = stats().hashed_objects;
	f.fresh = NULL;
	f.all = f.large = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	ok(!!known == moves && !stats().hashed_objects, "%s: %llu objects were noted, now none",
	   options, (unsigned long long)known);
	GC_POP(m, f);
	stop();
}

/* Far below 1 in a million for bits that are random; what is not mixed has thousands. */
#define MOST 400.0

static void spread(const char *options)
{
	static uint64_t hash[SAMPLES];
	struct frame f;
	double worst = 0;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, SAMPLES);
	for (int i = 0; i < SAMPLES; i++) {
		f.fresh = GC_NEW(m, node, struct node);
		gc_write(m, f.all, &f.all->item[i], f.fresh);
	}
	for (int i = 0; i < SAMPLES; i++)
		hash[i] = gc_identity_hash(m, f.all->item[i]);
	for (unsigned int shift = 0; shift < 64; shift += 8)
		if (uneven(hash, SAMPLES, shift) > worst)
			worst = uneven(hash, SAMPLES, shift);
	if (!ok(worst < MOST && distinct(hash, SAMPLES),
		"%s: each byte of %d hashes is evenly distributed", options, SAMPLES))
		printf("# chi squared %.0f of 255\n", worst);
	GC_POP(m, f);
	stop();
}

/* Threads that ask for the same objects, which nobody asked for before, while they move */
static struct array *shared;
static pthread_barrier_t begin;
static uint64_t told[THREADS][KEPT];
static int differ;

static void *asker(void *arg)
{
	uint64_t *mine = arg;
	struct gc_mutator *self;
	struct frame f;

	gc_mutator_attach(heap, &self);
	GC_PUSH(self, f);
	gc_park(self);
	pthread_barrier_wait(&begin);
	gc_unpark(self);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < KEPT; i++) {
			uint64_t hash = gc_identity_hash(self, shared->item[i]);

			if (round && mine[i] != hash)
				__atomic_store_n(&differ, 1, __ATOMIC_RELAXED);
			mine[i] = hash;
			f.fresh = GC_NEW(self, node, struct node);
			gc_identity_hash(self, f.fresh);
		}
	}
	GC_POP(self, f);
	gc_mutator_detach(self);
	return NULL;
}

static void together(const char *options)
{
	pthread_t thread[THREADS];
	uint64_t cycles;
	struct frame f;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	gc_roots_add(heap, (void **)&shared, 1);
	shared = gc_alloc_array(m, array, KEPT);
	for (int i = 0; i < KEPT; i++) {
		f.fresh = GC_NEW(m, node, struct node);
		gc_write(m, shared, &shared->item[i], f.fresh);
	}
	cycles = stats().cycles;
	differ = 0;
	pthread_barrier_init(&begin, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, asker, told[i]);
	gc_park(m);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	gc_unpark(m);
	cycles = stats().cycles - cycles;
	for (int i = 1; i < THREADS; i++)
		differ |= memcmp(told[0], told[i], sizeof(told[0])) != 0;
	if (!ok(!differ && cycles > 3 && distinct(told[0], KEPT),
		"%s: %d concurrent threads get the same hash", options, THREADS))
		printf("# differ %d, %llu collections\n", differ, (unsigned long long)cycles);
	gc_roots_remove(heap, (void **)&shared);
	GC_POP(m, f);
	pthread_barrier_destroy(&begin);
	stop();
}

static void overtaken(const char *options)
{
	struct node *n;
	uint64_t hash;

	if (!start(options))
		return;
	n = GC_NEW(m, node, struct node);
	between = n;
	hash = gc_identity_hash(m, n);
	ok(!between && faster && hash == faster && stats().hashed_objects == 1,
	   "%s: a thread that lost the race gets the hash that was noted meanwhile", options);
	stop();
}

/* An object that died, was handed out and lives again */
static void finalized(const char *options)
{
	struct frame f;
	uint64_t hash;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.fresh = GC_NEW(m, node, struct node);
	f.fresh->next = NULL;
	hash = gc_identity_hash(m, f.fresh);
	gc_finalizer_add(m, f.fresh);
	f.fresh = NULL;
	gc_collect_full(m);
	f.fresh = gc_finalizer_next(m);
	ok(f.fresh && gc_identity_hash(m, f.fresh) == hash, "%s: a finalized object keeps its hash",
	   options);
	GC_POP(m, f);
	stop();
}

static void no_memory(const char *options)
{
	uint64_t first, none = 1;
	struct frame f;
	int had = 0;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, KEPT);
	for (int i = 0; i < KEPT; i++) {
		f.fresh = GC_NEW(m, node, struct node);
		gc_write(m, f.all, &f.all->item[i], f.fresh);
	}
	first = gc_identity_hash(m, f.all->item[0]);
	starved = true;
	for (int i = 1; i < KEPT && none; i++, had++)
		none = gc_identity_hash(m, f.all->item[i]);
	gc_collect_full(m);
	starved = false;
	ok(!none && had > 100 && gc_identity_hash(m, f.all->item[0]) == first &&
		   gc_identity_hash(m, f.all->item[had]),
	   "%s: without memory for more than %d the hash is 0, and the others stay", options, had);
	GC_POP(m, f);
	stop();
}

#define CHECKS ",verify=all,poison=1,stress=64K,max=64M"

int main(void)
{
	static const struct {
		const char *options;
		bool moves;
	} rows[] = {
		{ "plan=cms" CHECKS, false },
		{ "plan=cmsfly" CHECKS, false },
		{ "plan=gencms" CHECKS, false },
		{ "plan=marksweep" CHECKS, false },
		{ "plan=semispace" CHECKS, true },
		{ "plan=gss" CHECKS, true },
		{ "plan=gss,nursery=512K,promote=never" CHECKS, true },
		{ "plan=gss,nursery=512K,promote=naive,p=0.3,threshold=64K" CHECKS, true },
		{ "plan=immix,defrag=always" CHECKS, true },
		{ "plan=immix,defrag=never" CHECKS, false },
		{ "plan=stickyimmix,defrag=always" CHECKS, true },
	};
	static const char *const company[] = {
		"plan=cms,heap=1M,minfree=64K,maxfree=256K",
		"plan=cmsfly,heap=1M,minfree=64K,maxfree=256K",
		"plan=gencms,heap=1M,minfree=64K,maxfree=256K",
		"plan=gss,stress=32K",
		"plan=immix,defrag=always,stress=32K",
		"plan=marksweep,stress=32K",
		"plan=semispace,stress=32K",
		"plan=stickyimmix,defrag=always,stress=32K",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		stays(rows[i].options, rows[i].moves);
	for (size_t i = 0; i < sizeof(company) / sizeof(company[0]); i++) {
		spread(company[i]);
		together(company[i]);
		finalized(company[i]);
	}
	overtaken("plan=semispace,trim=0");
	no_memory("plan=semispace,max=64M");
	return done();
}
