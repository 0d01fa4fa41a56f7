// SPDX-License-Identifier: MIT
/*
 * The concurrent phases of HotSpot's collectors, from the unified log. The adapter executes the
 * diagnostic command VM.log, as jcmd does, so that the JVM logs the begins and ends of phases
 * into a pipe, which a thread of the adapter reads. Each line has the ID of the thread that wrote
 * it, and the phase is announced for that thread. Announcements are some tens of microseconds
 * late, the time that it takes to wake the reader.
 *
 * The ends of pauses and cycles in that log also say how full the heap was (heap.c), with any
 * collector.
 *
 * A full pipe would block the collector. Therefore the reader is started before the log is
 * enabled, takes no lock, and runs until the process ends.
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

#define PIPE_BYTES (1 << 20) /* some ten thousand lines; the system's maximum */
#define DRIVERS	   8
#define NAME	   64
#define LAST_WAIT  500 /* ms that the JVM's end waits for the log reader, at most */

/* Matched by prefix, so a longer name precedes its prefix. Other phases: COLLECT. */
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

/* Log selections with the begins and ends of concurrent phases and few other messages. */
static const char *const log_selections[] = {
	[COLLECTOR_NONE] = "gc=info",
	[COLLECTOR_G1] = "gc=info,gc+marking=info",
	[COLLECTOR_SHENANDOAH] = "gc+start=info,gc=info",
	[COLLECTOR_Z] = "gc=info,gc+start=info,gc+phases+start=debug,gc+phases=info",
};

/* A thread that leads a collection, and its current phase. Used by the reader thread only. */
static struct driver {
	pid_t tid;
	char name[NAME]; /* "" outside of a phase */
	unsigned int flags;
} drivers[DRIVERS];

static enum collector collector;
static int log_fd = -1; /* -2 when it has ended */
static int reads; /* the reader is in, or about to call, read() */

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

/* The end of a phase has " 12.345ms" or " 64M->38M(96M) 12.345ms" after its name. */
static int is_end(const char *rest)
{
	size_t length = strlen(rest);

	return length > 3 && rest[0] == ' ' && strcmp(rest + length - 2, "ms") == 0;
}

/*
 * Lines of G1 that begin no phase: those of a cycle or a mark as a whole, which enclose phases and
 * pauses, and those that report an event and have no end.
 */
static int g1_is_no_phase(const char *text)
{
	static const char *const prefixes[] = {
		"Concurrent Mark Abort",
		"Concurrent Mark Cycle",
		"Concurrent Mark Restart",
		"Concurrent Undo Cycle",
	};
	size_t n;

	for (n = 0; n < sizeof(prefixes) / sizeof(prefixes[0]); n++)
		if (strncmp(text, prefixes[n], strlen(prefixes[n])) == 0)
			return 1;
	return strcmp(text, "Concurrent Mark") == 0;
}

static void driver_end(struct driver *d, struct gchint_thread *handle)
{
	if (d->name[0])
		gchint_end(handle);
	d->name[0] = '\0';
}

/* @text: the message after "GC(12) " and, in a generational collector, after "Y: " */
static void driver_handle_text(struct driver *d, struct gchint_thread *handle, const char *text)
{
	size_t length = strlen(d->name);

	if (strstr(text, " Collection (")) {
		/*
		 * The log reports a mutator's wait only after it is over, so the cause of
		 * the collection decides whether it is urgent.
		 */
		d->flags = strstr(text, "(Allocation Stall)") ?
				   GCHINT_F_CONCURRENT | GCHINT_F_URGENT :
				   GCHINT_F_CONCURRENT;
		return;
	}
	if (strncmp(text, "Concurrent ", 11) != 0)
		return;
	if (length && strncmp(text, d->name, length) == 0 && is_end(text + length)) {
		driver_end(d, handle);
		return;
	}
	/* Parts of a phase of ZGC, which are logged within it. */
	if (length && collector == COLLECTOR_Z)
		return;
	if (is_end(text + strcspn(text, " "))) {
		/* The end of a cycle also ends a phase whose own end this JVM does not log. */
		if (collector == COLLECTOR_G1 && g1_is_no_phase(text))
			driver_end(d, handle);
		return;
	}
	if (collector == COLLECTOR_G1 && g1_is_no_phase(text))
		return;
	driver_end(d, handle);
	snprintf(d->name, sizeof(d->name), "%s", text);
	gchint_begin(handle, phase_of(text), d->flags);
}

/* The instant of a line that begins with "[1234ns]", which is skipped; else 0. */
static uint64_t line_take_time(char **line)
{
	char *end;
	uint64_t t = strtoull(*line + 1, &end, 10);

	if (strncmp(end, "ns][", 4) != 0)
		return 0;
	*line = end + 3;
	return t;
}

/* "[1234ns][tid][tags] GC(12) text" */
static void line_handle(char *line)
{
	struct gchint_thread *handle;
	struct driver *driver;
	char *end, *text;
	uint64_t t;
	long tid;

	if (line[0] != '[')
		return;
	t = line_take_time(&line);
	tid = strtol(line + 1, &end, 10);
	text = *end == ']' ? strstr(end, "] GC(") : NULL;
	text = text ? strstr(text, ") ") : NULL;
	if (!text)
		return;
	text += 2;
	if (text[0] && text[1] == ':' && text[2] == ' ')
		text += 3;
	if (t)
		heap_handle_text(t, text);
	handle = threads_driver((pid_t)tid);
	driver = handle ? driver_of((pid_t)tid) : NULL;
	if (driver)
		driver_handle_text(driver, handle, text);
}

static void *log_read(void *arg)
{
	char buf[4096], *line, *end;
	size_t kept = 0;
	ssize_t n;

	(void)arg;
	pthread_setname_np(pthread_self(), "gchint log");
	for (;;) {
		__atomic_store_n(&reads, 1, __ATOMIC_RELEASE);
		n = read(log_fd, buf + kept, sizeof(buf) - 1 - kept);
		__atomic_store_n(&reads, 0, __ATOMIC_RELEASE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		kept += (size_t)n;
		buf[kept] = '\0';
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			line_handle(line);
		}
		kept = strlen(line);
		/* Discard a line that is longer than any known message. */
		if (kept == sizeof(buf) - 1)
			kept = 0;
		memmove(buf, line, kept);
	}
	/* The log output was removed: end the phases that are still announced. */
	for (n = 0; n < DRIVERS && drivers[n].tid; n++)
		if (drivers[n].name[0])
			gchint_end(threads_driver(drivers[n].tid));
	close(__atomic_exchange_n(&log_fd, -2, __ATOMIC_RELAXED));
	return NULL;
}

/*
 * Executes a diagnostic command by the method that the management interface itself calls, without
 * creating its MBeans.
 */
static int command_execute(JNIEnv *jni, const char *command)
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
	if (!jni || log_fd != -1 || pipe2(fds, O_CLOEXEC))
		return;
	heap_watch(jni);
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	log_fd = fds[0];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, NULL, log_read, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret) {
		pthread_detach(thread);
		snprintf(
			command, sizeof(command),
			"VM.log output=file=/proc/self/fd/%d what=%s decorators=timenanos,tid,tags",
			fds[1], log_selections[collector]);
		if (command_execute(jni, command))
			fputs("libgchint-jvm.so: neither concurrent phases nor how full the heap "
			      "is: "
			      "this Java has no module jdk.management; add it to the image with "
			      "jlink "
			      "--add-modules\n",
			      stderr);
	} else {
		close(fds[0]);
	}
	/* The JVM has its own descriptor; if it has none, the reader reads the end of file. */
	close(fds[1]);
}

void phases_finish(void)
{
	const struct timespec ms = { 0, 1000000 };
	int fd = __atomic_load_n(&log_fd, __ATOMIC_RELAXED), n, waiting, still = 0;

	/*
	 * Wait until the reader is idle and the pipe empty, twice in a row: between read()
	 * and its store to "reads" the reader may have lines that are not announced yet.
	 */
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
