/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of phases, and their time waiting for a CPU, from the scheduler's account of each hinted
 * thread. The length of a phase is no CPU time: on a busy machine its thread is runnable, but waits.
 */
#ifndef GCHINTCTL_RUN_WAIT_H
#define GCHINTCTL_RUN_WAIT_H

#include "recording.h"

/**
 * struct run_wait - what the threads of a run did in their phases; ns
 * @known: time of phases between two readings of their thread's account; phases of one thread that
 *	overlap count once
 * @unknown: time of phases that no two readings of the account enclose
 * @run: of @known, on a CPU: in each interval between readings by the thread's ratio of running to
 *	waiting
 * @low: lower bound of @run
 * @high: upper bound of @run
 * @wait: of @known, runnable but without a CPU
 */
struct run_wait {
	uint64_t known, unknown, run, low, high, wait;
};

/* Returns false without memory, after reporting it. */
bool run_wait_of(const struct run *run, struct run_wait *c);

#endif
