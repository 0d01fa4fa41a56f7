/* SPDX-License-Identifier: MIT */
/*
 * Mutators that stopped help to collect: who waits for the world to go on takes a share of
 * the work instead of sleeping. None is waited for: one that comes late finds less to do, or
 * nothing. Where there are fewer than workers=, copying has threads of its own (mech/copy.c).
 *
 * Each who takes part has a mark stack of its own. Who has none left says so, and who has
 * more hands over the older half. All is done when nobody has any.
 */
#ifndef GC_HELP_H
#define GC_HELP_H

#include <pthread.h>

#include "mark-stack.h"

struct gc_crew;
struct gc_help;
struct gc_heap;
struct gc_options;
struct gc_thread;

#define GC_HELP_GIVE 32 /* objects between looks at who has no work */

/**
 * struct gc_helper - one who takes part: the collecting thread, a mutator, one of the crew
 * @mark: its stack, the first one's is the heap's; what it marked, merged when all is done
 * @dirty, @cards, @again: cards cleaned, those scanned, and objects on them
 * @told: bytes marked, every now and then, for who tells of progress
 */
struct gc_helper {
	struct gc_marker mark;
	uint64_t told;
	uint64_t dirty, cards, again;
	bool first, busy, mutator;
	struct gc_mark_stack own;
} __attribute__((aligned(64)));

/* Threads that share a stop's work at most, the collecting one included: workers= */
unsigned int gc_workers(const struct gc_options *opt);

/* 0, also where nobody is to take part: heap->help is NULL then; or -ENOMEM */
int gc_help_init(struct gc_heap *heap);
void gc_help_fini(struct gc_heap *heap);
/* Where too few wait, @call has up to @count further threads join. */
void gc_help_crew(struct gc_heap *heap, void (*call)(struct gc_crew *crew, unsigned int count),
		  unsigned int count);
/* Bytes of the helpers' mark stacks and of what is handed over */
size_t gc_help_stack_bytes(const struct gc_heap *heap);

/*
 * World stopped: call those who wait and run @loop on this thread and theirs until nothing
 * is grey. False, and nothing done: nobody waits.
 */
bool gc_help_share(struct gc_heap *heap, void (*loop)(struct gc_helper *k));
/* The next of those who took part in the last one, after @k; NULL begins, and ends. */
struct gc_helper *gc_help_next(struct gc_heap *heap, struct gc_helper *k);
/* The one of @place, 0 the collecting thread, and the place of one */
struct gc_helper *gc_help_place(struct gc_heap *heap, unsigned int place);
unsigned int gc_help_index(const struct gc_helper *k);
/* What all marked so far, without the first one */
uint64_t gc_help_told(const struct gc_heap *heap);

/*
 * A thread takes part, if there is a place and still something to do: @t, which waits, or
 * NULL one of the crew.
 */
void gc_help_join(struct gc_heap *heap, struct gc_thread *t);
/* Is there a call that *@seen does not know yet? */
bool gc_help_called(const struct gc_heap *heap, uint32_t *seen);

/* Every few objects: hand work to who has none. */
void gc_help_give(struct gc_helper *k);
/* The stack is empty: true when another's work was taken over, false when all is done. */
bool gc_help_more(struct gc_helper *k);
/* Serialises what is rare: lists that all add to */
void gc_help_lock(struct gc_heap *heap);
void gc_help_unlock(struct gc_heap *heap);

#endif
