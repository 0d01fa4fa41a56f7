/* SPDX-License-Identifier: MIT */
/* Instruction counts of the cores, which QEMU's plugin interface updates inline. */
#ifndef TIMED_INSNS_H
#define TIMED_INSNS_H

#include "qemu-plugin-api.h"
#include "timed.h"

/* The counter that each block of instructions adds to. */
extern qemu_plugin_u64 insns_score;

/** insns_init() - allocate the counters; -1 if memory is short */
int insns_init(void);

/**
 * insns_now() - the core's own time, ns, with all executed instructions charged
 *
 * To be called on the core's own thread only.
 */
uint64_t insns_now(struct timed_core *c);

/** insns_begin() - charge all executed instructions, and begin the next chunk */
void insns_begin(struct timed_core *c);

/**
 * insns_wake() - charge @ns before the core's next instruction
 *
 * The time passes in steps, at the core's next block. It cannot pass here, because QEMU holds a
 * lock that the other cores need to make progress.
 */
void insns_wake(struct timed_core *c, double ns);

#endif
