/* SPDX-License-Identifier: MIT */
/* What the copying plans share beside the copying itself (mech/copy.h). */
#ifndef GC_COPYING_H
#define GC_COPYING_H

#include "../mech/copy.h"
#include "../mech/mark.h"
#include "../mech/plan.h"
#include "../space/large.h"

/**
 * struct gc_copying - how a plan's references are followed
 * @visit: a reference, for the copier that is its argument; alone
 * @roots: further roots than the program's, or NULL
 * @drain, @drain_shared: until nothing is grey, alone and as one of several
 * @alive: for weak references
 */
struct gc_copying {
	gc_visit_fn visit;
	void (*roots)(struct gc_heap *heap);
	void (*drain)(struct gc_heap *heap);
	void (*drain_shared)(struct gc_copier *c);
	gc_alive_fn alive;
};

/* The world stops and all runs go back. */
void gc_copying_stop(struct gc_heap *heap);
/*
 * To-space opens and all that is reachable goes there; @total: bytes that there are. Bytes
 * in to-space; the sums of all copiers are in the first one's.
 */
uint64_t gc_copying_trace(struct gc_heap *heap, const struct gc_copying *how, uint64_t total);

size_t gc_copying_footprint(struct gc_heap *heap);
size_t gc_copying_release(struct gc_heap *heap);

#define GC_COPYING                                                                                 \
	.bump = true, .reserve = true, .flush = gc_bump_flush, .index = gc_bump_index,             \
	.footprint = gc_copying_footprint, .release = gc_copying_release

/*
 * After a collection: as blocks and large objects grow, the bump spaces give up what they
 * will not reach again.
 */
void gc_copying_keep_in_max(struct gc_heap *heap);

/* A refusal: the copying plans have no recovery pass, their mark stack must grow. */
int gc_copying_check(struct gc_options *opt, struct gc_error *err);

#endif
