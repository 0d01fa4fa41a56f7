/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where the scheduler puts a thread, and whether it asks the energy model. */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdbool.h>
#include <pthread.h>

#define NAP_WAKES 1024

/**
 * eas_on() - is Energy-Aware Scheduling in force?
 *
 * Asks the kernel's own switch (sched_energy_present), for nothing in sysfs tells:
 * that takes /proc/kallsyms with addresses and a /dev/mem that shows RAM. Else what
 * the kernel last said of it, which takes sched_verbose on its command line.
 *
 * Return: 1, 0, or -errno where that cannot be seen.
 */
int eas_on(void);

/**
 * await_eas() - until it is, or is not
 * @on: which of them
 * @ms: at most so long
 *
 * Return: whether it came to that.
 */
bool await_eas(bool on, int ms);

/**
 * cpu_capacity() - of a CPU at its highest frequency
 * Return: 1..1024, all of it where the kernel does not tell.
 */
long cpu_capacity(int cpu);

/**
 * capacity_least() - that of the least capable CPU
 */
long capacity_least(void);

/**
 * capacity_fits() - the most use that a CPU is enough for
 *
 * A fifth is left over: fits_capacity() of kernel/sched/fair.c.
 */
long capacity_fits(long capacity);

/* A thread that does little or much between naps, and notes where it wakes. */
struct napper {
	pthread_t thread;
	int tid;
	int stop;
	int busy_us;			/* between naps; may be changed */
	unsigned int wakes;
	signed char cpu[NAP_WAKES];	/* of the last ones, round */
};

/**
 * napper_start() - start one on a CPU, and let it go from there
 * @n: filled in
 * @cpu: where it begins
 * @busy_us: for how long it spins before each nap
 *
 * Return: 0 or -errno.
 */
int napper_start(struct napper *n, int cpu, int busy_us);
void napper_stop(struct napper *n);

/**
 * await_placement() - until a thread mostly wakes on some CPUs
 * @n: the thread
 * @cpus: bit n for CPU n
 * @percent: of its next @wakes wake-ups
 * @wakes: at most NAP_WAKES
 * @ms: at most so long
 *
 * Return: the share in percent, of the last @wakes looked at.
 */
int await_placement(struct napper *n, unsigned long cpus, int percent,
		    unsigned int wakes, int ms);

#endif
