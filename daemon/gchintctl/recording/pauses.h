/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest pauses of a run, and the CPU frequency during each. A pause stops the whole
 * program, or is the wait of one thread for a collection that other threads do.
 */
#ifndef GCHINTCTL_PAUSES_H
#define GCHINTCTL_PAUSES_H

#include "recording.h"

#define PAUSE_CONCURRENT 4

/**
 * struct pause - one pause, with what was recorded around it
 * @phase: the phase that is the pause
 * @awaited: for a wait: the phase of another thread of the process that overlaps it for the
 *	longest; NULL if there is none, or if the pause is not a wait
 * @khz: time-weighted mean frequency of its CPU during the pause, or of the CPU of @awaited
 *	for a wait; 0 not known
 * @top_khz: highest frequency of that CPU's policy; 0 not known
 * @comm: name of its thread; "" not known
 * @concurrent: groups of the phases of other threads that overlap it, each once
 * @nr_concurrent: number of groups in @concurrent
 */
struct pause {
	const struct run_phase *phase, *awaited;
	double khz;
	uint32_t top_khz;
	char comm[32];
	uint16_t concurrent[PAUSE_CONCURRENT];
	size_t nr_concurrent;
};

/** struct pauses_sum - the pauses of a run: their number, total and longest length in ns */
struct pauses_sum {
	size_t count;
	uint64_t paused, longest;
};

struct pauses_sum pauses_sum(const struct run *run);

/**
 * pauses_longest - find the longest pauses of a run
 * @run: the run
 * @wanted: how many at most
 * @nr: receives the number of pauses returned
 *
 * Returns an array, longest first, that the caller frees; NULL without memory, after reporting
 * it.
 */
struct pause *pauses_longest(const struct run *run, size_t wanted, size_t *nr);

/*
 * Lower bound in ms of the pause's length with its CPU at the highest frequency throughout.
 * It is a bound because only computation scales with the frequency; memory accesses do not.
 * NAN if either frequency is not known.
 */
double pause_at_top(const struct pause *p);

/*
 * How much earlier, in ms, the awaited collection would have to begin for there to be no wait:
 * a wait lasts as long as the rest of that collection. NAN if the pause is not a wait, or if the
 * awaited phase is not known.
 */
double pause_earlier(const struct pause *p);

#endif
