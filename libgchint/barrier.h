/* SPDX-License-Identifier: MIT */
/*
 * All memory ordering of the library. The partner of these accesses is the kernel, which
 * reads slots in kmod/model/snapshot.c and writes the information page.
 */
#ifndef GCHINT_BARRIER_H
#define GCHINT_BARRIER_H

#include <stdint.h>
#include <linux/types.h>

/* One access without ordering, for a word that the kernel or another thread accesses too. */
#define load_relaxed(p)	    __atomic_load_n(p, __ATOMIC_RELAXED)
#define store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define load_acquire(p)	    __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define add_fetch_seq(p, v) __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST)
#define exchange_seq(p, v)  __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define load_seq(p)	    __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define cmpxchg_seq(p, old, v)                                                                     \
	__atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

/*
 * After the state word with GCHINT_STATE_WRITING, before the details: a reader
 * that sees one of the details sees that the word has changed. Partner: the read
 * barrier between the details and the second read of the state.
 */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Between the data that the generation guards and the second read of the generation. */
#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)

/*
 * A 64-bit detail. Without a 64-bit store it can tear; the reader then sees from the
 * sequence number that it has to discard the value.
 */
static inline void store_detail(__u64 *p, uint64_t v)
{
#if __SIZEOF_POINTER__ >= 8
	store_relaxed(p, v);
#else
	*(volatile __u64 *)p = v;
#endif
}

#endif /* GCHINT_BARRIER_H */
