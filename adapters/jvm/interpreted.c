// SPDX-License-Identifier: MIT
/*
 * Reports which method runs, in a JVM that interprets all methods: JVMTI reports each call and
 * each return, and HotSpot compiles no method whose calls it must report. Calls then take some
 * hundred times as long, so this is an option. At a return the adapter reads the frame below from
 * the JVM, so that the method stays right after an exception, and for calls that began before
 * the events did.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gchint.h>
#include <jvmti.h>

#include "jvm.h"

#define NEAR 256 /* entries of each thread's cache; a power of two */

struct known {
	jmethodID method; /* NULL: free entry; HotSpot never reuses one */
	uintptr_t address;
};

/* Hash table shared by all threads, at most half full. */
static struct {
	pthread_mutex_t lock;
	struct known *slot;
	size_t slots, nr;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Each thread's cache of recent methods, which needs no lock. */
static __thread struct known near[NEAR];

static int wanted;
static int at_calls; /* for comparison: names are written at each call */

static size_t hash_of(jmethodID method)
{
	return (uintptr_t)method / sizeof(void *) * 0x9e3779b1u >> 3;
}

static struct known *table_find(struct known *slot, size_t slots, jmethodID method)
{
	size_t at = hash_of(method) & (slots - 1);

	while (slot[at].method && slot[at].method != method)
		at = (at + 1) & (slots - 1);
	return &slot[at];
}

static int table_grow(void)
{
	const size_t slots = all.slots ? all.slots * 2 : 1024;
	struct known *more;
	size_t n;

	if (all.nr * 2 < all.slots)
		return 1;
	more = calloc(slots, sizeof(*more));
	if (!more)
		return 0;
	for (n = 0; n < all.slots; n++)
		if (all.slot[n].method)
			*table_find(more, slots, all.slot[n].method) = all.slot[n];
	free(all.slot);
	all.slot = more;
	all.slots = slots;
	return 1;
}

/* Calls the JVM without the lock, since the JVM may wait for a thread that takes it. */
static uintptr_t method_register(jvmtiEnv *env, jmethodID method)
{
	struct known found = { NULL, 0 }, *k;
	char text[METHODS_NAME];

	pthread_mutex_lock(&all.lock);
	if (all.slots)
		found = *table_find(all.slot, all.slots, method);
	pthread_mutex_unlock(&all.lock);
	if (found.method)
		return found.address;
	methods_name(env, method, text, sizeof(text));
	pthread_mutex_lock(&all.lock);
	if (table_grow()) {
		k = table_find(all.slot, all.slots, method);
		if (!k->method) {
			k->method = method;
			k->address = gchint_symbol_add(0, 0, text);
			all.nr++;
		}
		found = *k;
	}
	pthread_mutex_unlock(&all.lock);
	return found.address;
}

/* 0 if memory is short: the method then has no name. */
static uintptr_t address_of(jvmtiEnv *env, jmethodID method)
{
	struct known *k = &near[hash_of(method) & (NEAR - 1)];

	if (k->method != method) {
		k->address = method_register(env, method);
		k->method = k->address ? method : NULL;
	}
	return k->address;
}

static void JNICALL method_on_entry(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method)
{
	const uintptr_t address = address_of(env, method);
	char text[METHODS_NAME];

	(void)jni;
	(void)thread;
	gchint_method_enter(address);
	if (at_calls && address) {
		methods_name(env, method, text, sizeof(text));
		gchint_symbol_add(address, 1, text);
	}
}

static void JNICALL method_on_exit(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
				   jboolean thrown, jvalue value)
{
	jmethodID outer;
	jlocation at;

	(void)jni;
	(void)thread;
	(void)method;
	(void)thrown;
	(void)value;
	/* The returning frame is still on the stack at depth 0, so the caller is at depth 1. */
	if ((*env)->GetFrameLocation(env, NULL, 1, &outer, &at) == JVMTI_ERROR_NONE)
		gchint_method_leave(address_of(env, outer));
	else
		gchint_method_leave(0);
}

void interpreted_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks, const char *options)
{
	static const jvmtiCapabilities calls = {
		.can_generate_method_entry_events = 1,
		.can_generate_method_exit_events = 1,
	};

	if (!options || strcmp(options, "interpreted") != 0 || !gchint_is_profiled())
		return;
	if ((*env)->AddCapabilities(env, &calls) != JVMTI_ERROR_NONE) {
		fputs("libgchint-jvm.so: no interpreted methods: this JVM reports no calls\n",
		      stderr);
		return;
	}
	callbacks->MethodEntry = method_on_entry;
	callbacks->MethodExit = method_on_exit;
	wanted = 1;
	at_calls = gchint_is_profiled() == 2;
}

void interpreted_watch(jvmtiEnv *env)
{
	if (!wanted)
		return;
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL);
}
