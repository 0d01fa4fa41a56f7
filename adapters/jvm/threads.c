// SPDX-License-Identifier: MIT
/*
 * The threads of HotSpot's collectors, recognised by their names, truncated to 15 characters.
 * Some start later, when the collector adds workers: another scan follows each collection.
 */
#define _GNU_SOURCE
#include <string.h>

#include <gchint.h>

#include "../common/tasks.h"
#include "jvm.h"

/*
 * both: a concurrent worker that also works in pauses, which are announced for it.
 * drives: the collector whose concurrent phases this thread leads.
 */
static const struct {
	const char *prefix;
	unsigned int role;
	int both;
	enum collector drives;
} thread_types[] = {
	{ "G1 Conc#", GCHINT_ROLE_CONCURRENT, 0, 0 },
	{ "G1 Main Marker", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_G1 },
	{ "G1 Refine#", GCHINT_ROLE_CONCURRENT, 0, 0 },
	{ "G1 Service", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "GC Thread#", GCHINT_ROLE_STW, 0, 0 },
	{ "Shenandoah Cont", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_SHENANDOAH },
	{ "Shenandoah GC T", GCHINT_ROLE_CONCURRENT, 1, 0 },
	{ "Shenandoah Unco", GCHINT_ROLE_BACKGROUND, 0, 0 },
	/* ZGC that is not generational, in the JDKs 21 to 23 that also have the other one. */
	{ "XDriver", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_Z },
	{ "XUncommitter", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "XUnmapper", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "XWorker", GCHINT_ROLE_CONCURRENT, 1, 0 },
	{ "ZDriver", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_Z },
	{ "ZUncommitter", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "ZUnmapper", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "ZWorker", GCHINT_ROLE_CONCURRENT, 1, 0 },
};

#define KNOWN 512 /* the number of threads that the library can lease */

static struct {
	pid_t tid;
	struct gchint_thread *handle;
	unsigned int role;
	int both;
	enum collector drives;
} known[KNOWN];
static int known_count; /* grows only; released after its entry is written */
static int in_pause;

static int is_known(pid_t tid)
{
	int n;

	for (n = 0; n < known_count; n++)
		if (known[n].tid == tid)
			return 1;
	return 0;
}

static void worker_consider(struct gchint_session *session, pid_t tid, const char *name)
{
	struct gchint_thread *handle;
	size_t n;

	for (n = 0; n < sizeof(thread_types) / sizeof(thread_types[0]); n++) {
		if (strncmp(name, thread_types[n].prefix, strlen(thread_types[n].prefix)) != 0)
			continue;
		if (known_count == KNOWN || is_known(tid) ||
		    gchint_attach(session, tid, thread_types[n].role, NULL, &handle))
			return;
		known[known_count].tid = tid;
		known[known_count].handle = handle;
		known[known_count].role = thread_types[n].role;
		known[known_count].both = thread_types[n].both;
		known[known_count].drives = thread_types[n].drives;
		__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
		return;
	}
}

/* The thread on which JVMTI reports pauses. */
static struct gchint_thread *announcer;
static pid_t announcer_tid;
static struct gchint_session *held; /* threads_watch()'s */

static void announcer_consider(struct gchint_session *session, pid_t tid, const char *name)
{
	struct gchint_thread *handle;

	if (announcer || strcmp(name, "VM Thread\n") != 0 ||
	    gchint_attach(session, tid, GCHINT_ROLE_NONE, NULL, &handle))
		return;
	announcer_tid = tid;
	__atomic_store_n(&announcer, handle, __ATOMIC_RELEASE);
}

struct gchint_thread *threads_announcer(void)
{
	struct gchint_thread *handle = __atomic_load_n(&announcer, __ATOMIC_ACQUIRE);

	return handle ? handle : gchint_self();
}

void threads_watch(void)
{
	static int once;
	struct gchint_session *session;

	if (once || gchint_open(&session, 0))
		return;
	once = 1;
	held = session;
	/* First, so that pauses can be hinted even if the leases do not suffice for all workers. */
	tasks_scan(session, announcer_consider);
	tasks_scan(session, worker_consider);
	tasks_watch(session, worker_consider);
}

void threads_release(void)
{
	if (held)
		gchint_close(held);
	held = NULL;
}

/* Until a thread has its new handle, the library ignores the old one, of a closed session. */
void threads_rejoin(void)
{
	struct gchint_thread *handle;
	int n, count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	if (held || gchint_open(&held, 0))
		return;
	if (announcer_tid && !gchint_attach(held, announcer_tid, GCHINT_ROLE_NONE, NULL, &handle))
		__atomic_store_n(&announcer, handle, __ATOMIC_RELEASE);
	for (n = 0; n < count; n++)
		if (!gchint_attach(held, known[n].tid, known[n].role, NULL, &handle))
			__atomic_store_n(&known[n].handle, handle, __ATOMIC_RELEASE);
}

/* Runs on the VM thread. A worker found during a pause takes part from the next pause on. */
void threads_pause(int begin)
{
	int n;

	if (begin)
		in_pause = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
	for (n = 0; n < in_pause; n++) {
		if (!known[n].both)
			continue;
		if (begin)
			gchint_begin(known[n].handle, GCHINT_PHASE_COLLECT, GCHINT_F_STW);
		else
			gchint_end(known[n].handle);
	}
}

enum collector threads_collector(void)
{
	int n, count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	for (n = 0; n < count; n++)
		if (known[n].drives)
			return known[n].drives;
	return COLLECTOR_NONE;
}

struct gchint_thread *threads_driver(pid_t tid)
{
	int n, count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	for (n = 0; n < count; n++)
		if (known[n].tid == tid)
			return known[n].drives ? known[n].handle : NULL;
	return NULL;
}
