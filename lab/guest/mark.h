/* SPDX-License-Identifier: MIT */
/*
 * Marks for the timed board: a hint instruction that no program uses and that
 * every processor ignores. The board logs each mark with its modelled time.
 */
#ifndef LAB_MARK_H
#define LAB_MARK_H

#define MARK_BEGIN 0 /* a measured run begins */
#define MARK_END   1 /* a measured run ends */
#define MARK_ARM   3 /* model the caches from here on */
#define MARK_WARM  4 /* the run so far is not measured */
#define MARK_OVER  5 /* the run from here on is not measured, unless this mark comes again */

#if defined(__arm__)
#define MARK(n) __asm__ volatile("dbg %0" : : "i"(n) : "memory")
#else
#define MARK(n)                                                                                    \
	do {                                                                                       \
	} while (0)
#endif

#endif
