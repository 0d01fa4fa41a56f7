/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of threads in their phases, and their time waiting for a CPU, from the kernel's account
 * of each hinted thread (table sched). The length of a phase is no CPU time: on a busy machine its
 * thread is runnable, but waits.
 *
 * Between two readings of a thread's account its CPU time is known, and how long it was in
 * phases. In a part of a phase it ran for no longer than the part, and for no less than what
 * cannot have been outside of it. The estimate of CPU time is that phases come first, and that a
 * thread runs or waits for a CPU in them, by its ratio of both: a collector's thread sleeps outside
 * of its phases. Of the wait there are bounds alone: a thread that sleeps in its phases and
 * computes outside of them has the same account as one that waits in them.
 *
 * A phase has the CPU that it began on, and each reading the one that the thread ran on last.
 */
#ifndef ANALYSIS_CPU_TIME_H
#define ANALYSIS_CPU_TIME_H

#include "../recording/reader/recording.h"

struct cpu_times;

/**
 * struct cpu_time - CPU time of a thread, in ns
 * @ns: estimate
 * @least: lower bound
 * @most: upper bound
 */
struct cpu_time {
	double ns, least, most;
};

/* Returns NULL without memory, after reporting it; cpu_times_free() accepts NULL. */
struct cpu_times *cpu_times_of(const struct recording *rec);
void cpu_times_free(struct cpu_times *times);

/*
 * Called for a part of a phase with the CPU that its thread was on. Where it moved between two
 * readings each of the two CPUs gets half of the time, and bounds of none to all of it.
 */
typedef void (*cpu_time_fn)(void *data, int cpu, uint64_t t0, uint64_t t1,
			    const struct cpu_time *time);

/* Calls @fn for the parts of phase @p in [@t0, @t1). */
void cpu_time_each(const struct cpu_times *times, const struct recording_phase *p, uint64_t t0,
		   uint64_t t1, cpu_time_fn fn, void *data);

/**
 * cpu_times_wait - how long threads of a process waited for a CPU in a pause
 * @times: the accounts
 * @tgid: the process
 * @t0: begin of the pause
 * @t1: its end
 * @wait: receives bounds, added up over those threads whose account encloses the pause; without an
 *	estimate
 *
 * Returns false if there is no such thread.
 */
bool cpu_times_wait(const struct cpu_times *times, int32_t tgid, uint64_t t0, uint64_t t1,
		    struct cpu_time *wait);

/**
 * struct cpu_time_sum - CPU time of collection; ns
 * @workers: threads with a role, whose CPU time is all of it collection
 * @known: time of phases of other threads between two readings of the thread's account; phases of
 *	one thread that overlap count once
 * @unknown: time of phases of these that no two readings of the account enclose
 * @run: on a CPU: estimate, of workers and @known
 * @low: lower bound, of all
 * @high: upper bound, of all, @unknown included
 * @wait_low: runnable but without a CPU: lower bound, of all but GCHINT_PHASE_WAIT, in which other
 *	threads collect
 * @wait_counted: upper bound of workers and @known, as far as the kernel had counted it at the last
 *	reading of a thread
 * @wait_high: upper bound of all, also of waits that were not yet counted, and of @unknown
 */
struct cpu_time_sum {
	size_t workers;
	uint64_t known, unknown, run, low, high, wait_low, wait_counted, wait_high;
};

/* Over all workers, and phases whose end is known. */
struct cpu_time_sum cpu_times_sum(const struct cpu_times *times);
/* The same of a recording. Returns false without memory, after reporting it. */
bool cpu_times_sum_of(const struct recording *rec, struct cpu_time_sum *sum);

/* Where the accounts come from; "" if the recording has none. */
const char *cpu_times_source(const struct cpu_times *times);

#endif
