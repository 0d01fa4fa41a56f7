/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where the scheduler places a thread, and whether it uses the energy model. */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdbool.h>
#include <pthread.h>

#define NAP_WAKES 1024

/**
 * eas_on() - is Energy-Aware Scheduling in force?
 *
 * Reads the kernel's own switch (sched_energy_present), as nothing in sysfs
 * shows it: that takes /proc/kallsyms with addresses and a /dev/mem that shows
 * RAM. Otherwise the kernel's last message about it, which takes sched_verbose
 * on its command line.
 *
 * Return: 1, 0, or -errno where that cannot be seen.
 */
int eas_on(void);

/**
 * await_eas() - wait until it is on or off
 * @on: which of them
 * @ms: timeout
 *
 * Return: whether that was reached.
 */
bool await_eas(bool on, int ms);

/**
 * cpu_capacity() - of a CPU at its highest frequency
 * Return: 1..1024; 1024 where the kernel does not export it.
 */
long cpu_capacity(int cpu);

/** capacity_least() - capacity of the least capable CPU */
long capacity_least(void);

/**
 * capacity_fits() - the highest utilisation that fits a CPU
 *
 * A fifth is kept free: fits_capacity() of kernel/sched/fair.c.
 */
long capacity_fits(long capacity);

/*
 * A thread that does a set amount of work between sleeps, and records where it
 * wakes.
 */
struct napper {
	pthread_t thread;
	int tid;
	int stop;
	int busy_us;			/* between sleeps; may be changed */
	unsigned int wakes;
	signed char cpu[NAP_WAKES];	/* of the last ones, round */
};

/**
 * napper_start() - start one on a CPU, and let it move from there
 * @n: filled in
 * @cpu: where it starts
 * @busy_us: how long it spins before each sleep
 *
 * Return: 0 or -errno.
 */
int napper_start(struct napper *n, int cpu, int busy_us);
void napper_stop(struct napper *n);

/**
 * await_placement() - wait until a thread mostly wakes on some CPUs
 * @n: the thread
 * @cpus: bit n for CPU n
 * @percent: of its next @wakes wake-ups
 * @wakes: at most NAP_WAKES
 * @ms: timeout
 *
 * Return: the share in percent of the last @wakes wake-ups.
 */
int await_placement(struct napper *n, unsigned long cpus, int percent,
		    unsigned int wakes, int ms);

#endif
