// SPDX-License-Identifier: MIT
/* The C library's own functions, which shim.c intercepts. */
#include "libc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int (*real_clock_gettime)(clockid_t, struct timespec *);
int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
ssize_t (*real_write)(int, const void *, size_t);
int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
int (*real_cond_broadcast)(pthread_cond_t *);

/* glibc keeps an old variant of the condition calls under the same name. */
static void *cond_resolve(const char *name)
{
	void *f = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return f ? f : dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) void libc_bind(void)
{
	*(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	*(void **)&real_ppoll = dlsym(RTLD_NEXT, "ppoll");
	*(void **)&real_write = dlsym(RTLD_NEXT, "write");
	*(void **)&real_cond_wait = cond_resolve("pthread_cond_wait");
	*(void **)&real_cond_timedwait = cond_resolve("pthread_cond_timedwait");
	*(void **)&real_cond_broadcast = cond_resolve("pthread_cond_broadcast");
	if (!real_clock_gettime || !real_ppoll || !real_write || !real_cond_wait ||
	    !real_cond_timedwait || !real_cond_broadcast) {
		static const char text[] = "timed: this C library lacks a call\n";

		fputs(text, stderr);
		abort();
	}
}
