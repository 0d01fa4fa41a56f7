/* SPDX-License-Identifier: MIT */
/* The parts of the JVM agent. */
#ifndef GCHINT_JVM_H
#define GCHINT_JVM_H

#include <stdint.h>

#include <gchint.h>
#include <jvmti.h>

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
/** threads_pause() - a pause begins or ends: those that work in pauses and beside. */
void threads_pause(int begin);

/** enum collector - those that work beside the program */
enum collector {
	COLLECTOR_NONE,
	COLLECTOR_G1,
	COLLECTOR_SHENANDOAH,
	COLLECTOR_Z,
	COLLECTOR_NR
};

/** threads_collector() - by the threads that were found. */
enum collector threads_collector(void);
/** threads_driver() - the handle of a thread that leads concurrent phases, or NULL. */
struct gchint_thread *threads_driver(pid_t tid);

/* phases.c: what is done beside the program */

/**
 * phases_watch() - announce concurrent phases from here on, once in a process
 * @jni: of the calling thread, in the live phase
 *
 * After threads_watch(). May allocate, and loads classes of the JVM's own.
 */
void phases_watch(JNIEnv *jni);
/** phases_finish() - wait, half a second at most, until what was logged is announced. */
void phases_finish(void);

/* methods.c: the code that is compiled */

/** methods_prepare() - ask for what tells of it. Nothing unless somebody profiles. */
void methods_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks);
/** methods_watch() - name what is there, and what comes and goes from here on; live only. */
void methods_watch(jvmtiEnv *env);

#define METHODS_NAME 800

/** methods_name() - of its class, with its file and line; METHODS_NAME is room enough. */
void methods_name(jvmtiEnv *env, jmethodID method, char *text, size_t size);

/* interpreted.c: every method, in a JVM that compiles none */

/**
 * interpreted_prepare() - ask for what tells of calls
 * @options: of the agent; nothing unless they are "interpreted", and somebody profiles
 *
 * At the start of the JVM only.
 */
void interpreted_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks, const char *options);
/** interpreted_watch() - tell which method runs from here on. */
void interpreted_watch(jvmtiEnv *env);

#endif /* GCHINT_JVM_H */
