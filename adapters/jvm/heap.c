// SPDX-License-Identifier: MIT
/*
 * How full the heap is, from the messages of HotSpot's log that phases.c reads. JVMTI has no such
 * figure at its events, and the performance counters of most collectors are out of date when a
 * pause begins. The log has whole MiB, rounded down:
 *
 *	Pause Young (Allocation Failure) 17M->6M(61M) 6.477ms
 *	Pause Full (System.gc()) 41M->9M(61M) 8.501ms
 *	Concurrent cleanup 45M->20M(64M) 0.050ms		Shenandoah
 *	Garbage Collection (Warmup) 40M(62%)->18M(28%)		ZGC, at the end of a cycle
 *
 * Such a message is logged at the end, and the begin is earlier by the length that it has. Both lie
 * in the pause that JVMTI reports, but for full collections of G1, which are some 20 us longer: the
 * readings of these are moved into the pause. A cycle of ZGC begins with the same message without
 * figures.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gchint.h>

#include "jvm.h"

#define GENERATION_YOUNG 0
#define GENERATION_OLD	 1

/* The last pauses that JVMTI reported. Written by the VM thread, read by that of the log. */
#define PAUSES 64
static struct {
	uint64_t begin, end; /* end is 0 while it lasts */
} pauses[PAUSES];
static unsigned int pauses_begun;

static uint64_t limit = GCHINT_HEAP_UNKNOWN;
static uint64_t cycle_begin; /* of ZGC; 0 not seen */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void heap_pause(int begin)
{
	const unsigned int n = pauses_begun;

	if (begin) {
		__atomic_store_n(&pauses[n % PAUSES].end, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&pauses[n % PAUSES].begin, now_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&pauses_begun, n + 1, __ATOMIC_RELEASE);
	} else if (n) {
		__atomic_store_n(&pauses[(n - 1) % PAUSES].end, now_ns(), __ATOMIC_RELEASE);
	}
}

/* Moves the instants of a message into the pause that they overlap, if there is one. */
static void pause_clamp(uint64_t *begin, uint64_t *end)
{
	const unsigned int last = __atomic_load_n(&pauses_begun, __ATOMIC_ACQUIRE);
	unsigned int n;

	for (n = last; n && last - n < PAUSES; n--) {
		uint64_t b = __atomic_load_n(&pauses[(n - 1) % PAUSES].begin, __ATOMIC_ACQUIRE);
		uint64_t e = __atomic_load_n(&pauses[(n - 1) % PAUSES].end, __ATOMIC_ACQUIRE);

		if (b > *end)
			continue;
		if (e && e < *begin)
			return;
		if (*begin < b)
			*begin = b;
		if (e && *end > e)
			*end = e;
		return;
	}
}

void heap_watch(JNIEnv *jni)
{
	jclass runtime = (*jni)->FindClass(jni, "java/lang/Runtime");
	jmethodID get, most;
	jobject self;
	jlong bytes = 0;

	get = runtime ? (*jni)->GetStaticMethodID(jni, runtime, "getRuntime",
						  "()Ljava/lang/Runtime;") :
			NULL;
	most = get ? (*jni)->GetMethodID(jni, runtime, "maxMemory", "()J") : NULL;
	self = most ? (*jni)->CallStaticObjectMethod(jni, runtime, get) : NULL;
	if (self)
		bytes = (*jni)->CallLongMethod(jni, self, most);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	else if (bytes > 0 && bytes < INT64_MAX)
		limit = (uint64_t)bytes;
}

/* "17M" at *@at, which is advanced; false if there is no such number. */
static int size_take(const char **at, uint64_t *bytes)
{
	static const char units[] = "BKMGT";
	const char *unit;
	char *end;

	if (**at < '0' || **at > '9')
		return 0;
	*bytes = strtoull(*at, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (!unit || *bytes >> 32)
		return 0;
	*bytes <<= 10 * (unit - units);
	*at = end + 1;
	return 1;
}

/* A percentage in parentheses, as ZGC has one after each size. */
static void share_skip(const char **at)
{
	size_t length = strcspn(*at, ")");

	if (**at == '(' && length && (*at)[length] == ')' && (*at)[length - 1] == '%')
		*at += length + 1;
}

static uint32_t generation_of(const char *text)
{
	if (!strncmp(text, "Pause Young", 11) || !strncmp(text, "Minor ", 6))
		return GENERATION_YOUNG;
	if (!strncmp(text, "Pause Full", 10) || !strncmp(text, "Major ", 6))
		return GENERATION_OLD;
	return GCHINT_HEAP_UNKNOWN_GENERATION;
}

/* Where in @text the sizes begin, or NULL: behind the last blank before "->". */
static const char *sizes_find(const char *text)
{
	const char *at = strstr(text, "->");

	while (at && at > text && at[-1] != ' ')
		at--;
	return at && at > text ? at : NULL;
}

void heap_handle_text(uint64_t t, const char *text)
{
	const char *at = sizes_find(text);
	const int is_cycle = strstr(text, " Collection (") != NULL;
	struct gchint_heap before = GCHINT_HEAP_INIT, after = GCHINT_HEAP_INIT;
	double ms = 0;

	if (!at) {
		if (is_cycle)
			cycle_begin = t;
		return;
	}
	if (!size_take(&at, &before.used))
		return;
	share_skip(&at);
	if (strncmp(at, "->", 2) != 0)
		return;
	at += 2;
	if (!size_take(&at, &after.used))
		return;
	share_skip(&at);
	if (*at == '(') {
		at++;
		if (!size_take(&at, &after.committed))
			after.committed = GCHINT_HEAP_UNKNOWN;
	}
	if (*at == ')')
		ms = strtod(at + 1, NULL);
	before.when = GCHINT_HEAP_BEFORE;
	before.time_ns = is_cycle ? cycle_begin : t - (uint64_t)(ms * 1e6);
	before.generation = generation_of(text);
	before.limit = limit;
	after.when = GCHINT_HEAP_AFTER;
	after.time_ns = t;
	after.generation = before.generation;
	after.limit = limit;
	if (!is_cycle)
		pause_clamp(&before.time_ns, &after.time_ns);
	if (before.time_ns)
		gchint_heap(threads_announcer(), &before);
	gchint_heap(threads_announcer(), &after);
}
