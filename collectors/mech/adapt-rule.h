/* SPDX-License-Identifier: MIT */
/*
 * policy=adaptive as pure functions: what the Dalvik seed proposes in section 6 and did
 * not build. "Extending the VM to dynamically enable/disable the GC daemon to balance
 * between synchronization overhead and the mutator utilization", and heap growth
 * "integrated with DVFS decisions".
 */
#ifndef GC_ADAPT_RULE_H
#define GC_ADAPT_RULE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gc_adapt_in - one window of some cycles
 * @daemon_on: whether the daemon served the window
 * @utilisation: share of the mutators' time in which they ran, 0..1
 * @sync: share of the window spent on synchronisation: waiting for the heap lock, for
 *	  safepoints, for the daemon's cycle; 0..1 and above
 * @score: smoothed utilisation less sync of windows without and with daemon, below -1
 *	   unknown
 * @windows: since the last switch
 */
struct gc_adapt_in {
	bool daemon_on;
	double utilisation, sync;
	double score[2];
	unsigned int windows;
};

/* Folds the window into @in->score and says whether the daemon should serve the next. */
bool gc_adapt_daemon(struct gc_adapt_in *in);

/**
 * gc_adapt_room() - bytes to grow by instead of collecting now
 * @effective_khz, @highest_khz: of the CPU; 0 unknown
 * @room: bytes between live and soft limit that the sizing rule gave
 * @grown: bytes grown since the last collection
 * @left: bytes up to max=
 *
 * Collecting is memory-bound: at a low frequency it costs little energy, at the highest
 * it burns power waiting for memory. So the heap grows only while the CPU runs fast, and
 * by no more than another room. Unknown frequency: 0, collect.
 */
uint64_t gc_adapt_room(uint32_t effective_khz, uint32_t highest_khz, uint64_t room, uint64_t grown,
		       uint64_t left);

#endif
