// SPDX-License-Identifier: MIT
/*
 * The fake device for LD_PRELOAD, for programs that use the shared library. At exit it
 * writes what it saw to the file FAKE_REPORT.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakedev.h"

int preload_open(const char *path, int flags, ...);
int preload_ioctl(int fd, unsigned long request, ...);
int preload_close(int fd);
int preload_fstat(int fd, struct stat *st);
void *preload_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

int preload_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int preload_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	long arg;

	va_start(args, request);
	arg = va_arg(args, long);
	va_end(args);
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* Not fstat(2): on some machines glibc uses a structure of its own. */
int preload_fstat(int fd, struct stat *st)
{
	return fstatat(fd, "", st, AT_EMPTY_PATH);
}

int preload_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

void *preload_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
}

__attribute__((constructor(101))) static void begin(void)
{
	/* Another constructor may have opened the device before. */
	if (!fake_info())
		fake_reset();
	if (getenv("FAKE_SESSIONS"))
		fake.sessions = atoi(getenv("FAKE_SESSIONS"));
	if (getenv("FAKE_BELL")) {
		fake_info()->doorbell_begin = ~0u;
		fake_info()->doorbell_end = ~0u;
	}
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("FAKE_REPORT");
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (!f)
		return;
	fprintf(f, "pid=%d opens=%d attaches=%d detaches=%d rings=%d stale=%d\n", getpid(),
		fake.opens, fake.attaches, fake.detaches, fake.ring_count, fake.stale);
	fclose(f);
}
