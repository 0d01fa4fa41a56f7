// SPDX-License-Identifier: MIT
/*
 * Description: stopped mutators help to mark and to copy: the result is the same set as without
 * help, while threads attach, detach or find nothing to do.
 */
#define _GNU_SOURCE
#include "company.h"

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
		"%s with %d others: the same set of objects", options, company))
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
	ok(collect_until(1, 0), "with one object, helpers find nothing to do and all end");
	s = stats();
	ok(s.live_objects == 1, "one object is marked");
	string(200000);
	ok(collect_until(1, 0), "a list cannot be shared");
	ok(stats().live_objects == 200001, "the whole list is marked");
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
	ok(collect_until(20, 1), "%s: threads that attach, park and detach", options);
	ok(stats().live_objects == 20000, "%s: no object is lost by that", options);
	close_heap();
}

/* Who waits for a concurrent cycle marks with it, while another writes. */
static void beside(const char *plan)
{
	char options[96];
	bool helped;

	snprintf(options, sizeof(options), "plan=%s,workers=3,pace=0,verify=all", plan);
	if (!open_heap(options, NULL))
		return;
	plant(60000);
	gc_park(m);
	join_company(COLLECTING_TOO);
	join_company(COLLECTING_TOO);
	join_company(WRITING);
	gc_unpark(m);
	helped = collect_until(3, 1000);
	ok(helped, "%s: a mutator that waits for a concurrent cycle helps it", options);
	part_company();
	gc_collect_full(m);
	gc_collect_full(m);
	ok(!lost, "%s: objects that were stored meanwhile are kept", options);
	ok(stats().live_objects == 60000, "%s: all other objects are kept", options);
	close_heap();
	snprintf(options, sizeof(options), "plan=%s,workers=3,pace=0,help=0", plan);
	if (!open_heap(options, NULL))
		return;
	plant(60000);
	gc_park(m);
	join_company(COLLECTING_TOO);
	gc_unpark(m);
	for (int i = 0; i < 20; i++)
		gc_collect_full(m);
	ok(!stats().helps, "%s: no mutator helps", options);
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
	ok(helped, "%s: helpers found weak references", options);
	ok(kept == many / 2 && cleared == many / 2,
	   "%s: weak references to dead objects are cleared", options);
	ok(fetched == many / 2000, "%s: dead objects are finalized: %u", options, fetched);
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
	ok(stats().live_objects == many + 1, "%s: each part is marked once", options);
	close_heap();
}

/* Many end on a line that is otherwise that of a neighbour that dies. */
#define WIDE 20 /* words: 5 lines for 8 objects */

struct wide {
	struct gc_header header;
	struct wide *next;
	long word[WIDE - 2];
};

static void straddling(const char *plan)
{
	struct gc_type_desc d = { .name = "wide", .size = sizeof(struct wide), .refs = 2 };
	const uint32_t many = 20000;
	const struct gc_type *type;
	char options[96];
	uint32_t bad = 0;

	snprintf(options, sizeof(options), "plan=%s,workers=3,heap=32M", plan);
	if (!open_heap(options, NULL))
		return;
	type = gc_type_register(heap, &d, NULL);
	f.array = gc_alloc_array(m, array_type, many);
	for (uint32_t i = 0; i < many; i++) {
		struct wide *w = gc_alloc(m, type);

		w->word[WIDE - 3] = i;
		gc_write(m, f.array, &f.array->item[i], w);
		if (i && i % 2)
			gc_write(m, f.array, &f.array->item[i - 1], NULL);
	}
	join_company(AT_SAFEPOINTS);
	join_company(AT_SAFEPOINTS);
	ok(collect_until(1, 0), "%s: helpers mark objects that straddle lines", options);
	/* What is taken for free is written over. */
	for (uint32_t i = 0; i < many / 2; i++) {
		struct wide *w = gc_alloc(m, type);

		memset(w->word, 0x5a, sizeof(w->word));
	}
	for (uint32_t i = 1; i < many; i += 2) {
		const struct wide *w = f.array->item[i];

		bad += w->word[WIDE - 3] != i;
	}
	ok(!bad, "%s: %u of them lost their second line", options, bad);
	close_heap();
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
	straddling("immix,defrag=never");
	straddling("stickyimmix,defrag=never");
	nothing_to_do();
	beside("cms");
	beside("cmsfly");
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		crowd(plans[i]);
		weak(plans[i]);
		if (i < IN_PLACE)
			long_array(plans[i]);
	}
	return done();
}
