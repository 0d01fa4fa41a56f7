// SPDX-License-Identifier: MIT
/* Creates and destroys heaps; holds the list of plans; reports options and statistics. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../cycle/adapt.h"
#include "../cycle/collect.h"
#include "../cycle/sizing.h"
#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../space/pages.h"
#include "../thread/help.h"
#include "../thread/threads.h"
#include "../trace/hash.h"
#include "../trace/mark.h"
#include "../trace/profiler.h"
#include "fork.h"

#define PLAN(id) extern const struct gc_plan gc_plan_##id;
#include "../plan/plans.def"
#undef PLAN

static const struct gc_plan *const plans[] = {
#define PLAN(id) &gc_plan_##id,
#include "../plan/plans.def"
#undef PLAN
};

#define PLAN_COUNT (sizeof(plans) / sizeof(plans[0]))

static const struct gc_plan *plan_find(const char *name)
{
	for (size_t i = 0; i < PLAN_COUNT; i++)
		if (!strcmp(plans[i]->name, name))
			return plans[i];
	return NULL;
}

/* The reason why stopped mutators cannot share the work, or NULL. */
static const char *help_obstacle(const struct gc_options *opt)
{
	if (opt->overflow != GC_OVERFLOW_GROW && opt->overflow != GC_OVERFLOW_RESERVE)
		return "there is only one mark stack of fixed size; overflow=grow has one per "
		       "thread";
	if (opt->trace == GC_TRACE_FINGER)
		return "trace=finger marks with a single thread";
	return NULL;
}

static int plan_check(const struct gc_plan *plan, struct gc_options *opt, struct gc_error *err)
{
	if (!plan->concurrent) {
		if (opt->policy == GC_POLICY_BG || opt->policy == GC_POLICY_ADAPTIVE)
			return gc_fail(
				err, -EINVAL,
				"policy: bg and adaptive need a concurrent plan; give plan=cms");
		/* No second pause to bound. As other options of other plans, it may be given. */
		opt->remark_limit = 0;
	}
	if (opt->trace == GC_TRACE_FINGER && !plan->finger)
		return gc_fail(
			err, -EINVAL,
			"trace=finger: plan=%s never marks in address order; give trace=stack",
			plan->name);
	if (opt->stack == GC_STACK_CONSERVATIVE && !plan->pins)
		return gc_fail(err, -EOPNOTSUPP,
			       "stack=conservative: plan=%s moves every object; give plan=immix",
			       plan->name);
	if (opt->profiler && !plan->in_place)
		return gc_fail(err, -EINVAL,
			       "profiler: plan=%s cannot distinguish cohorts; give plan=cms",
			       plan->name);
	if (opt->help) {
		const char *why = help_obstacle(opt);

		if (why && gc_options_given(opt, "help"))
			return gc_fail(err, -EINVAL, "help: %s; give 0", why);
		opt->help = !why;
	}
	return plan->check ? plan->check(opt, err) : 0;
}

static void *memory_map(size_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * The tables in one mapping: cards, mark, live, survivors. The card table's bias ends
 * in GC_CARD_DIRTY so that a JIT can store the base register's low byte as the mark.
 */
static int map_tables(struct gc_heap *heap)
{
	size_t span = heap->end - heap->base, cards = span >> GC_CARD_SHIFT;
	size_t bits = gc_align(span / 64, GC_PAGE);
	uintptr_t bias, shift;
	uint8_t *p;

	heap->side_size = gc_align(cards + 256, GC_PAGE) + 3 * bits;
	heap->side = p = memory_map(heap->side_size, PROT_READ | PROT_WRITE);
	if (!p)
		return -ENOMEM;
	bias = (uintptr_t)p - (heap->base >> GC_CARD_SHIFT);
	shift = (GC_CARD_DIRTY - bias) & 0xff;
	heap->cards = (uint8_t *)(bias + shift);
	p += gc_align(cards + 256, GC_PAGE);
	heap->mark = (uint64_t *)p - (heap->base >> GC_WORD_SHIFT);
	p += bits;
	heap->live = (uint64_t *)p - (heap->base >> GC_WORD_SHIFT);
	p += bits;
	heap->survivor = (uint64_t *)p - (heap->base >> GC_WORD_SHIFT);
	return 0;
}

static int map_space(struct gc_heap *heap)
{
	/* A quarter more than max, so that fragmentation does not exhaust the address space. */
	size_t pages =
		gc_align((size_t)heap->opt.max + (size_t)heap->opt.max / 4 + GC_PAGE, 1 << 20);
	size_t bump = heap->plan->space ? heap->plan->space(&heap->opt) : 0;
	void *p = memory_map(pages + bump, PROT_READ | PROT_WRITE);

	if (!p)
		return -ENOMEM;
	/* A request: kernels may be built without huge pages, and have them off. */
	if (heap->opt.hugepages)
		madvise(p, pages + bump, MADV_HUGEPAGE);
	heap->base = (uintptr_t)p;
	heap->pages_end = heap->base + pages;
	heap->end = heap->pages_end + bump;
	return gc_pages_init(heap, heap->base, pages);
}

static void init_locks(struct gc_heap *heap)
{
	pthread_mutex_init(&heap->space_lock, NULL);
	pthread_mutex_init(&heap->roots.lock, NULL);
	pthread_mutex_init(&heap->mutators.lock, NULL);
	pthread_mutex_init(&heap->gc.lock, NULL);
	gc_cycle_init(heap);
}

static void free_heap(struct gc_heap *heap)
{
	/* GC workers are waited for. */
	int state = gc_cancel_defer();

	if (heap->plan->fini)
		heap->plan->fini(heap);
	gc_profiler_fini(heap);
	gc_adapt_fini(heap);
	gc_help_fini(heap);
	gc_hash_fini(heap);
	gc_mark_stack_fini(&heap->stack);
	gc_pages_fini(heap);
	if (heap->base)
		munmap((void *)heap->base, heap->end - heap->base);
	if (heap->side)
		munmap(heap->side, heap->side_size);
	if (heap->roots.types) {
		for (uint32_t i = 0; i < heap->roots.type_count; i++)
			free(heap->roots.types[i].name);
		munmap(heap->roots.types, GC_MAX_TYPES * sizeof(struct gc_info));
	}
	while (heap->roots.arrays) {
		struct gc_root_array *a = heap->roots.arrays;

		heap->roots.arrays = a->next;
		free(a);
	}
	while (heap->roots.ranges) {
		struct gc_word_range *r = heap->roots.ranges;

		heap->roots.ranges = r->next;
		free(r);
	}
	free(heap->roots.pinned);
	free(heap->roots.noted.items);
	free(heap->roots.added);
	free(heap->weak.weaks.items);
	free(heap->weak.ephemerons.items);
	free(heap->weak.keys.items);
	for (int i = 0; i < GC_FINALIZER_ORDERS; i++)
		free(heap->weak.finalizable[i].objects.items);
	free(heap->weak.finalized.items);
	free(heap->opt_text);
	pthread_mutex_destroy(&heap->space_lock);
	pthread_mutex_destroy(&heap->roots.lock);
	pthread_mutex_destroy(&heap->mutators.lock);
	pthread_mutex_destroy(&heap->gc.lock);
	pthread_cond_destroy(&heap->gc.done);
	pthread_cond_destroy(&heap->gc.order);
	free(heap);
	gc_cancel_allow(state);
}

int gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
		   struct gc_error *err)
{
	static const struct gc_type_desc weak = {
		.name = "weak reference",
		.size = sizeof(struct gc_header) + sizeof(void *),
		.weak = true,
	};
	static const struct gc_type_desc ephemeron = {
		.name = "ephemeron",
		.size = sizeof(struct gc_header) + 2 * sizeof(void *),
		.ephemeron = true,
	};
	struct gc_options opt;
	struct gc_heap *heap;
	int ret = gc_options_parse(&opt, options, err);

	if (!ret)
		ret = plan_check(plan_find(opt.plan), &opt, err);
	if (ret)
		return ret;
	heap = aligned_alloc(64, sizeof(*heap));
	if (!heap)
		return gc_fail(err, -ENOMEM, "no memory for the heap's own state");
	memset(heap, 0, sizeof(*heap));
	init_locks(heap);
	heap->opt = opt;
	heap->plan = plan_find(opt.plan);
	heap->listener = listener;
	heap->rng = (uint64_t)opt.seed;
	heap->finger = UINTPTR_MAX;
	heap->marker.heap = heap;
	heap->marker.stack = &heap->stack;
	heap->budget.rate.since.now = gc_now();
	ret = gc_fail(err, -ENOMEM, "no address space for max=%lld; lower max", (long long)opt.max);
	heap->opt_text = gc_options_text(&opt);
	heap->roots.types =
		memory_map(GC_MAX_TYPES * sizeof(struct gc_info), PROT_READ | PROT_WRITE);
	if (!heap->opt_text || !heap->roots.types || map_space(heap) || map_tables(heap) ||
	    gc_mark_stack_init(&heap->stack, (size_t)opt.markstack, (int)opt.overflow,
			       heap->end - heap->base) ||
	    gc_help_init(heap))
		goto free_all;
	heap->roots.type_count = 1; /* type 0 stays unused: a header word of 0 is no object */
	heap->weak.weak_type = gc_type_register(heap, &weak, err);
	heap->weak.ephemeron_type = gc_type_register(heap, &ephemeron, err);
	ret = heap->plan->init(heap, err);
	if (ret)
		goto free_all;
	ret = gc_fail(err, -ENOMEM, "no memory for profiler= or policy=adaptive");
	if ((opt.profiler && gc_profiler_init(heap)) ||
	    (opt.policy == GC_POLICY_ADAPTIVE && gc_adapt_init(heap)))
		goto free_all;
	gc_sizing_init(heap);
	heap->budget.stress_next = (uint64_t)opt.stress;
	heap->budget.profile_next = (uint64_t)opt.profiler;
	gc_mark_order_init(heap);
	ret = gc_fork_add(heap);
	if (ret) {
		gc_fail(err, ret, "no memory to handle fork()");
		goto free_all;
	}
	ret = gc_daemon_start(heap, err);
	if (ret) {
		gc_fork_remove(heap);
		goto free_all;
	}
	if (err)
		memset(err, 0, sizeof(*err));
	*out = heap;
	return 0;

free_all:
	free_heap(heap);
	return ret;
}

int gc_heap_destroy(struct gc_heap *heap)
{
	int state;

	if (heap->mutators.count)
		return -EBUSY;
	state = gc_cancel_defer();
	gc_fork_remove(heap);
	gc_daemon_stop(heap);
	free_heap(heap);
	gc_cancel_allow(state);
	return 0;
}

const char *gc_heap_options(const struct gc_heap *heap)
{
	return heap->opt_text;
}

void gc_frequency_source(struct gc_heap *heap,
			 int (*fn)(uint32_t *effective_khz, uint32_t *highest_khz, void *arg),
			 void *arg)
{
	heap->sizing.frequency_arg = arg;
	heap->sizing.frequency = fn;
}

void gc_heap_stats(const struct gc_heap *heap, struct gc_heap_stats *out)
{
	/* The counters change concurrently; each word is read atomically. */
	const uint64_t *from = (const uint64_t *)&heap->stats;
	uint64_t *to = (uint64_t *)out;
	struct gc_heap *h = (struct gc_heap *)(uintptr_t)heap;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = gc_load(&from[i]);
	out->allocated_bytes = gc_load(&heap->budget.granted);
	out->live_bytes = gc_load(&heap->budget.live_bytes);
	out->live_objects = gc_load(&heap->budget.live_objects);
	out->heap_bytes = gc_load(&heap->budget.in_use);
	out->external_bytes = gc_load(&heap->budget.external);
	out->soft_limit = gc_load(&heap->budget.soft_limit);
	out->concurrent_start = gc_load(&heap->budget.concurrent_start);
	gc_space_lock(h);
	out->footprint_bytes = heap->plan->footprint(h);
	gc_space_unlock(h);
	/* cards 1/128, two bitmaps of 1/64 */
	out->side_bytes = out->footprint_bytes / 128 + out->footprint_bytes / 32;
	out->mark_stack_bytes =
		__atomic_load_n(&heap->stack.mapped, __ATOMIC_RELAXED) + gc_help_stack_bytes(heap);
	if (out->footprint_bytes > out->peak_footprint_bytes)
		out->peak_footprint_bytes = out->footprint_bytes;
}
