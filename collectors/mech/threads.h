/* SPDX-License-Identifier: MIT */
/*
 * What a collector says to a thread, in its poll word, and reads in its state. mech/safepoint.c
 * says why that is enough.
 */
#ifndef GC_THREADS_H
#define GC_THREADS_H

#include "heap.h"

/*
 * Bits of poll: the collector wants the thread to stop; collect at every safepoint; who is
 * stopped is wanted to help.
 */
#define GC_POLL_STOP   1u
#define GC_POLL_ALWAYS 2u
#define GC_POLL_HELP   4u

/* How many mutators wait that could help: because the world stands, or for the cycle's end */
unsigned int gc_threads_wait(const struct gc_heap *heap);
/* gc_help_join() on each that waits, and on who comes to wait; wakes @most of a stopped world. */
void gc_threads_call(struct gc_heap *heap, unsigned int most);
/* Under stress others get their chance to race with what is marked in no time. */
void gc_give_way(struct gc_heap *heap);

#endif
