/* SPDX-License-Identifier: MIT */
/* Modelled time, and which cores may run; see clock.c. */
#ifndef TIMED_CLOCK_H
#define TIMED_CLOCK_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "timed.h"

extern _Thread_local struct timed_core *clock_self;
struct clock_report {
	uint64_t quanta; /* synchronisations with the clock */
	uint64_t late; /* timers that ran late, and cores that were released after GIVE_UP_MS */
	uint64_t timers; /* expired timers */
	uint64_t worst_ns; /* the longest delay of a timer */
	uint64_t stray; /* of @late, releases while the main loop had not read a notice */
	uint64_t now_ns;
};

/** clock_start() - record the calling thread as QEMU's main thread */
void clock_start(void);
bool clock_is_main(void);
void clock_join(unsigned int cpu);
void clock_pace(struct timed_core *c);
uint64_t clock_read(void);
void clock_signal(const void *cond);
void clock_report(struct clock_report *r);

/* Replacements for the C library calls of QEMU that shim.c intercepts. */
int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
ssize_t clock_notify(int fd, const void *value, size_t size);
int clock_poll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

#endif
