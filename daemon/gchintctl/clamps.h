/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Utilisation clamps, by which libgchint lets hints act: GCHINT_HINTS=clamp. */
#ifndef GCHINTCTL_CLAMPS_H
#define GCHINTCTL_CLAMPS_H

/**
 * clamps_missing - why a process cannot clamp its threads here
 *
 * Tries it on the caller, with the clamp that it has. Returns NULL where it works, else the
 * reason and the remedy.
 */
const char *clamps_missing(void);

#endif
