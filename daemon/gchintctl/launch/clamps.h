/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Utilisation clamps, through which libgchint can apply hints: GCHINT_HINTS=clamp. */
#ifndef GCHINTCTL_CLAMPS_H
#define GCHINTCTL_CLAMPS_H

/**
 * clamps_missing - why a process cannot clamp its threads here
 *
 * As a trial, sets the calling thread's clamp to the value that it has. Returns NULL if that works,
 * else the reason and a remedy.
 */
const char *clamps_missing(void);

#endif
