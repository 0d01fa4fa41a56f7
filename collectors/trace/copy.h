/* SPDX-License-Identifier: MIT */
/*
 * Copying all that is reachable out of from-space, while the world is stopped: the threads that
 * copy, their pieces of to-space, and what they share. How a reference is followed and an object
 * evacuated is in trace/evacuate.h, which each plan compiles with its own hooks.
 */
#ifndef GC_COPY_H
#define GC_COPY_H

#include "../space/bump.h"
#include "../thread/help.h"
#include "trace.h"
#include "weak.h"

/**
 * struct gc_copier - a thread that copies
 * @helper: its place among the helpers; NULL: it copies alone
 * @stack: copied objects that are not scanned yet; the first copier uses the heap's stack
 * @at, @limit: its piece of to-space
 * @from, @into, @span: both spaces, for the two range checks of each reference
 * @granules: of @span
 * @aged: objects in from-space below it were there at the last collection
 * @rng: for promotion; the first copier uses the heap's, so that a run with one thread repeats
 * @left: objects until work is offered to helpers and progress reported
 * @mixed: words may be no references
 * @young: the object being scanned refers to to-space
 * @objects, @bytes: copied or marked; @bytes only of what is not copied
 * @own: its runs in blocks, to promote into
 * @old_bytes: bytes in blocks that it promoted or marked
 * @promoted_bytes, @promoted: bytes and objects that it promoted
 */
struct gc_copier {
	struct gc_heap *heap;
	struct gc_helper *helper;
	struct gc_mark_stack *stack;
	uintptr_t at, limit;
	uintptr_t from, into;
	size_t span, granules;
	uintptr_t aged;
	uint64_t *rng;
	unsigned int left;
	bool young, first, mixed;
	uint64_t objects, bytes;
	uint64_t old_bytes, promoted_bytes, promoted;
	struct gc_thread own;
	uint64_t own_rng;
};

/* World stopped, after gc_bump_open(): reset all copiers. */
void gc_copy_begin(struct gc_heap *heap);
/* The collecting thread's copier */
struct gc_copier *gc_copy_first(struct gc_heap *heap);
/*
 * Run @drain on this thread and on the helpers that join in time, until no object is grey.
 * False, with nothing done, if there are no helpers.
 */
bool gc_copy_share(struct gc_heap *heap, void (*drain)(struct gc_copier *c));
/*
 * For the collecting thread alone, with an empty stack. If a stack dropped objects, scan all copied
 * objects and all objects in the pages whose bit in @old is set, and return true: a stack may
 * have dropped some again. Scanning an object twice is harmless.
 */
bool gc_copy_recover(struct gc_heap *heap, const uint64_t *old,
		     void (*scan)(struct gc_copier *c, void *obj, bool shared),
		     void (*drain)(struct gc_copier *c));
/* Copying is done: return pieces of to-space and runs. The first copier holds the sums. */
struct gc_copier *gc_copy_end(struct gc_heap *heap);

/* Out of line: take a new piece, or memory for a single object outside of the piece. */
uintptr_t gc_copy_refill(struct gc_copier *c, size_t size);
/* Another thread is copying the object: wait for its new header. */
uint64_t gc_copy_await(void *ref);
/*
 * Bytes of an object without a shape, and 1 if it has references; awaited as the key of an
 * ephemeron, it is noted.
 */
size_t gc_copy_unshaped(struct gc_heap *heap, void *ref, uint64_t word);
bool gc_copy_note_weak(struct gc_copier *c, void *obj);
void gc_copy_progress(struct gc_copier *c);

#endif
