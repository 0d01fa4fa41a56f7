/* SPDX-License-Identifier: MIT */
/*
 * Memory ordering, all of it. The partner of what is written here is the kernel,
 * which reads slots in kmod/policy/snapshot.c and writes the information page.
 */
#ifndef GCHINT_BARRIER_H
#define GCHINT_BARRIER_H

#include <stdint.h>
#include <linux/types.h>

/* One access, no order: a word that somebody else reads or writes. */
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
 * barrier between the details and the second look at the state.
 */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Between what the generation guards and the second look at it. */
#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)

/*
 * A 64-bit detail. Where the machine has no 64-bit store it tears, and the
 * sequence says so.
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
