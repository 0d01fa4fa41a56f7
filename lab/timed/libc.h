/* SPDX-License-Identifier: MIT */
/* The C library's own functions, which shim.c intercepts. */
#ifndef TIMED_LIBC_H
#define TIMED_LIBC_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

extern int (*real_clock_gettime)(clockid_t, struct timespec *);
extern int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
extern ssize_t (*real_write)(int, const void *, size_t);
extern int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
extern int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
extern int (*real_cond_broadcast)(pthread_cond_t *);

/** libc_bind() - resolve the functions; for calls before this library's constructors run */
void libc_bind(void);

#endif
