/* SPDX-License-Identifier: MIT */
/* A mutator as collectors see it, and the list of them that a stop goes through */
#ifndef GC_HEAP_THREAD_H
#define GC_HEAP_THREAD_H

#include <gchint/gc.h>
#include <pthread.h>

#define GC_CLASS_COUNT	 54
#define GC_CLASS_LARGEST 8192u

enum gc_state {
	GC_RUNNING,
	GC_PARKED,
	GC_STOPPED
};

/* The collector's data about a run, in addition to cursor and limit */
struct gc_span {
	uintptr_t start; /* cursor when the run was granted: objects begin here */
	uintptr_t end; /* end of the block the run lies in, 0 none */
};

struct gc_stack; /* thread/stack.h */

struct gc_thread {
	struct gc_mutator m; /* first: the public part */
	struct gc_heap *heap;
	struct gc_thread *next;
	struct gc_thread *other; /* mutator of the same thread, of another heap */
	struct gc_stack *stack; /* with stack=conservative, else NULL */
	struct gc_span span[GC_CLASS_COUNT];
	struct gc_run medium[GC_CLASS_COUNT - GC_SMALL_MAX / 8]; /* above GC_SMALL_MAX */
	uint32_t state; /* enum gc_state; written by its thread, read by collectors */
	uint32_t arrival; /* order of arrival at the safepoint */
	int tid;
	bool scanned; /* by the ragged root scan */
	uint64_t credit; /* bytes taken from the budget and not yet granted to a run */
	uint64_t objects; /* allocated, not yet added to the heap's count */
	enum gc_refusal refused; /* its last allocation off the inline path */
	/* The frame that called the embedder's callback (gc_oom_callback()), while that runs */
	uintptr_t oom_frame;
	struct gc_frame *oom_roots; /* the innermost root frame then */
	bool fills; /* a copier's: it overwrites what it allocates, which need not be zero */
	bool away; /* between gc_park() and gc_unpark() */
	bool paused; /* a foreground or wait pause is open: do not nest another */
	uint32_t clearing; /* first page of a large object that it clears: plan/large-object.c */
	uint8_t ending; /* rounds of destructors since its thread began to end */
	void (*roots)(gc_visit_fn visit, void *visit_arg, void *arg);
	void *roots_arg;
	uint64_t rng;
};

struct gc_mutators {
	pthread_mutex_t lock; /* the list; held while the world is stopped */
	struct gc_thread *first;
	uint32_t count;
	uint32_t arrivals; /* futex word: counts mutators that stopped or parked */
	bool stopping;
};

#endif
