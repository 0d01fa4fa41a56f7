/* SPDX-License-Identifier: MIT */
/*
 * Marks for the timed board: a hint instruction that no program uses and that
 * any processor ignores. The board logs each with its modelled time.
 */
#ifndef LAB_MARK_H
#define LAB_MARK_H

#define MARK_BEGIN 0 /* a measured run begins */
#define MARK_END   1 /* and ends */
#define MARK_SYNC  2 /* the guest has just read CLOCK_MONOTONIC */
#define MARK_ARM   3 /* model the caches from here on */
#define MARK_WARM  4 /* what the run did so far does not count */
#define MARK_OVER  5 /* nor does what it does from here on, unless this comes again */

#if defined(__arm__)
#define MARK(n) __asm__ volatile("dbg %0" : : "i"(n) : "memory")
#else
#define MARK(n)                                                                                    \
	do {                                                                                       \
	} while (0)
#endif

#endif
