// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into gchintd: files in a directory that GCHINT_SLOW names take GCHINT_SLOW_MS to read,
 * like a register behind a slow bus.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*pread_fn)(int fd, void *buf, size_t count, off_t offset);

static int is_slow(int fd)
{
	const char *folder = getenv("GCHINT_SLOW");
	char link[64], path[512];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || !folder)
		return 0;
	path[n] = '\0';
	return strstr(path, folder) != NULL;
}

/* Two names of one call; both programs and their libraries may use either. */
__attribute__((visibility("default"))) ssize_t pread(int fd, void *buf, size_t count, off_t offset);
__attribute__((visibility("default"))) ssize_t pread64(int fd, void *buf, size_t count,
						       off_t offset);

static ssize_t read_slowly(const char *name, int fd, void *buf, size_t count, off_t offset)
{
	pread_fn next = (pread_fn)dlsym(RTLD_NEXT, name);
	const char *ms = getenv("GCHINT_SLOW_MS");

	if (is_slow(fd)) {
		long n = ms ? atol(ms) : 100;
		struct timespec ts = { n / 1000, n % 1000 * 1000000 };

		nanosleep(&ts, NULL);
	}
	return next(fd, buf, count, offset);
}

ssize_t pread(int fd, void *buf, size_t count, off_t offset)
{
	return read_slowly("pread", fd, buf, count, offset);
}

ssize_t pread64(int fd, void *buf, size_t count, off_t offset)
{
	return read_slowly("pread64", fd, buf, count, offset);
}
