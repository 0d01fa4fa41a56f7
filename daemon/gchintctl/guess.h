/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody may have meant. Pure. */
#ifndef GCHINTCTL_GUESS_H
#define GCHINTCTL_GUESS_H

#include <stddef.h>

/**
 * guess_distance - how many letters to put in, leave out, change or swap with the next
 * @a: a word
 * @b: another
 *
 * Returns it, by optimal string alignment; words over 31 letters count as far apart.
 */
size_t guess_distance(const char *a, const char *b);

/* Near enough to be asked for: a third of its letters at most, or the begin of it. */
int guess_likely(const char *typed, const char *name);

#endif
