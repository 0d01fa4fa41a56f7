/* SPDX-License-Identifier: MIT */
/* The interface of a plan. A plan is one file and one line in plan/plans.def. */
#ifndef GC_PLAN_H
#define GC_PLAN_H

#include <gchint/gc.h>
#include <stddef.h>

struct gc_thread;
struct gc_options;

/* Effect of a minor collection on the soft limit */
enum gc_minor {
	GC_MINOR_RULE, /* the sizing rule applies, as after a major */
	GC_MINOR_KEEP, /* it stays */
	GC_MINOR_ROOM, /* live bytes plus the room that the last major left */
};

/**
 * struct gc_plan - which spaces, which phases, in what order
 * @name: as in plan=
 * @summary: one line
 * @concurrent: has cycles that run concurrently with mutators, so it needs the daemon
 * @ragged: stacks are scanned on the fly, each thread stopping for its own alone
 * @finger: marks in address order where trace=finger asks for it
 * @generational: keeps the card table as a remembered set between cycles
 * @bump: one run serves every small size
 * @in_place: objects in blocks never move, so a bitmap identifies them
 * @pins: every object can stay where it is in a collection: gc_object_pin(), stack=conservative
 * @minor: effect of a minor collection on the soft limit
 * @reserve: copying needs as much room again as what it copies
 * @check: refuse options that make no sense with this plan; may adjust
 * @space: bytes of bump space to reserve behind the pages
 * @init, @fini: make and free spaces
 * @alloc: zeroed memory for an object of @bytes (a multiple of 8), or 0 when the limit or the
 *	   space is exhausted; @force ignores the limit. Refills the thread's runs.
 * @flush: world stopped: take back the thread's runs
 * @collect: the whole cycle; heap->cycle is set; leaves heap->cycle.live_bytes
 * @index: world stopped: prepares what @valid needs to be exact; may be NULL
 * @valid: world stopped, runs flushed: is @addr the start of an object
 * @kept: right after a collection: did it keep the object at @addr; NULL: @valid is enough
 * @sweep: sweep a part of what the last collection left unswept; returns bytes, 0 when all is
 *	   swept; NULL: collections leave nothing unswept
 * @room: of @want bytes, how many the space has until the next collection; with @most, how many
 *	  max= allows; NULL: only the limit bounds it
 * @footprint: bytes of pages held
 * @release: return free pages to the system; bytes returned
 */
struct gc_plan {
	const char *name, *summary;
	bool concurrent, ragged, finger, generational, bump, reserve, in_place, pins;
	enum gc_minor minor;
	int (*check)(struct gc_options *opt, struct gc_error *err);
	size_t (*space)(const struct gc_options *opt);
	int (*init)(struct gc_heap *heap, struct gc_error *err);
	void (*fini)(struct gc_heap *heap);
	uintptr_t (*alloc)(struct gc_thread *t, size_t bytes, bool force);
	void (*flush)(struct gc_thread *t);
	void (*collect)(struct gc_heap *heap);
	void (*index)(struct gc_heap *heap);
	bool (*valid)(struct gc_heap *heap, uintptr_t addr);
	bool (*kept)(struct gc_heap *heap, uintptr_t addr);
	uint64_t (*room)(const struct gc_heap *heap, uint64_t want, bool most);
	size_t (*sweep)(struct gc_heap *heap);
	size_t (*footprint)(const struct gc_heap *heap);
	size_t (*release)(struct gc_heap *heap);
};

#endif
