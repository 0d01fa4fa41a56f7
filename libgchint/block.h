/* SPDX-License-Identifier: MIT */
/* Slot blocks: the leases of threads, GCHINT_SLOTS to a block. */
#ifndef GCHINT_BLOCK_H
#define GCHINT_BLOCK_H

#include "page.h"

/**
 * block_add() - add slot block number @n, counted from 1; those before it exist already
 *
 * Async-signal-safe.
 *
 * Return: 0 or -errno.
 */
int block_add(struct gchint_session *s, unsigned int n);

/** block_clear() - reset @block to a block without slots and without a device. */
void block_clear(struct slot_block *block);

/**
 * blocks_open() - reopen the slot blocks of an earlier session for this one
 *
 * They were kept because handles point into them. No thread may be attaching meanwhile.
 */
void blocks_open(struct gchint_session *s);

#endif /* GCHINT_BLOCK_H */
