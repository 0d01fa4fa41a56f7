// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into gchintd and gchintctl: counters of perf's PMUs, which no test machine has. Counter
 * 1 of the PMU of type 21 on CPU 4 is the number in $GCHINT_POWER/21-1-4; a missing file is a
 * missing counter, an unreadable one is not permitted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t (*read_fn)(int fd, void *buf, size_t count);
typedef long (*syscall_fn)(long number, ...);

__attribute__((visibility("default"))) ssize_t read(int fd, void *buf, size_t count);
__attribute__((visibility("default"))) long syscall(long number, ...);

static int is_counter(int fd)
{
	const char *folder = getenv("GCHINT_POWER");
	char link[64], path[512];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = folder ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n <= 0)
		return 0;
	path[n] = '\0';
	return !strncmp(path, folder, strlen(folder)) && path[strlen(folder)] == '/';
}

ssize_t read(int fd, void *buf, size_t count)
{
	read_fn next = (read_fn)dlsym(RTLD_NEXT, "read");
	char text[64];
	uint64_t value;
	ssize_t n;

	if (count != sizeof(value) || !is_counter(fd))
		return next(fd, buf, count);
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return n;
	text[n] = '\0';
	value = strtoull(text, NULL, 0);
	memcpy(buf, &value, sizeof(value));
	return sizeof(value);
}

static int counter_open(const struct perf_event_attr *attr, int cpu)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%u-%" PRIu64 "-%d", getenv("GCHINT_POWER"), attr->type,
		 (uint64_t)attr->config, cpu);
	return open(path, O_RDONLY | O_CLOEXEC);
}

long syscall(long number, ...)
{
	syscall_fn next = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_perf_event_open && getenv("GCHINT_POWER"))
		return counter_open((const struct perf_event_attr *)arg[0], (int)arg[2]);
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
