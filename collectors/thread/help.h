/* SPDX-License-Identifier: MIT */
/*
 * Stopped mutators help to collect: instead of sleeping until the world restarts, they take a
 * share of the work. The collector does not wait for them: a late one finds less to do, or
 * nothing. Where there are fewer than workers=, copying has threads of its own (trace/workers.h).
 *
 * Each helper has a mark stack of its own. A helper with an empty stack counts as idle, and
 * one that has work hands over the older half of it. All is done when all are idle.
 */
#ifndef GC_HELP_H
#define GC_HELP_H

#include <pthread.h>

#include "../heap/mark-stack.h"

struct gc_workers;
struct gc_help;
struct gc_heap;
struct gc_options;
struct gc_thread;

#define GC_HELP_GIVE 32 /* objects between checks for idle helpers */

/**
 * struct gc_helper - a participant: the collecting thread, a mutator or a worker thread
 * @mark: its stack (the first one uses the heap's) and counters, which are merged at the end
 * @reported: bytes marked, updated from time to time, for the progress that the first one reports
 */
struct gc_helper {
	struct gc_marker mark;
	uint64_t reported;
	bool first, busy, mutator;
	struct gc_mark_stack own;
} __attribute__((aligned(64)));

/* Maximum of threads that share the work of a stop, the collecting one included: workers= */
unsigned int gc_workers_max(const struct gc_options *opt);

/* 0 or -ENOMEM; heap->help stays NULL where no work is to be shared. */
int gc_help_init(struct gc_heap *heap);
void gc_help_fini(struct gc_heap *heap);
/* Where too few mutators wait, @call is used to have up to @count further threads join. */
void gc_help_set_workers(struct gc_heap *heap,
			 void (*call)(struct gc_workers *workers, unsigned int count),
			 unsigned int count);
/* Bytes of the helpers' mark stacks and of the buffer for handing over */
size_t gc_help_stack_bytes(const struct gc_heap *heap);

/*
 * World stopped: call waiting mutators and run @loop on this thread and on theirs until no
 * object is grey. False, with nothing done, if no thread can help.
 */
bool gc_help_share(struct gc_heap *heap, void (*loop)(struct gc_helper *k));
/* Iterate over the helpers of the last gc_help_share(): the one after @k, from NULL to NULL. */
struct gc_helper *gc_help_next(struct gc_heap *heap, struct gc_helper *k);
/* From a place to its helper and back; place 0 is the collecting thread's. */
struct gc_helper *gc_help_place(struct gc_heap *heap, unsigned int place);
unsigned int gc_help_index(const struct gc_helper *k);
/* Bytes that all helpers but the first one have marked so far */
uint64_t gc_help_reported(const struct gc_heap *heap);

/*
 * Take part on the calling thread, if there is a free place and work: @t is the waiting
 * mutator, NULL for a worker thread.
 */
void gc_help_join(struct gc_heap *heap, struct gc_thread *t);
/* Was there a call since *@seen? Updates *@seen. */
bool gc_help_called(const struct gc_heap *heap, uint32_t *seen);

/* Every GC_HELP_GIVE objects: hand work over if a helper is idle. */
void gc_help_give(struct gc_helper *k);
/* The stack is empty: true when work was taken over from another helper, false at the end. */
bool gc_help_more(struct gc_helper *k);
/* Serialises rare operations on lists that all helpers add to */
void gc_help_lock(struct gc_heap *heap);
void gc_help_unlock(struct gc_heap *heap);

#endif
