/* SPDX-License-Identifier: MIT */
/*
 * Signals from the collector to a thread, through its poll word, and the thread's state.
 * thread/safepoint.c explains the protocol.
 */
#ifndef GC_THREADS_H
#define GC_THREADS_H

#include "../heap/heap.h"

/*
 * Bits of the poll word: the thread is to stop; it is to collect at every safepoint; it is to
 * help while it is stopped.
 */
#define GC_POLL_STOP   1u
#define GC_POLL_ALWAYS 2u
#define GC_POLL_HELP   4u

/* Number of waiting mutators that could help: stopped ones, and those that wait for the cycle */
unsigned int gc_threads_wait(const struct gc_heap *heap);
/*
 * Have waiting mutators call gc_help_join(), those that begin to wait later included. Wakes up at
 * most @most stopped threads.
 */
void gc_threads_call(struct gc_heap *heap, unsigned int most);
/* stress=: sleep for a random time, so that other threads get to race with short phases. */
void gc_stress_sleep(struct gc_heap *heap);

/*
 * pthread_cancel() waits while a thread is in the library and may wait itself, or calls the
 * listener: it must not end there with a lock or the right to collect. gc_cancel_allow() takes what
 * gc_cancel_defer() returned. Calls nest.
 */
static inline int gc_cancel_defer(void)
{
	int state;

	pthread_setcancelstate(GC_NEEDED(15) ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE,
			       &state);
	return state;
}

static inline void gc_cancel_allow(int state)
{
	pthread_setcancelstate(state, &state);
}

/*
 * gc_thread_create() - start a thread of the collector, @name; 0, or errno of pthread_create()
 *
 * It blocks all signals but those that its own instructions cause: the others are the program's,
 * which may wait for them, or have handlers that must not run on a thread that it does not know.
 */
int gc_thread_create(pthread_t *thread, const pthread_attr_t *attr, const char *name,
		     void *(*fn)(void *), void *arg);

#endif
