/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest pauses of a run, and what they ran at: of the whole program, and of a thread
 * that waits for others to collect.
 */
#ifndef GCHINTCTL_PAUSES_H
#define GCHINTCTL_PAUSES_H

#include "run.h"

#define PAUSE_BESIDE 4

/**
 * struct pause - one of them
 * @phase: it
 * @awaited: of a wait, what another thread of the process collects meanwhile, for the
 *	longest; NULL where none was seen, and of a pause that is no wait
 * @khz: mean frequency of its CPU meanwhile, by time, of a wait that of @awaited's; 0 not
 *	known
 * @top_khz: the highest of that CPU's policy; 0 not known
 * @comm: its thread's name; "" not known
 * @beside: kinds of phase of other threads that overlap it, each once
 * @besides: how many of @beside are set
 */
struct pause {
	const struct run_phase *phase, *awaited;
	double khz;
	uint32_t top_khz;
	char comm[32];
	uint16_t beside[PAUSE_BESIDE];
	size_t besides;
};

/** struct pauses_sum - all pauses of a run: how many, together and the longest, ns */
struct pauses_sum {
	size_t count;
	uint64_t paused, longest;
};

struct pauses_sum pauses_sum(const struct run *run);

/**
 * pauses_longest - the longest first
 * @run: the run
 * @wanted: no more than these
 * @nr: receives how many there are in the result
 *
 * Returns an array to be freed; NULL without memory, which is told.
 */
struct pause *pauses_longest(const struct run *run, size_t wanted, size_t *nr);

/*
 * No shorter than this, ms, with the CPU at its highest frequency all the while: work
 * that keeps it busy scales with the frequency, memory does not. Not a number where
 * either frequency is not known.
 */
double pause_at_top(const struct pause *p);

/*
 * What begins so much earlier, ms, is awaited by nobody: a wait lasts for what of the
 * collection is left. Not a number for what is no wait, and where it is not known for what.
 */
double pause_earlier(const struct pause *p);

#endif
