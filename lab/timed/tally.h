/* SPDX-License-Identifier: MIT */
/* How many instructions a core has executed, as QEMU counts them in line. */
#ifndef TIMED_TALLY_H
#define TIMED_TALLY_H

#include "qemu-plugin-api.h"
#include "timed.h"

/* The counter that each block of instructions adds to. */
extern qemu_plugin_u64 tally_insns;

/** tally_init() - 0, or -1 without memory */
int tally_init(void);

/** tally_now() - the core's own time now, ns; all that it executed is charged. Only in its own thread. */
uint64_t tally_now(struct timed_core *c);

/** tally_begin() - likewise, and the next chunk of instructions begins. */
void tally_begin(struct timed_core *c);

/**
 * tally_wake() - the core needs @ns before its first instruction
 *
 * That passes in steps, at its next block: here QEMU holds a lock that others need to
 * get on with theirs.
 */
void tally_wake(struct timed_core *c, double ns);

#endif
