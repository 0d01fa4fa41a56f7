/* SPDX-License-Identifier: MIT */
/* The leases of threads, sixty-four by sixty-four. */
#ifndef GCHINT_BANK_H
#define GCHINT_BANK_H

#include "page.h"

/**
 * bank_add() - make the one of number @n, from 1, after all before it
 *
 * Async-signal-safe.
 *
 * Return: 0 or -errno.
 */
int bank_add(struct gchint_session *s, unsigned int n);

/** bank_clear() - it leases nothing, and has no device. */
void bank_clear(struct bank *bank);

/**
 * banks_open() - give those of an earlier session to this one
 *
 * Handles point into them, so they were kept. Nobody may be attaching.
 */
void banks_open(struct gchint_session *s);

#endif /* GCHINT_BANK_H */
