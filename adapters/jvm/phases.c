// SPDX-License-Identifier: MIT
/*
 * The phases that HotSpot's collectors go through beside the program, from its unified
 * log: the JVM is asked, as jcmd's VM.log asks it, to log their begins and ends into a
 * pipe, and a thread of ours reads them. A line has the number of the thread that wrote
 * it, and a phase is announced for that thread. It is some tens of microseconds late, as
 * long as it takes to wake the reader.
 *
 * The pipe blocks whoever writes into a full one, and so that nobody does, the reader is
 * there first, takes no lock, and ends with the process only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#include "jvm.h"

#define PIPE_BYTES (1 << 20) /* some ten thousand lines; what the system allows at most */
#define DRIVERS	   8
#define NAME	   64
#define LAST_WAIT  500 /* ms that the end of the JVM waits for what it has logged, at most */

/* The longest first, where one begins another. Others: collecting, kind unknown. */
static const struct {
	const char *begin;
	unsigned int phase;
} phases[] = {
	{ "Concurrent Cleanup for Next Mark", GCHINT_PHASE_SWEEP },
	{ "Concurrent Final Roots", GCHINT_PHASE_ROOTS },
	{ "Concurrent Mark Free", GCHINT_PHASE_SWEEP },
	{ "Concurrent Mark", GCHINT_PHASE_MARK },
	{ "Concurrent Preclean", GCHINT_PHASE_REFS },
	{ "Concurrent Process Non-Strong", GCHINT_PHASE_REFS },
	{ "Concurrent Relocate", GCHINT_PHASE_COPY },
	{ "Concurrent Remap Roots", GCHINT_PHASE_ROOTS },
	{ "Concurrent Scan Root Regions", GCHINT_PHASE_ROOTS },
	{ "Concurrent class unloading", GCHINT_PHASE_REFS },
	{ "Concurrent cleanup", GCHINT_PHASE_SWEEP },
	{ "Concurrent evacuation", GCHINT_PHASE_COPY },
	{ "Concurrent marking roots", GCHINT_PHASE_ROOTS },
	{ "Concurrent marking", GCHINT_PHASE_MARK },
	{ "Concurrent strong roots", GCHINT_PHASE_ROOTS },
	{ "Concurrent thread roots", GCHINT_PHASE_ROOTS },
	{ "Concurrent uncommit", GCHINT_PHASE_TRIM },
	{ "Concurrent update", GCHINT_PHASE_COPY },
	{ "Concurrent weak", GCHINT_PHASE_REFS },
};

/* What each logs, begins and ends of concurrent phases and little else. */
static const char *const what[] = {
	[COLLECTOR_G1] = "gc+marking=info",
	[COLLECTOR_SHENANDOAH] = "gc+start=info,gc=info",
	[COLLECTOR_Z] = "gc+start=info,gc+phases+start=debug,gc+phases=info",
};

/* A thread that leads a collection, and the phase that it is in; of the reader alone. */
static struct driver {
	pid_t tid;
	char name[NAME]; /* "" in none */
	unsigned int flags;
} drivers[DRIVERS];

static enum collector collector;
static int log_fd = -1; /* -2 when it has ended */
static int reads; /* the reader waits for the next line, or is about to */

static struct driver *driver_of(pid_t tid)
{
	int n;

	for (n = 0; n < DRIVERS && drivers[n].tid; n++)
		if (drivers[n].tid == tid)
			return &drivers[n];
	if (n == DRIVERS)
		return NULL;
	drivers[n].tid = tid;
	drivers[n].flags = GCHINT_F_CONCURRENT;
	return &drivers[n];
}

static unsigned int phase_of(const char *name)
{
	size_t n;

	for (n = 0; n < sizeof(phases) / sizeof(phases[0]); n++)
		if (strncmp(name, phases[n].begin, strlen(phases[n].begin)) == 0)
			return phases[n].phase;
	return GCHINT_PHASE_COLLECT;
}

/* " 12.345ms", or " 64M->38M(96M) 12.345ms": what an end has behind its name. */
static int is_end(const char *rest)
{
	size_t length = strlen(rest);

	return length > 3 && rest[0] == ' ' && strcmp(rest + length - 2, "ms") == 0;
}

/* @text: what stands behind "GC(12) ", in a generational collector behind "Y: " as well */
static void take(struct driver *d, struct gchint_thread *handle, const char *text)
{
	size_t length = strlen(d->name);

	if (strstr(text, " Collection (")) {
		/* Of those who wait for it the log tells when they have done so. */
		d->flags = strstr(text, "(Allocation Stall)") ?
				   GCHINT_F_CONCURRENT | GCHINT_F_URGENT :
				   GCHINT_F_CONCURRENT;
		return;
	}
	if (strncmp(text, "Concurrent ", 11) != 0)
		return;
	if (length) {
		if (strncmp(text, d->name, length) != 0 || !is_end(text + length))
			return;
		d->name[0] = '\0';
		gchint_end(handle);
		return;
	}
	/* An end without its begin; G1's marking has parts, between them a pause. */
	if (is_end(text + strcspn(text, " ")) ||
	    (collector == COLLECTOR_G1 && strcmp(text, "Concurrent Mark") == 0))
		return;
	snprintf(d->name, sizeof(d->name), "%s", text);
	gchint_begin(handle, phase_of(text), d->flags);
}

/* "[tid][tags] GC(12) text" */
static void take_line(char *line)
{
	struct gchint_thread *handle;
	struct driver *driver;
	char *end, *text;
	long tid;

	if (line[0] != '[')
		return;
	tid = strtol(line + 1, &end, 10);
	text = *end == ']' ? strstr(end, "] GC(") : NULL;
	text = text ? strstr(text, ") ") : NULL;
	handle = text ? threads_driver((pid_t)tid) : NULL;
	driver = handle ? driver_of((pid_t)tid) : NULL;
	if (!driver)
		return;
	text += 2;
	if (text[0] && text[1] == ':' && text[2] == ' ')
		text += 3;
	take(driver, handle, text);
}

static void *read_log(void *arg)
{
	char buf[4096], *line, *end;
	size_t held = 0;
	ssize_t n;

	(void)arg;
	pthread_setname_np(pthread_self(), "gchint log");
	for (;;) {
		__atomic_store_n(&reads, 1, __ATOMIC_RELEASE);
		n = read(log_fd, buf + held, sizeof(buf) - 1 - held);
		__atomic_store_n(&reads, 0, __ATOMIC_RELEASE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		held += (size_t)n;
		buf[held] = '\0';
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			take_line(line);
		}
		held = strlen(line);
		/* Longer than any that says something. */
		if (held == sizeof(buf) - 1)
			held = 0;
		memmove(buf, line, held);
	}
	/* Somebody took the log away. */
	for (n = 0; n < DRIVERS && drivers[n].tid; n++)
		if (drivers[n].name[0])
			gchint_end(threads_driver(drivers[n].tid));
	close(__atomic_exchange_n(&log_fd, -2, __ATOMIC_RELAXED));
	return NULL;
}

/* The management interface's own way to a diagnostic command, without its beans. */
static int ask(JNIEnv *jni, const char *command)
{
	jclass provider, commands;
	jmethodID execute;
	jstring text;
	jobject self;

	provider = (*jni)->FindClass(jni, "com/sun/management/internal/PlatformMBeanProviderImpl");
	commands = provider ? (*jni)->FindClass(
				      jni, "com/sun/management/internal/DiagnosticCommandImpl") :
			      NULL;
	execute = commands ? (*jni)->GetMethodID(jni, commands, "executeDiagnosticCommand",
						 "(Ljava/lang/String;)Ljava/lang/String;") :
			     NULL;
	self = execute ? (*jni)->AllocObject(jni, commands) : NULL;
	text = self ? (*jni)->NewStringUTF(jni, command) : NULL;
	if (text)
		(*jni)->CallObjectMethod(jni, self, execute, text);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		return -1;
	}
	return text ? 0 : -1;
}

void phases_watch(JNIEnv *jni)
{
	char command[256];
	sigset_t all, old;
	pthread_t thread;
	int fds[2], ret;

	collector = threads_collector();
	if (!jni || log_fd != -1 || !what[collector] || pipe2(fds, O_CLOEXEC))
		return;
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	log_fd = fds[0];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, NULL, read_log, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret) {
		pthread_detach(thread);
		snprintf(command, sizeof(command),
			 "VM.log output=file=/proc/self/fd/%d what=%s decorators=tid,tags", fds[1],
			 what[collector]);
		ask(jni, command);
	} else {
		close(fds[0]);
	}
	/* The JVM has opened it for itself, or the reader finds the end. */
	close(fds[1]);
}

void phases_finish(void)
{
	const struct timespec ms = { 0, 1000000 };
	int fd = __atomic_load_n(&log_fd, __ATOMIC_RELAXED), n, waiting, still = 0;

	/* Twice in a row: between its read and its word of that the reader has some. */
	for (n = 0; fd >= 0 && n < LAST_WAIT && still < 2; n++) {
		if (ioctl(fd, FIONREAD, &waiting))
			return;
		if (!waiting && __atomic_load_n(&reads, __ATOMIC_ACQUIRE))
			still++;
		else
			still = 0;
		nanosleep(&ms, NULL);
	}
}
