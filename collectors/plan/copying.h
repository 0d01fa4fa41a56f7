/* SPDX-License-Identifier: MIT */
/* What the copying plans share beside the copying itself (mech/copy.h). */
#ifndef GC_COPYING_H
#define GC_COPYING_H

#include "../mech/copy.h"
#include "../mech/mark.h"
#include "../mech/phase.h"
#include "../mech/plan.h"
#include "../mech/safepoint.h"
#include "../mech/verify.h"
#include "../mech/weak.h"
#include "../space/large.h"

/**
 * struct gc_copying - how a plan's references are followed
 * @visit: a reference, for the copier that is its argument; alone
 * @roots: further roots than the program's, or NULL
 * @drain, @drain_shared: until no stack holds anything, alone and as one of several
 * @drain_all: gc_copying_drain() with this
 * @scan: one object, alone
 * @old: bits of the objects in the pages that were reached in this cycle, or more
 * @alive: for weak references
 */
struct gc_copying {
	gc_visit_fn visit;
	void (*roots)(struct gc_heap *heap);
	void (*drain)(struct gc_heap *heap);
	void (*drain_shared)(struct gc_copier *c);
	void (*drain_all)(struct gc_heap *heap);
	void (*scan)(struct gc_copier *c, void *obj);
	const uint64_t *(*old)(struct gc_heap *heap);
	gc_alive_fn alive;
};

/* The world stops and all runs go back. */
void gc_copying_stop(struct gc_heap *heap);
/*
 * To-space opens and all that is reachable goes there; @total: bytes that there are. Bytes
 * in to-space; the sums of all copiers are in the first one's.
 */
uint64_t gc_copying_trace(struct gc_heap *heap, const struct gc_copying *how, uint64_t total);

/* Until nothing is grey: what found no room on the stack is recovered. */
void gc_copying_drain(struct gc_heap *heap, const struct gc_copying *how);

size_t gc_copying_footprint(const struct gc_heap *heap);
size_t gc_copying_release(struct gc_heap *heap);
uint64_t gc_copying_room(const struct gc_heap *heap, uint64_t want, bool most);

#define GC_COPYING                                                                                 \
	.bump = true, .reserve = true, .flush = gc_bump_flush, .index = gc_bump_index,             \
	.room = gc_copying_room, .footprint = gc_copying_footprint, .release = gc_copying_release

/*
 * After a collection: as blocks and large objects grow, the bump spaces give up what they
 * will not reach again.
 */
void gc_copying_keep_in_max(struct gc_heap *heap);

/* A refusal: what finds no room on a mark stack is recovered by scanning all, not by cards. */
int gc_copying_check(struct gc_options *opt, struct gc_error *err);

#endif
