// SPDX-License-Identifier: MIT
/*
 * Intercepts QEMU's calls to the C library (LD_PRELOAD): time is modelled time, and clock.c
 * tracks which threads sleep. Until the plugin is installed, and in programs other than QEMU, all
 * calls pass through.
 */
#include "shim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "libc.h"

#define EXPORT __attribute__((visibility("default")))

static bool started;
static struct timespec epoch; /* host time at the start: zero of modelled time */

void shim_start(void)
{
	clock_start();
	real_clock_gettime(CLOCK_MONOTONIC, &epoch);
	started = true;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns;

	if (!real_clock_gettime)
		libc_bind();
	if (!started || id != CLOCK_MONOTONIC)
		return real_clock_gettime(id, ts);
	ns = clock_read() + (uint64_t)epoch.tv_nsec;
	ts->tv_sec = epoch.tv_sec + (time_t)(ns / 1000000000u);
	ts->tv_nsec = (long)(ns % 1000000000u);
	return 0;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	if (!started || !clock_is_main())
		return real_ppoll(fds, n, timeout, mask);
	return clock_poll(fds, n, timeout, mask);
}

/* Only eventfds wake the main loop. The result is cached for each descriptor. */
static bool fd_is_eventfd(int fd)
{
	static _Atomic signed char known[256]; /* 0 unknown, 1 yes, -1 no */
	char path[32], target[64];
	ssize_t n;

	if (fd < 0 || fd >= 256)
		return false;
	if (!known[fd]) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		known[fd] = strcmp(target, "anon_inode:[eventfd]") ? -1 : 1;
	}
	return known[fd] == 1;
}

EXPORT ssize_t write(int fd, const void *from, size_t size)
{
	if (!real_write)
		libc_bind();
	if (clock_self && size == sizeof(uint64_t) && fd_is_eventfd(fd))
		return clock_notify(fd, from, size);
	return real_write(fd, from, size);
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!started || (!clock_self && !clock_is_main()))
		return real_cond_wait(cond, mutex);
	return clock_wait(cond, mutex);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (!real_cond_broadcast)
		libc_bind();
	if (started)
		clock_signal(cond);
	return real_cond_broadcast(cond);
}

/* clock_signal() counts all waiters as woken, so all of them must be woken. */
EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	return pthread_cond_broadcast(cond);
}
