// SPDX-License-Identifier: MIT
#include "limit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../space/pages.h"
#include "../thread/threads.h"
#include "cgroup.h"

/* The rest is for the tables of the heap, and for what the process has outside of it. */
#define SHARE(limit) ((limit) / 4 * 3)
/* The least that max= may be, too */
#define LEAST (64u << 10)
/* Between two readings, this part of the limit is allocated; but for collections of the whole heap */
#define READ_EACH 64

struct gc_limit {
	struct gc_cgroups groups;
	uint64_t read_at; /* value of granted */
	bool lowered; /* below what the heap holds */
};

void gc_limit_options(struct gc_options *opt)
{
	int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = pages * sysconf(_SC_PAGESIZE);

	/* Address space is scarce on 32-bit hosts. */
	if (opt->limit != GC_LIMIT_CGROUP || gc_options_given(opt, "max") ||
	    opt->sizing == GC_SIZING_FIXED || sizeof(void *) < 8)
		return;
	if (pages > 0 && bytes > opt->max)
		opt->max = bytes;
}

/* What the heap may hold now; if that cannot be read, *@most stays. */
static int limit_read(const struct gc_heap *heap, uint64_t *most)
{
	uint64_t limit, max = (uint64_t)heap->opt.max;
	int ret = gc_cgroups_limit(&heap->sizing.limit->groups, &limit);

	if (ret)
		return ret;
	limit = limit == GC_CGROUP_UNLIMITED ? limit : SHARE(limit);
	if (limit < LEAST)
		limit = LEAST;
	*most = limit < max ? limit : max;
	return 0;
}

int gc_limit_init(struct gc_heap *heap)
{
	struct gc_limit *l;
	int state, ret;

	heap->budget.most = (uint64_t)heap->opt.max;
	if (heap->opt.limit != GC_LIMIT_CGROUP)
		return 0;
	l = heap->sizing.limit = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	/* Files are read, and are not to be left open. */
	state = gc_cancel_defer();
	ret = gc_cgroups_init(&l->groups);
	if (!ret)
		ret = limit_read(heap, &heap->budget.most);
	gc_cancel_allow(state);
	return ret;
}

void gc_limit_fini(struct gc_heap *heap)
{
	if (heap->sizing.limit)
		gc_cgroups_fini(&heap->sizing.limit->groups);
	free(heap->sizing.limit);
	heap->sizing.limit = NULL;
}

void gc_limit_begin(struct gc_heap *heap)
{
	struct gc_limit *l = heap->sizing.limit;
	uint64_t granted = gc_load(&heap->budget.granted), held;
	uint64_t before = gc_load(&heap->budget.most), most = before;
	struct gc_cycle *c = &heap->cycle;

	if (!l || (!c->full && c->cause != GC_CAUSE_EXPLICIT && granted >= l->read_at &&
		   granted - l->read_at < before / READ_EACH))
		return;
	l->read_at = granted;
	limit_read(heap, &most);
	if (most == before)
		return;
	gc_space_lock(heap);
	__atomic_store_n(&heap->budget.most, most, __ATOMIC_RELAXED);
	heap->pages->most = (uint32_t)(most >> GC_PAGE_SHIFT);
	held = heap->plan->footprint(heap);
	gc_space_unlock(heap);
	l->lowered = held > most;
	c->full |= l->lowered;
}

void gc_limit_end(struct gc_heap *heap)
{
	struct gc_limit *l = heap->sizing.limit;

	if (!l || !l->lowered)
		return;
	l->lowered = false;
	/* Blocks that are not swept yet may be empty. */
	while (heap->plan->sweep && heap->plan->sweep(heap))
		;
	gc_space_lock(heap);
	heap->plan->release(heap);
	gc_space_unlock(heap);
}
