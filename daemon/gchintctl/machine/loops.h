/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times two loops at some frequencies of each policy: one computes, one waits for memory. */
#ifndef GCHINTCTL_LOOPS_H
#define GCHINTCTL_LOOPS_H

#include <stdio.h>

#include "../../common/root.h"

/**
 * loops_run - time the loops
 * @root: the machine
 * @f: receives a line per frequency: policy, kHz requested and as read back (empty: unknown),
 *	least nanoseconds per step of each loop
 * @report: called for each policy, with its error message or NULL
 * @data: passed to @report
 *
 * Sets the limits of each policy, which takes privilege, and restores them. Moves the calling
 * thread to each policy's CPU and restores its affinity. A signal that child_signals() catches
 * ends the run early.
 *
 * Returns the number of policies, 0 where there are none.
 */
unsigned int loops_run(const struct root *root, FILE *f,
		       void (*report)(void *data, const char *policy, const char *mistake),
		       void *data);

#endif
