/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loops at some frequencies of each policy: what computes, what waits for memory. */
#ifndef GCHINTCTL_LOOPS_H
#define GCHINTCTL_LOOPS_H

#include <stdio.h>

#include "../common/root.h"

/**
 * loops_run - time them
 * @root: the machine
 * @f: gets a line a frequency: policy, kHz asked for and as read back (empty: unknown), the
 *	least nanoseconds of a step of each loop
 * @told: called for each policy, with what was wrong or NULL
 * @data: for @told
 *
 * Sets the limits of a policy, which takes the right to, and puts them back. Moves the calling
 * thread, and puts that back too. A signal that child_signals() takes ends it early.
 *
 * Returns the number of policies, 0 where there are none.
 */
unsigned int loops_run(const struct root *root, FILE *f,
		       void (*told)(void *data, const char *policy, const char *mistake),
		       void *data);

#endif
