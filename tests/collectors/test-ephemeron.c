// SPDX-License-Identifier: MIT
/*
 * Description: an ephemeron keeps its value as long as something else keeps its key, on every
 * plan: chains in any order, cycles, values younger than their ephemeron, finalizers, no memory.
 * Built with realloc() and malloc() wrapped.
 */
#include "ephemeron.h"

#define CHAIN	   2000
#define LONG_CHAIN 30000

static bool starved, index_starved;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
	return starved ? NULL : __real_realloc(p, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return index_starved ? NULL : __real_malloc(size);
}

struct frame {
	struct gc_frame head;
	struct array *all;
	struct object *key, *value, *fresh;
	void *ephemeron;
};

enum order {
	ALONG,
	AGAINST,
	ANYHOW,
	ORDERS
};

/*
 * Each of @count has the next one's key as its value; they stand in an array in some order. CPU
 * time of a collection that finds all of them alive.
 */
static uint64_t chain(const char *plan, uint32_t count, enum order order)
{
	static const char *const name[] = { "in its order", "in the reverse", "in no order" };
	static uint32_t place[LONG_CHAIN];
	struct gc_heap_stats before, after;
	uint64_t rng = 1, cleared;
	bool whole = true;
	char options[160];
	struct frame f;

	snprintf(options, sizeof(options), "plan=%s,heap=16M%s", plan,
		 count == CHAIN ? CHECKS : "");
	if (!start(options))
		return 0;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, count);
	for (uint32_t i = 0; i < count; i++)
		place[i] = order == AGAINST ? count - 1 - i : i;
	for (uint32_t i = count - 1; order == ANYHOW && i; i--) {
		uint32_t k = (uint32_t)(gc_length(f.all) * (rng >> 40) >> 24) % (i + 1),
			 was = place[i];

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		place[i] = place[k];
		place[k] = was;
	}
	f.key = f.fresh = gc_alloc(m, node);
	f.fresh->id = 0;
	for (uint32_t i = 0; i < count; i++) {
		f.value = gc_alloc(m, node);
		f.value->id = i + 1;
		f.ephemeron = gc_ephemeron_new(m, (void **)&f.fresh, (void **)&f.value);
		gc_write(m, f.all, &f.all->item[place[i]], f.ephemeron);
		f.fresh = f.value;
	}
	f.fresh = f.value = NULL;
	f.ephemeron = NULL;
	gc_collect_full(m);
	before = stats();
	gc_collect_full(m);
	after = stats();
	for (uint32_t i = 0; i < count && whole; i++) {
		struct object *v = gc_ephemeron_value(m, f.all->item[place[i]]);

		whole = v && v->id == i + 1;
	}
	f.key = NULL;
	gc_collect_full(m);
	cleared = stats().weak_cleared - after.weak_cleared;
	for (uint32_t i = 0; i < count; i++)
		cleared -= gc_ephemeron_key(m, f.all->item[i]) ||
			   gc_ephemeron_value(m, f.all->item[i]);
	if (!ok(whole && !after.weak_cleared && cleared == count,
		"%s: a chain of %u %s lives and dies with its first key", plan, count, name[order]))
		printf("# whole %d, %llu dropped before, %llu then\n", whole,
		       (unsigned long long)after.weak_cleared, (unsigned long long)cleared);
	GC_POP(m, f);
	stop();
	return after.gc_cpu_ns - before.gc_cpu_ns;
}

/* A pass for each of them would take thousands of times as long. */
static void two_passes(void)
{
	uint64_t along = chain("marksweep", LONG_CHAIN, ALONG);
	uint64_t against = chain("marksweep", LONG_CHAIN, AGAINST);

	if (!ok(along < 20 * against && against < 20 * along,
		"a long chain takes the same time in its order and in the reverse"))
		printf("# %llu and %llu us\n", (unsigned long long)along / 1000,
		       (unsigned long long)against / 1000);
}

/* The value refers to the key; two are each other's keys and values; one is its own. */
static void cycles(const char *plan)
{
	char options[160];
	struct frame f;
	bool there;

	snprintf(options, sizeof(options), "plan=%s" CHECKS, plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, 4);
	f.key = gc_alloc(m, node);
	f.value = gc_alloc(m, node);
	gc_write(m, f.value, &f.value->field[0], f.key);
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
	gc_write(m, f.all, &f.all->item[0], f.ephemeron);
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.value, (void **)&f.key);
	gc_write(m, f.all, &f.all->item[1], f.ephemeron);
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.key);
	gc_write(m, f.all, &f.all->item[2], f.ephemeron);
	f.fresh = gc_alloc(m, pair);
	gc_write(m, f.all, &f.all->item[3], f.fresh);
	gc_write(m, f.fresh, &f.fresh->field[0], f.value);
	gc_write(m, f.fresh, &f.fresh->field[1], f.fresh);
	f.value = f.fresh = NULL;
	f.ephemeron = NULL;
	gc_collect_full(m);
	there = stats().weak_cleared == 0;
	for (int i = 0; i < 4; i++)
		there &= gc_ephemeron_key(m, f.all->item[i]) &&
			 gc_ephemeron_value(m, f.all->item[i]);
	f.key = NULL;
	gc_collect_full(m);
	for (int i = 0; i < 4; i++)
		there &= !gc_ephemeron_key(m, f.all->item[i]) &&
			 !gc_ephemeron_value(m, f.all->item[i]);
	ok(there && stats().weak_cleared == 4,
	   "%s: values that refer to keys do not keep them alive", plan);
	GC_POP(m, f);
	stop();
}

/* A value, and then a key, that are younger than the ephemeron, in minor collections */
static void younger(const char *options)
{
	uint64_t minors, rounds = 0;
	bool kept = true;
	struct frame f;

	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.key = gc_alloc(m, node);
	f.ephemeron = f.fresh = gc_alloc(m, pair);
	gc_init(&f.fresh->field[0], f.key);
	f.fresh = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	minors = stats().minors;
	for (uint64_t i = 0; i < 300000 && kept; i++) {
		struct object *e = f.ephemeron, *v;

		f.fresh = gc_alloc(m, node);
		e = f.ephemeron;
		v = gc_ephemeron_value(m, e);
		kept = e->field[0] == f.key && (!rounds || (v && v->id == rounds));
		if (i % 5000)
			continue;
		f.fresh->id = ++rounds;
		gc_write(m, e, &e->field[1], f.fresh);
		if (i % 20000)
			continue;
		f.key = gc_alloc(m, node);
		e = f.ephemeron;
		gc_write(m, e, &e->field[0], f.key);
	}
	minors = stats().minors - minors;
	ok(kept && minors > 5, "%s: in %llu minor collections an old ephemeron keeps a young value",
	   options, (unsigned long long)minors);
	GC_POP(m, f);
	stop();
}

/* A key that is to be finalized is dead; what is met through it is treated like the rest. */
static void finalized(const char *plan)
{
	char options[160];
	struct frame f;
	bool good;

	snprintf(options, sizeof(options), "plan=%s" CHECKS, plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.key = gc_alloc(m, node);
	f.value = gc_alloc(m, node);
	f.value->id = 5;
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
	/* Only the key leads to a second one, of itself, and to a third, of what nobody holds. */
	f.fresh = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
	gc_write(m, f.key, &f.key->field[0], f.fresh);
	f.fresh = gc_alloc(m, node);
	f.fresh = gc_ephemeron_new(m, (void **)&f.fresh, (void **)&f.value);
	gc_write(m, f.key, &f.key->field[1], f.fresh);
	gc_finalizer_add(m, f.key);
	f.key = f.value = f.fresh = NULL;
	gc_collect_full(m);
	f.key = gc_finalizer_next(m);
	good = f.key && !gc_ephemeron_key(m, f.ephemeron) && !gc_ephemeron_value(m, f.ephemeron);
	if (good) {
		f.value = gc_ephemeron_value(m, f.key->field[0]);
		good = gc_ephemeron_key(m, f.key->field[0]) == f.key && f.value &&
		       f.value->id == 5 && !gc_ephemeron_key(m, f.key->field[1]) &&
		       !gc_ephemeron_value(m, f.key->field[1]);
	}
	ok(good, "%s: a finalized key is cleared, but lives for objects that only it refers to",
	   plan);
	GC_POP(m, f);
	stop();
}

/*
 * There is room to note what is weak, and none to queue what is finalized: that one stays, and
 * what is met through it is treated like the rest.
 */
static void no_queue(const char *plan)
{
	struct object *held;
	char options[160];
	struct frame f;
	bool good;

	/* Not trace: it takes what waits for a place for garbage that was kept. */
	snprintf(options, sizeof(options), "plan=%s,verify=card+post+pre,poison=1,max=64M", plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.key = gc_alloc(m, node);
	f.value = gc_alloc(m, node);
	f.fresh = gc_ephemeron_new(m, (void **)&f.value, (void **)&f.value);
	gc_write(m, f.key, &f.key->field[0], f.fresh);
	f.fresh = gc_weak_new(m, (void **)&f.value);
	gc_write(m, f.key, &f.key->field[1], f.fresh);
	f.fresh = NULL;
	gc_finalizer_add(m, f.key);
	gc_collect_full(m);
	f.key = f.value = NULL;
	starved = true;
	gc_collect_full(m);
	starved = false;
	good = !gc_finalizer_next(m);
	gc_collect_full(m);
	held = gc_finalizer_next(m);
	good &= held && !gc_ephemeron_key(m, held->field[0]) && !gc_weak_get(m, held->field[1]);
	ok(good,
	   "%s: an object that does not fit into the finalization queue waits, and keeps no weak "
	   "referents",
	   plan);
	GC_POP(m, f);
	stop();
}

/*
 * A value leads to the keys that others wait for and to many more ephemerons: the index grows while
 * keys that were reached, and may have moved, are yet to be looked up.
 */
static void grown_index(const char *plan)
{
	uint64_t lost = 0;
	char options[160];
	struct frame f;

	snprintf(options, sizeof(options), "plan=%s,heap=8M" CHECKS, plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	/* [0, CHAIN): keys. Then ephemerons: those of the first half of the keys are found first. */
	f.fresh = (struct object *)gc_alloc_array(m, array, 2 * CHAIN);
	f.all = gc_alloc_array(m, array, CHAIN);
	for (uint32_t i = 0; i < CHAIN; i++) {
		f.key = gc_alloc(m, node);
		f.key->id = i;
		f.value = gc_alloc(m, node);
		f.value->id = i;
		gc_write(m, f.fresh, &((struct array *)f.fresh)->item[i], f.key);
		f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
		gc_write(m, f.fresh, &((struct array *)f.fresh)->item[CHAIN + i], f.ephemeron);
		if (i < CHAIN / 20)
			gc_write(m, f.all, &f.all->item[i], f.ephemeron);
	}
	f.key = gc_alloc(m, node);
	f.value = f.fresh;
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
	f.fresh = f.value = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	f.fresh = gc_ephemeron_value(m, f.ephemeron);
	for (uint32_t i = 0; f.fresh && i < CHAIN; i++) {
		void *e = ((struct array *)f.fresh)->item[CHAIN + i];
		struct object *key = gc_ephemeron_key(m, e), *value = gc_ephemeron_value(m, e);

		lost += !key || key->id != i || !value || value->id != i;
	}
	if (!ok(f.fresh && !lost, "%s: keys are found while the index of them grows", plan))
		printf("# %llu lost\n", (unsigned long long)lost);
	GC_POP(m, f);
	stop();
}

/* There is no memory to note the keys that are reached: a chain is whole even so. */
static void no_keys(const char *plan)
{
	char options[160];
	struct frame f;
	uint64_t lost = 0;

	snprintf(options, sizeof(options), "plan=%s,trim=0,heap=8M,max=64M,poison=1", plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, 2 * CHAIN);
	f.value = gc_alloc(m, node);
	/* The last key first: each key is met before it is reached. */
	for (uint32_t i = 0; i < CHAIN; i++) {
		f.key = gc_alloc(m, node);
		f.key->id = i;
		f.fresh = gc_alloc(m, node);
		gc_write(m, f.fresh, &f.fresh->field[0], f.value);
		f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.fresh);
		gc_write(m, f.all, &f.all->item[i], f.ephemeron);
		gc_write(m, f.all, &f.all->item[CHAIN + i], f.key);
		f.value = f.key;
	}
	f.value = f.fresh = NULL;
	f.ephemeron = NULL;
	/* From here on there is memory to note ephemerons, but not one for a key was needed. */
	gc_collect_full(m);
	for (uint32_t i = 0; i < CHAIN; i++)
		gc_write(m, f.all, &f.all->item[CHAIN + i], NULL);
	starved = true;
	gc_collect_full(m);
	starved = false;
	gc_collect_full(m);
	for (uint32_t i = 0; i < CHAIN; i++) {
		struct object *key = gc_ephemeron_key(m, f.all->item[i]);

		lost += !key || key->id != i;
	}
	if (!ok(!lost, "%s: keys that cannot be noted when they are reached are found", plan))
		printf("# %llu lost\n", (unsigned long long)lost);
	GC_POP(m, f);
	stop();
}

/*
 * More of them than there is memory to note, or to wait for: they hold what they refer to, for a
 * time.
 */
static void no_notes(const char *plan, bool *lacks)
{
	uint64_t lost = 0, left = 0;
	char options[160];
	struct frame f;

	snprintf(options, sizeof(options), "plan=%s,trim=0,heap=8M,max=64M,poison=1", plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.all = gc_alloc_array(m, array, CHAIN);
	for (uint32_t i = 0; i < CHAIN; i++) {
		f.key = gc_alloc(m, node);
		f.value = gc_alloc(m, node);
		f.value->id = i;
		f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.value);
		gc_write(m, f.all, &f.all->item[i], f.ephemeron);
	}
	f.key = f.value = NULL;
	f.ephemeron = NULL;
	*lacks = true;
	gc_collect_full(m);
	*lacks = false;
	for (uint32_t i = 0; i < CHAIN; i++) {
		struct object *v = gc_ephemeron_value(m, f.all->item[i]);

		lost += !v || v->id != i;
	}
	gc_collect_full(m);
	for (uint32_t i = 0; i < CHAIN; i++)
		left += gc_ephemeron_key(m, f.all->item[i]) != NULL;
	if (!ok(!lost && !left, "%s: ephemerons that cannot be %s keep their keys", plan,
		lacks == &starved ? "noted" : "indexed"))
		printf("# %llu lost, %llu left\n", (unsigned long long)lost,
		       (unsigned long long)left);
	GC_POP(m, f);
	stop();
}

/* In a full heap there is none more. */
static void full(const char *plan)
{
	void **chunk, *last = NULL;
	char options[160];
	struct frame f;
	uint32_t n = 0;

	snprintf(options, sizeof(options), "plan=%s,trim=0,heap=2M,max=2M", plan);
	if (!start(options))
		return;
	GC_PUSH(m, f);
	f.key = gc_alloc(m, node);
	for (f.ephemeron = f.key; f.ephemeron; n++) {
		f.fresh = gc_alloc(m, node);
		if (!f.fresh)
			break;
		gc_write(m, f.fresh, &f.fresh->field[0], f.value);
		gc_write(m, f.fresh, &f.fresh->field[1], last = f.ephemeron);
		f.value = f.fresh;
		f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.key);
	}
	chunk = (void **)f.value;
	ok(n > 1000 && chunk && last && gc_refused(m) != GC_REFUSED_NOT,
	   "%s: after %u a full heap refuses another one", plan, n);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	static const char *const plans[] = {
		"cms",	 "cmsfly",    "gencms",	   "gss",	  "gss,promote=naive,p=0.3",
		"immix", "marksweep", "semispace", "stickyimmix", "immix,defrag=always",
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		for (enum order o = ALONG; o < ORDERS; o++)
			chain(plans[i], CHAIN, o);
		cycles(plans[i]);
		finalized(plans[i]);
		no_queue(plans[i]);
		no_notes(plans[i], &starved);
		no_notes(plans[i], &index_starved);
		no_keys(plans[i]);
		grown_index(plans[i]);
		full(plans[i]);
	}
	two_passes();
	younger("plan=gencms,heap=1M,minfree=64K,maxfree=256K" CHECKS);
	younger("plan=gss,nursery=512K" CHECKS);
	younger("plan=gss,nursery=512K,promote=never" CHECKS);
	younger("plan=stickyimmix,heap=1M,minfree=256K,maxfree=512K" CHECKS);
	return done();
}
