/* SPDX-License-Identifier: MIT */
#ifndef GC_FUTEX_H
#define GC_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while *word is @value; may return early. */
static inline void gc_futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* The same, for at most @ts. */
static inline void gc_futex_wait_for(uint32_t *word, uint32_t value, const struct timespec *ts)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ts, NULL, 0);
}

static inline void gc_futex_wake(uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif
