// SPDX-License-Identifier: MIT
/* Utilisation clamps of the process's own threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clamp.h"
#include "owner.h"
#include "record.h"
#include "slot.h"

/*
 * struct sched_attr of sched_setattr(2) as of Linux 5.3, which introduced clamps. It is
 * declared here under another name because older C libraries lack it and newer ones
 * declare it in different headers.
 */
struct clamp_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min;
	uint32_t util_max;
};

#define KEEP_POLICY    0x08
#define KEEP_PARAMS    0x10
#define UTIL_CLAMP_MAX 0x40
#define UTIL_FULL      1024
#define UTIL_DEFAULT   UINT32_MAX /* resets it as if never set; since Linux 5.11 */

#define PERCENT 50 /* of a CPU, where all are equal */

#define CPUS	 "/sys/devices/system/cpu/"
#define CPUS_MAX 4096

static int clamp_read(pid_t tid, uint32_t *max)
{
	struct clamp_attr a;

	memset(&a, 0, sizeof(a));
	if (syscall(SYS_sched_getattr, tid, &a, (unsigned int)sizeof(a), 0) != 0)
		return -errno;
	/* Kernels older than 5.3 fill in a shorter structure. */
	if (a.size < sizeof(a) || a.util_max > UTIL_FULL)
		return -EINVAL;
	*max = a.util_max;
	return 0;
}

static int clamp_write(pid_t tid, uint32_t max)
{
	struct clamp_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.flags = KEEP_POLICY | KEEP_PARAMS | UTIL_CLAMP_MAX;
	a.util_max = max;
	return syscall(SYS_sched_setattr, tid, &a, 0) == 0 ? 0 : -errno;
}

/*
 * Write back @found, which was read before. The kernel distinguishes an upper clamp of
 * 1024 that was set from one that was never set, but reports both as 1024. Assume that it
 * was never set, which is nearly always true.
 */
static int clamp_put_back(pid_t tid, uint32_t found)
{
	int ret = found == UTIL_FULL ? clamp_write(tid, UTIL_DEFAULT) : -EINVAL;

	return ret == -EINVAL ? clamp_write(tid, found) : ret;
}

/*
 * pthread_atfork() of glibc is linked into each library, and calls a function that musl does not
 * have: musl ends a program that preloads a library with such a reference.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library);
#pragma weak __register_atfork
#pragma weak pthread_atfork

/* Note the thread id of the forking thread: the child has another one and has to find it. */
static void fork_prepare(void)
{
	if (!__gchint_self.index)
		__gchint_self.tid = (pid_t)syscall(SYS_gettid);
}

static void fork_child(void)
{
	struct gchint_session *s = &gchint_page.session;
	int saved = errno;

	if (s->refs && !owner_is_caller(s))
		clamp_forked(s);
	errno = saved;
}

static int fork_watch(void)
{
	if (__register_atfork)
		return __register_atfork(fork_prepare, NULL, fork_child, NULL);
	return pthread_atfork ? pthread_atfork(fork_prepare, NULL, fork_child) : ENOSYS;
}

/* The first bytes of a file, as a string. */
static int file_get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? 0 : -ENOENT;
}

/* The number that ends at @end, and where it begins. */
static unsigned int number_before(const char *text, const char **end)
{
	unsigned int number = 0, scale = 1;

	while (*end > text && (*end)[-1] >= '0' && (*end)[-1] <= '9') {
		number += (unsigned int)(*--*end - '0') * scale;
		scale *= 10;
	}
	return number;
}

/* The highest number that a CPU may have: the end of a list such as "0-3,8". */
static unsigned int cpu_last(void)
{
	char text[256];
	const char *end;
	unsigned int last;

	if (file_get(CPUS "possible", text, sizeof(text)))
		return 0;
	end = text + strlen(text);
	while (end > text && end[-1] == '\n')
		end--;
	last = number_before(text, &end);
	return last < CPUS_MAX ? last : CPUS_MAX;
}

/* Of one CPU at its highest frequency, of 1024; 0 where the kernel does not say. */
static unsigned int cpu_capacity(unsigned int cpu)
{
	char path[sizeof(CPUS "cpu0000/cpu_capacity")] = CPUS "cpu", digits[4], text[16];
	size_t length = strlen(path), n = 0;
	const char *end;

	do {
		digits[n++] = (char)('0' + cpu % 10);
		cpu /= 10;
	} while (cpu);
	while (n)
		path[length++] = digits[--n];
	memcpy(path + length, "/cpu_capacity", sizeof("/cpu_capacity"));
	if (file_get(path, text, sizeof(text)))
		return 0;
	for (end = text; *end >= '0' && *end <= '9'; end++)
		;
	return number_before(text, &end);
}

/* The utilisation that fits the least capable CPU. */
static uint16_t clamp_fitting(void)
{
	unsigned int least = cpu_capacity(0), most = least, cpu, last, capacity;

	/* Either each CPU has the file, or none. */
	last = least ? cpu_last() : 0;
	for (cpu = 1; cpu <= last; cpu++) {
		capacity = cpu_capacity(cpu);
		if (capacity && capacity < least)
			least = capacity;
		if (capacity > most)
			most = capacity;
	}
	if (least == most)
		return PERCENT * UTIL_FULL / 100;
	/* fits_capacity() of the scheduler: a fifth of the CPU has to be left over. */
	capacity = (least * 1024 - 1) / 1280;
	return (uint16_t)(capacity ? capacity : 1);
}

int clamp_open(struct gchint_session *s, long percent)
{
	uint32_t max;
	int ret = clamp_read(0, &max);

	/* Write the value that was read, to test permission without changing anything. */
	if (!ret)
		ret = clamp_put_back(0, max);
	if (ret)
		return ret;
	if (percent == CLAMP_FITTING)
		s->clamp = clamp_fitting();
	else
		s->clamp = (uint16_t)(percent * UTIL_FULL / 100);
	s->found = (uint16_t)max;
	s->clamped = 0;
	/* The library is never unloaded, so once for the process is enough. */
	if (!s->fork_handled && !fork_watch())
		s->fork_handled = 1;
	return 0;
}

int clamp_late(uint64_t stall_ns)
{
	struct timespec ts;

	if (!stall_ns)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec >= stall_ns;
}

int clamp_wanted(uint32_t word)
{
	uint32_t flags = flags_of(word);

	/* The ABI says which flag decides. */
	return flags & GCHINT_F_CONCURRENT &&
	       !(flags & (GCHINT_F_URGENT | GCHINT_F_STW | GCHINT_F_FOREGROUND));
}

static void clamp_set(struct gchint_session *s, struct record *r)
{
	uint32_t found;

	if (record_flags(r) & RECORD_CAPPED)
		return;
	if (!thread_lives(r->handle.tid))
		return;
	/* A thread that the administrator caps lower stays there. */
	if (clamp_read(r->handle.tid, &found) || found <= s->clamp)
		return;
	r->prior = found & 0x7ff;
	/* Before the first cap: a thread that inherits a cap checks this flag. */
	store_relaxed(&s->clamped, 1);
	if (clamp_write(r->handle.tid, s->clamp))
		return;
	/* It ended after it was checked, and its number was given to another process. */
	if (!thread_lives(r->handle.tid)) {
		clamp_put_back(r->handle.tid, found);
		return;
	}
	record_set_flags(r, RECORD_CAPPED);
	/* Partner: session_close(), which changes the backend and then restores all clamps. */
	if (load_seq(&s->backend) != GCHINT_BACKEND_CLAMP)
		clamp_restore(s, r);
}

void clamp_restore(const struct gchint_session *s, struct record *r)
{
	uint32_t max;

	if (!record_take_flags(r, RECORD_CAPPED))
		return;
	if (!thread_lives(r->handle.tid))
		return;
	/* A clamp set from outside wins. No system call compares and sets in one step. */
	if (!clamp_read(r->handle.tid, &max) && max == s->clamp)
		clamp_put_back(r->handle.tid, r->prior);
}

void clamp_apply(struct gchint_session *s, struct record *r, int capped)
{
	if (capped)
		clamp_set(s, r);
	else
		clamp_restore(s, r);
}

int clamp_standing(const struct record *r)
{
	return !!(record_flags(r) & RECORD_CAP);
}

void clamp_role(struct gchint_session *s, struct record *r, unsigned int role)
{
	if (role == GCHINT_ROLE_CONCURRENT || role == GCHINT_ROLE_BACKGROUND)
		record_set_flags(r, RECORD_CAP);
	else
		record_clear_flags(r, RECORD_CAP);
	/* An open phase takes precedence; when it ends, the role applies. */
	if (!r->since[0] && !phase_of(load_relaxed(&r->word)))
		clamp_apply(s, r, clamp_standing(r));
}

/*
 * The kernel copies clamps to new threads. A thread that has our cap and was never capped
 * by us inherited it from its creator, unless the program itself had set the same clamp.
 */
static void clamp_disown(const struct gchint_session *s, pid_t tid)
{
	uint32_t max;

	if (load_relaxed(&s->clamped) && s->found > s->clamp && !clamp_read(tid, &max) &&
	    max == s->clamp)
		clamp_put_back(tid, s->found);
}

struct clamp_entry { /* struct linux_dirent64, which C libraries declare differently */
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Count the threads that have the cap. None is capped by us any more. */
static unsigned int clamp_count(const struct gchint_session *s)
{
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct clamp_entry) char entries[1024];
	const struct clamp_entry *entry;
	unsigned int count = 0;
	const char *end;
	long size, at;
	uint32_t max;
	pid_t tid;

	if (fd < 0)
		return 0;
	while ((size = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (at = 0; at < size; at += entry->length) {
			entry = (const struct clamp_entry *)(const void *)(entries + at);
			end = entry->name + strlen(entry->name);
			tid = (pid_t)number_before(entry->name, &end);
			if (tid && !clamp_read(tid, &max) && max == s->clamp)
				count++;
		}
	}
	close(fd);
	return count;
}

static size_t text_append(char *line, size_t length, const char *text)
{
	memcpy(line + length, text, strlen(text));
	return length + strlen(text);
}

static size_t number_append(char *line, size_t length, unsigned int number)
{
	char digits[10];
	unsigned int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		line[length++] = digits[--n];
	return length;
}

static void clamp_report(struct gchint_session *s, unsigned int threads)
{
	char line[240];
	size_t length = text_append(line, 0, "libgchint: clamps: ");

	if (s->reported)
		return;
	s->reported = 1;
	if (threads) {
		length = text_append(line, length,
				     "threads that never hint keep the cap that they "
				     "inherited: ");
		length = number_append(line, length, threads);
		length = text_append(line, length, ", at ");
	} else {
		length = text_append(line, length,
				     "the program keeps the cap that it was started "
				     "with, or inherited in a capped phase: ");
	}
	length = number_append(line, length, s->clamp);
	length = text_append(line, length, " of 1024\n");
	/* Nothing can be done if standard error is not writable. */
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}

void clamp_report_program(struct gchint_session *s)
{
	if (backend_of(s) == GCHINT_BACKEND_CLAMP && s->found == s->clamp)
		clamp_report(s, 0);
}

void clamp_report_threads(struct gchint_session *s)
{
	unsigned int threads;

	/* Otherwise the cap need not be ours. */
	if (!load_relaxed(&s->clamped) || s->found <= s->clamp || s->reported)
		return;
	threads = clamp_count(s);
	if (threads)
		clamp_report(s, threads);
}

void clamp_attach(struct gchint_session *s, struct record *r)
{
	clamp_disown(s, r->handle.tid);
}

void clamp_forked(struct gchint_session *s)
{
	struct record *r, *mine = NULL;
	unsigned int n;

	if (backend_of(s) != GCHINT_BACKEND_CLAMP)
		return;
	for_each_record(r, n)
	{
		if (record_flags(r) & RECORD_USED &&
		    load_relaxed(&r->handle.tid) == __gchint_self.tid)
			mine = r;
	}
	if (mine) {
		store_relaxed(&mine->handle.tid, (pid_t)syscall(SYS_gettid));
		clamp_restore(s, mine);
	} else {
		clamp_disown(s, 0);
	}
}
