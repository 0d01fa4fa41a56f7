/* SPDX-License-Identifier: MIT */
/* Code that the copying plans share, in addition to copying itself (trace/evacuate.h). */
#ifndef GC_COPYING_H
#define GC_COPYING_H

#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../space/large.h"
#include "../thread/safepoint.h"
#include "../trace/evacuate.h"
#include "../trace/mark.h"
#include "../trace/verify.h"
#include "../trace/weak.h"
#include "../trace/workers.h"

/**
 * struct gc_copying - how a plan's references are followed
 * @visit: visitor of a reference, whose argument is the copier; for a single thread
 * @roots: visits the plan's own roots, in addition to the program's; may be NULL
 * @drain, @drain_shared: copy until all stacks are empty, for a single thread and for several
 * @scan: scans an object
 * @old: bitmap that includes all objects in the pages that were reached in this cycle
 * @alive: for weak references
 */
struct gc_copying {
	gc_visit_fn visit;
	void (*roots)(struct gc_heap *heap);
	void (*drain)(struct gc_copier *c);
	void (*drain_shared)(struct gc_copier *c);
	void (*scan)(struct gc_copier *c, void *obj, bool shared);
	const uint64_t *(*old)(struct gc_heap *heap);
	gc_alive_fn alive;
};

/* Stop the world and take back all runs. */
void gc_copying_stop(struct gc_heap *heap);
/*
 * Open to-space and copy all that is reachable; @total: bytes in use, for progress. Returns the
 * bytes in to-space; the first copier holds the sums of all.
 */
uint64_t gc_copying_trace(struct gc_heap *heap, const struct gc_copying *how, uint64_t total);

size_t gc_copying_footprint(const struct gc_heap *heap);
size_t gc_copying_release(struct gc_heap *heap);
uint64_t gc_copying_room(const struct gc_heap *heap, uint64_t want, bool most);

#define GC_COPYING                                                                                 \
	.bump = true, .reserve = true, .flush = gc_bump_flush, .index = gc_bump_index,             \
	.room = gc_copying_room, .footprint = gc_copying_footprint, .release = gc_copying_release

/*
 * After a collection: as blocks and large objects grow, release memory of the bump spaces that
 * max= no longer allows them to use.
 */
void gc_copying_keep_in_max(struct gc_heap *heap);

/* Refuses overflow=card*: copying plans recover from a stack overflow by a scan of all objects. */
int gc_copying_check(struct gc_options *opt, struct gc_error *err);

#endif
