/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggestions for mistyped words. Pure. */
#ifndef GCHINTCTL_GUESS_H
#define GCHINTCTL_GUESS_H

#include <stddef.h>

/**
 * guess_distance - number of letters to insert, delete, change or swap with the next one
 * @a: a word
 * @b: another
 *
 * Returns the optimal string alignment distance; SIZE_MAX for words over 31 letters.
 */
size_t guess_distance(const char *a, const char *b);

/* True if @typed begins @name, or differs from it in at most a third of its letters. */
int guess_likely(const char *typed, const char *name);

#endif
