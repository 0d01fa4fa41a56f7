// SPDX-License-Identifier: MIT
/*
 * Which code allocates, and so causes collections: the JVM reports one of the objects in each
 * INTERVAL bytes of each thread (JEP 331), with the stack of the thread that allocates it. Equal
 * stacks are added up here, and written at the end of the JVM into the directory that
 * GCHINT_ALLOCATIONS names, one line each: bytes, samples, and the frames from the outermost on,
 * separated by semicolons.
 *
 * An object of @size bytes is sampled with the probability 1 - exp(-size / INTERVAL), so that it
 * stands for size divided by that.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jvmti.h>

#include "jvm.h"

#define INTERVAL (512 * 1024)
#define DEPTH	 48 /* frames of a stack; outer ones are left out */
#define BUCKETS	 4096
#define STACKS	 65536 /* different ones; more are added to one without frames */

struct stack {
	struct stack *next;
	double bytes;
	uint64_t samples;
	char *text;
	int depth;
	jmethodID method[DEPTH];
};

static const char *directory; /* NULL: not requested */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stack *buckets[BUCKETS];
static struct stack rest = { .text = "[other stacks]" };
static unsigned int stacks;

static struct stack **bucket_of(const jvmtiFrameInfo *frames, int depth)
{
	uint64_t hash = (uint64_t)depth;
	int n;

	for (n = 0; n < depth; n++)
		hash = (hash ^ (uintptr_t)frames[n].method) * 0x9e3779b97f4a7c15u;
	return &buckets[hash >> 52];
}

static struct stack *stack_find(struct stack *of, const jvmtiFrameInfo *frames, int depth)
{
	int n;

	for (; of; of = of->next) {
		for (n = 0; of->depth == depth && n < depth; n++)
			if (of->method[n] != frames[n].method)
				break;
		if (of->depth == depth && n == depth)
			break;
	}
	return of;
}

/* Named while its methods run: their classes may be unloaded later. */
static struct stack *stack_make(jvmtiEnv *env, const jvmtiFrameInfo *frames, int depth)
{
	struct stack *made = calloc(1, sizeof(*made));
	size_t used = 0;
	char *at;
	int n;

	if (!made || !(made->text = malloc((size_t)depth * METHODS_NAME + 1))) {
		free(made);
		return NULL;
	}
	*made->text = '\0';
	made->depth = depth;
	for (n = 0; n < depth; n++)
		made->method[n] = frames[n].method;
	for (n = depth - 1; n >= 0; n--) {
		at = made->text + used;
		methods_name(env, frames[n].method, at, METHODS_NAME - 1);
		while (*at) {
			*at = *at == ';' || *at == '\n' ? ',' : *at;
			at++;
		}
		if (n)
			*at++ = ';';
		*at = '\0';
		used = (size_t)(at - made->text);
	}
	return made;
}

/* x / (1 - exp(-x)), within 1 %, without the library of mathematics. */
static double sample_weight(double x)
{
	return x < 3 ? 1 + x / 2 + x * x / 12 - x * x * x * x / 720 : x;
}

static void JNICALL object_on_sampled(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
				      jclass class, jlong size)
{
	jvmtiFrameInfo frames[DEPTH];
	struct stack **bucket, *of, *made = NULL;
	jint depth = 0;

	(void)jni;
	(void)object;
	(void)class;
	if ((*env)->GetStackTrace(env, thread, 0, DEPTH, frames, &depth) != JVMTI_ERROR_NONE)
		depth = 0;
	bucket = bucket_of(frames, depth);
	pthread_mutex_lock(&lock);
	of = stack_find(*bucket, frames, depth);
	if (!of && stacks < STACKS) {
		/* The JVM may stop this thread while it names the methods: others must not wait. */
		pthread_mutex_unlock(&lock);
		made = stack_make(env, frames, depth);
		pthread_mutex_lock(&lock);
		of = stack_find(*bucket, frames, depth);
		if (!of && made) {
			made->next = *bucket;
			*bucket = of = made;
			made = NULL;
			stacks++;
		}
	}
	if (!of)
		of = &rest;
	of->bytes += INTERVAL * sample_weight((double)size / INTERVAL);
	of->samples++;
	pthread_mutex_unlock(&lock);
	if (made)
		free(made->text);
	free(made);
}

void allocations_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks)
{
	static const jvmtiCapabilities wanted = {
		.can_generate_sampled_object_alloc_events = 1,
		.can_get_source_file_name = 1,
		.can_get_line_numbers = 1,
	};
	const char *where = getenv("GCHINT_ALLOCATIONS");

	if (!where || !*where)
		return;
	if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE) {
		fputs("libgchint-jvm.so: no allocations: this JVM does not sample them\n", stderr);
		return;
	}
	callbacks->SampledObjectAlloc = object_on_sampled;
	directory = strdup(where);
}

void allocations_watch(jvmtiEnv *env)
{
	if (!directory)
		return;
	(*env)->SetHeapSamplingInterval(env, INTERVAL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}

static void stack_write(const struct stack *of, FILE *f)
{
	if (of->samples)
		fprintf(f, "%.0f %llu %s\n", of->bytes, (unsigned long long)of->samples, of->text);
}

void allocations_finish(jvmtiEnv *env)
{
	const struct stack *of;
	char path[4096];
	FILE *f;
	int n;

	if (!directory)
		return;
	(*env)->SetEventNotificationMode(env, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
					 NULL);
	snprintf(path, sizeof(path), "%s/allocations-%d", directory, (int)getpid());
	f = fopen(path, "wxe");
	if (!f)
		return;
	pthread_mutex_lock(&lock);
	for (n = 0; n < BUCKETS; n++)
		for (of = buckets[n]; of; of = of->next)
			stack_write(of, f);
	stack_write(&rest, f);
	pthread_mutex_unlock(&lock);
	fclose(f);
}
