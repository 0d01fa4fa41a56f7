/* SPDX-License-Identifier: MIT */
/* Slot blocks: the leases of threads, GCHINT_SLOTS to a block. */
#ifndef GCHINT_BANK_H
#define GCHINT_BANK_H

#include "page.h"

/**
 * bank_add() - add slot block number @n, counted from 1; those before it exist already
 *
 * Async-signal-safe.
 *
 * Return: 0 or -errno.
 */
int bank_add(struct gchint_session *s, unsigned int n);

/** bank_clear() - reset @bank to a block without slots and without a device. */
void bank_clear(struct bank *bank);

/**
 * banks_open() - reopen the slot blocks of an earlier session for this one
 *
 * They were kept because handles point into them. No thread may be attaching meanwhile.
 */
void banks_open(struct gchint_session *s);

#endif /* GCHINT_BANK_H */
