/* SPDX-License-Identifier: MIT */
/* The parts of the JVM agent. */
#ifndef GCHINT_JVM_H
#define GCHINT_JVM_H

#include <stdint.h>

#include <gchint.h>

/* counters.c: the JVM's performance counters */

/** counters_open() - map them. May allocate. Without them causes are unknown. */
void counters_open(void);
/** counters_cause() - why this pause is, at its start; *phase too if the cause tells it. */
uint32_t counters_cause(unsigned int *phase);
/** counters_late_cause() - why the pause was that ends now; 0 if it was known before. */
uint32_t counters_late_cause(void);

/* threads.c: the threads of the collectors */

/** threads_watch() - find them now, and those that start later. May allocate. */
void threads_watch(void);
/** threads_announcer() - the handle that pauses are announced with, on their own thread. */
struct gchint_thread *threads_announcer(void);
/** threads_look_again() - a collection is over: there may be new ones. Does not allocate. */
void threads_look_again(void);
/** threads_pause() - a pause begins or ends: those that work in pauses and beside. */
void threads_pause(int begin);

#endif /* GCHINT_JVM_H */
