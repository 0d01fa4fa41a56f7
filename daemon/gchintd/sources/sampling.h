/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The perf event that samples a thread: cycles where the machine counts them, else the clock. */
#ifndef GCHINTD_SAMPLING_H
#define GCHINTD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct sampling - what this machine lets us sample
 * @type: of the event
 * @config: likewise
 * @hz: samples a second of CPU time
 * @in_kernel: with what runs in the kernel
 */
struct sampling {
	uint32_t type;
	uint64_t config;
	uint32_t hz;
	bool in_kernel;
};

#define SAMPLING_FRAMES 16 /* of a call chain, from the innermost */

/* The best that there is; 0 or -errno. */
int sampling_choose(struct sampling *s);
/*
 * A descriptor of a new event on a thread, which does not count yet, or -errno. @chain: it
 * writes samples, with call chains, into the ring of who maps it.
 */
int sampling_open(const struct sampling *s, int32_t tid, bool chain);

#endif
