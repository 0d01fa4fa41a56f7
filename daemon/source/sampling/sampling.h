/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples a thread: a perf event, of cycles where the machine counts them, else of the
 * clock; or, where no event is allowed, a timer of the thread's own CPU time.
 */
#ifndef SOURCE_SAMPLING_H
#define SOURCE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct sampling - what this machine lets us sample
 * @type: of the event
 * @config: of the event, as its type defines
 * @hz: samples a second of CPU time
 * @in_kernel: samples include kernel code
 * @timers: no event: threads sample themselves, without call chains
 */
struct sampling {
	uint32_t type;
	uint64_t config;
	uint32_t hz;
	bool in_kernel;
	bool timers;
};

/* Of a call chain, from the innermost: the kernel takes no more by default. */
#define SAMPLING_FRAMES 127

/* Chooses the best event that can be opened; 0 or -errno. */
int sampling_choose(struct sampling *s);
/*
 * Opens a disabled event on a thread; a descriptor or -errno. @chain: samples with call
 * chains are written into the event's own ring, once it is mapped.
 */
int sampling_open(const struct sampling *s, int32_t tid, bool chain);
/* Asks a thread of a program with GCHINT_STREAM_TIMERS for @hz samples a second; 0 ends it. */
int sampling_ask(int32_t pid, int32_t tid, uint32_t hz);
/* At most @hz: a thread's timer expires in the kernel's tick. */
uint32_t sampling_timer_hz(uint32_t hz);

#endif
