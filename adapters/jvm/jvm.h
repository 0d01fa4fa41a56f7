/* SPDX-License-Identifier: MIT */
/* The parts of the JVM agent. */
#ifndef GCHINT_JVM_H
#define GCHINT_JVM_H

#include <stdint.h>

#include <gchint.h>
#include <jvmti.h>

/* counters.c: the JVM's performance counters */

/** counters_open() - map the counters. May allocate. Without them causes are unknown. */
void counters_open(void);
/** counters_cause() - cause of a pause, at its start; sets *phase if the cause determines it. */
uint32_t counters_cause(unsigned int *phase);
/** counters_late_cause() - cause of a pause, at its end; 0 if it was known at the start. */
uint32_t counters_late_cause(void);

/* threads.c: the threads of the collectors */

/** threads_watch() - attach the present threads, and those that start later. May allocate. */
void threads_watch(void);
/** threads_announcer() - the VM thread's handle, on which pauses are hinted; else the caller's. */
struct gchint_thread *threads_announcer(void);
/** threads_pause() - hint a pause's begin or end for concurrent workers that join pauses. */
void threads_pause(int begin);

/** enum collector - the concurrent collectors */
enum collector {
	COLLECTOR_NONE,
	COLLECTOR_G1,
	COLLECTOR_SHENANDOAH,
	COLLECTOR_Z,
	COLLECTOR_NR
};

/** threads_collector() - the collector in use, inferred from the threads that were found. */
enum collector threads_collector(void);
/** threads_driver() - the handle of a thread that leads concurrent phases, or NULL. */
struct gchint_thread *threads_driver(pid_t tid);

/** threads_release() - close the session of threads_watch(), to open another one. */
void threads_release(void);
/** threads_rejoin() - open a session and attach the threads found so far to it. */
void threads_rejoin(void);

/* phases.c: concurrent phases */

/**
 * phases_watch() - announce concurrent phases from here on, once in a process
 * @jni: of the calling thread, in the live phase
 *
 * To be called after threads_watch(). May allocate, and loads classes of the JVM.
 */
void phases_watch(JNIEnv *jni);
/** phases_finish() - wait, half a second at most, until all logged phases are announced. */
void phases_finish(void);

/* heap.c: how full the heap is */

/** heap_watch() - read how large the heap may become. Calls methods of the JVM. */
void heap_watch(JNIEnv *jni);

/** heap_pause() - a pause begins or ends on the VM thread, which is in a phase then. */
void heap_pause(int begin);

/**
 * heap_handle_text() - report the heap before and after, if a message of the log has both
 * @t: instant of the message, CLOCK_MONOTONIC
 * @text: the message after "GC(12) " and, in a generational collector, after "Y: "
 */
void heap_handle_text(uint64_t t, const char *text);

/* methods.c: compiled code */

/** methods_prepare() - request the capabilities and events, if a recorder profiles. */
void methods_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks);
/** methods_watch() - name present and future compiled code. In the live phase only. */
void methods_watch(jvmtiEnv *env);

#define METHODS_NAME 800

/** methods_name() - format class, method, file and line; METHODS_NAME bytes are enough. */
void methods_name(jvmtiEnv *env, jmethodID method, char *text, size_t size);

/* allocations.c: which code allocates */

/** allocations_prepare() - request the capability and the event, if GCHINT_ALLOCATIONS is set */
void allocations_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks);
/** allocations_watch() - sample from here on. In the live phase only. */
void allocations_watch(jvmtiEnv *env);
/** allocations_finish() - write what was sampled, at the end of the JVM. */
void allocations_finish(jvmtiEnv *env);

/* interpreted.c: every method, in a JVM that compiles none */

/**
 * interpreted_prepare() - request the events of calls and returns
 * @options: of the agent; does nothing unless they are "interpreted" and a recorder profiles
 *
 * To be called at the start of the JVM only.
 */
void interpreted_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks, const char *options);
/** interpreted_watch() - report which method runs from here on. */
void interpreted_watch(jvmtiEnv *env);

#endif /* GCHINT_JVM_H */
