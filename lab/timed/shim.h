/* SPDX-License-Identifier: MIT */
/* The C library's own calls, and what replaces them. */
#ifndef TIMED_SHIM_H
#define TIMED_SHIM_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

extern int (*real_clock_gettime)(clockid_t, struct timespec *);
extern int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern ssize_t (*real_write)(int, const void *, size_t);
extern int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

extern int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
extern int (*real_cond_broadcast)(pthread_cond_t *);

bool shim_is_main(void);
void shim_start(void);

int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
ssize_t clock_notify(int fd, const void *value, size_t size);
int clock_poll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

#endif
