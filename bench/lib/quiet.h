/* SPDX-License-Identifier: MIT */
/**
 * DOC: Was the machine quiet?
 *
 * A timing counts only while other processes use almost no CPU time. The guard compares
 * the busy time of the machine (/proc/stat) with the CPU time of this process and of its
 * children that were waited for.
 */
#ifndef BENCH_QUIET_H
#define BENCH_QUIET_H

#include <stdbool.h>

#define QUIET_LIMIT 0.12 /* cores that others may take */

/** struct quiet - a reading; times in seconds */
struct quiet {
	double wall, busy, own;
};

/** quiet_begin() - read the clocks. Return: 0 or a negative errno (no /proc). */
int quiet_begin(struct quiet *q);

/**
 * quiet_end() - cores that others kept busy since quiet_begin()
 *
 * This is a lower bound: ticks of 10 ms hide smaller amounts, which matters for short runs
 * (in 0.1 s a fifth of a core may stay hidden). Children still running count as others. Return:
 * cores, or NAN without /proc.
 */
double quiet_end(const struct quiet *q);

/** quiet_ok() - is a run valid during which other processes used @cores? */
static inline bool quiet_ok(double cores)
{
	return cores < QUIET_LIMIT;
}

#endif
