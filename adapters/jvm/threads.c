// SPDX-License-Identifier: MIT
/*
 * The threads of HotSpot's collectors, by their names (15 characters of them). Some start
 * late, when more workers are wanted. Looking them up costs about 100 us, so a
 * thread of ours does it, not more often than each second, when a collection is over and
 * the number of threads has changed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#include "jvm.h"

/*
 * BOTH: beside the program, but in the pauses as well: those are announced for it.
 * DRIVES: leads the concurrent phases of that collector.
 */
static const struct {
	const char *prefix;
	unsigned int role;
	int both;
	enum collector drives;
} kinds[] = {
	{ "G1 Conc#", GCHINT_ROLE_CONCURRENT, 0, 0 },
	{ "G1 Main Marker", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_G1 },
	{ "G1 Refine#", GCHINT_ROLE_CONCURRENT, 0, 0 },
	{ "G1 Service", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "GC Thread#", GCHINT_ROLE_STW, 0, 0 },
	{ "Shenandoah Cont", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_SHENANDOAH },
	{ "Shenandoah GC T", GCHINT_ROLE_CONCURRENT, 1, 0 },
	{ "Shenandoah Unco", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "ZDriver", GCHINT_ROLE_CONCURRENT, 0, COLLECTOR_Z },
	{ "ZUncommitter", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "ZUnmapper", GCHINT_ROLE_BACKGROUND, 0, 0 },
	{ "ZWorker", GCHINT_ROLE_CONCURRENT, 1, 0 },
};

#define KNOWN 512 /* what the library leases */

static struct {
	pid_t tid;
	struct gchint_thread *handle;
	int both;
	enum collector drives;
} known[KNOWN];
static int known_count; /* grows only; released after its entry is written */
static int in_pause;

static sem_t look;
static struct timespec looked;

static int is_known(pid_t tid)
{
	int n;

	for (n = 0; n < known_count; n++)
		if (known[n].tid == tid)
			return 1;
	return 0;
}

static void consider(struct gchint_session *session, pid_t tid, const char *name)
{
	struct gchint_thread *handle;
	size_t n;

	for (n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		if (strncmp(name, kinds[n].prefix, strlen(kinds[n].prefix)) != 0)
			continue;
		if (known_count == KNOWN || is_known(tid) ||
		    gchint_attach(session, tid, kinds[n].role, NULL, &handle))
			return;
		known[known_count].tid = tid;
		known[known_count].handle = handle;
		known[known_count].both = kinds[n].both;
		known[known_count].drives = kinds[n].drives;
		__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
		return;
	}
}

/* The thread that JVMTI tells of pauses on. */
static struct gchint_thread *announcer;

static void consider_announcer(struct gchint_session *session, pid_t tid, const char *name)
{
	struct gchint_thread *handle;

	if (!announcer && strcmp(name, "VM Thread\n") == 0 &&
	    !gchint_attach(session, tid, GCHINT_ROLE_NONE, NULL, &handle))
		__atomic_store_n(&announcer, handle, __ATOMIC_RELEASE);
}

struct gchint_thread *threads_announcer(void)
{
	struct gchint_thread *handle = __atomic_load_n(&announcer, __ATOMIC_ACQUIRE);

	return handle ? handle : gchint_self();
}

static void scan(struct gchint_session *session,
		 void (*look_at)(struct gchint_session *session, pid_t tid, const char *name))
{
	struct dirent *entry;
	char path[64], name[32];
	ssize_t length;
	DIR *dir;
	int fd;

	dir = opendir("/proc/self/task");
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", entry->d_name);
		fd = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		length = read(fd, name, sizeof(name) - 1);
		close(fd);
		if (length <= 0)
			continue;
		name[length] = '\0';
		look_at(session, atoi(entry->d_name), name);
	}
	if (dir)
		closedir(dir);
}

static void *watch(void *arg)
{
	struct gchint_session *session = arg;
	nlink_t last = 0;
	struct stat st;

	pthread_setname_np(pthread_self(), "gchint");
	for (;;) {
		while (sem_wait(&look))
			;
		if (stat("/proc/self/task", &st) || st.st_nlink == last)
			continue;
		last = st.st_nlink;
		scan(session, consider);
	}
	return NULL;
}

void threads_watch(void)
{
	static int once;
	struct gchint_session *session;
	sigset_t all, old;
	pthread_t thread;

	if (once || gchint_open(&session, 0))
		return;
	once = 1;
	/* Where leases are few, the pauses come before those who work in them. */
	scan(session, consider_announcer);
	scan(session, consider);
	sem_init(&look, 0, 1);
	/* The JVM's signals are not for this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, watch, session))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* On the VM thread. sem_post() is async-signal-safe. */
void threads_look_again(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == looked.tv_sec)
		return;
	looked = now;
	sem_post(&look);
}

/* On the VM thread. One that is found within a pause is announced from the next on. */
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
