/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The hardware's side of cpufreq: what a clock register or a regulator holds,
 * whatever the kernel's own bookkeeping says. One backend a board; the board
 * is found by what is there.
 */
#ifndef HW_H
#define HW_H

#include <stdbool.h>

#define HW_CPUS 64

/**
 * struct hw_board - one kind of board
 * @name: as tests/board calls it
 * @driver: cpufreq driver that must be bound there
 * @per_cpu: each CPU has a policy of its own; else all share one, or a cluster
 *	does
 * @fast: the driver switches in the scheduler's hook
 * @power: the source of power figures that is to be used there, as debugfs
 *	calls it
 * @joules: those figures are absolute
 * @open: get at the registers; 0, or -errno if this board is not there
 * @khz: frequency that the hardware holds for a CPU; -errno
 * @peek: the same without disturbing the driver, -EAGAIN if that cannot be
 *	had now; NULL where @khz never disturbs
 * @uv: voltage of the core's supply in microvolts; NULL where there is none
 */
struct hw_board {
	const char *name;
	const char *driver;
	bool per_cpu;
	bool fast;
	const char *power;
	bool joules;
	int (*open)(void);
	long (*khz)(int cpu);
	long (*peek)(int cpu);
	long (*uv)(int cpu);
};

/**
 * hw_open() - find out which board this is
 *
 * Return: the board, or NULL when it is none that is known.
 */
const struct hw_board *hw_open(void);

/**
 * hw_khz() - frequency of a CPU, read from the hardware
 * @cpu: number of the CPU
 *
 * Return: kHz, or -errno.
 */
long hw_khz(int cpu);

/**
 * hw_peek() - the same for those who look often
 * @cpu: number of the CPU
 *
 * Return: kHz, -EAGAIN when only hw_khz() can tell, or -errno.
 */
long hw_peek(int cpu);

/**
 * hw_uv() - voltage of a CPU's supply, read from the regulator
 * @cpu: number of the CPU
 *
 * Return: microvolts, -ENODEV where the board cannot tell, or -errno.
 */
long hw_uv(int cpu);

#endif
