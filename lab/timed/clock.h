/* SPDX-License-Identifier: MIT */
/* Modelled time: clock.c. */
#ifndef TIMED_CLOCK_H
#define TIMED_CLOCK_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "timed.h"

extern _Thread_local struct timed_core *clock_self;
struct clock_report {
	uint64_t quanta; /* looks at the clock */
	uint64_t late; /* of those, a timer was late or a hold gave up */
	uint64_t timers; /* timers that fell due */
	uint64_t worst_ns; /* the latest timer */
	uint64_t stray; /* notices that nobody listened to */
	uint64_t now_ns;
};

/** clock_start() - this thread is QEMU's main one */
void clock_start(void);
bool clock_is_main(void);
void clock_join(unsigned int cpu);
void clock_pace(struct timed_core *c);
uint64_t clock_read(void);
void clock_signal(const void *cond);
void clock_report(struct clock_report *r);

/* What the shim puts in the place of QEMU's own calls. */
int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
ssize_t clock_notify(int fd, const void *value, size_t size);
int clock_poll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

#endif
