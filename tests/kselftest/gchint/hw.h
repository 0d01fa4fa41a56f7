/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The hardware's side of cpufreq: what a clock register or a regulator holds,
 * independent of the kernel's own bookkeeping. One backend per board, which is
 * detected.
 */
#ifndef HW_H
#define HW_H

#include <stdbool.h>

#define HW_CPUS 64

/**
 * struct hw_board - one type of board
 * @name: its name in tests/board
 * @driver: cpufreq driver that must be bound there
 * @per_cpu: each CPU has a policy of its own; else all CPUs or a cluster share
 * one
 * @fast: the driver switches in the scheduler's hook
 * @power: expected source of power values, by its name in debugfs
 * @joules: those values are absolute
 * @open: map the registers; 0, or -errno if this is another board
 * @khz: frequency of a CPU in the hardware; -errno
 * @peek: the same without disturbing the driver, -EAGAIN if unavailable now;
 * NULL where @khz never disturbs
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
 * hw_open() - detect the board
 *
 * Return: the board, or NULL for an unknown one.
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
 * hw_peek() - the same for frequent reads
 * @cpu: number of the CPU
 *
 * Return: kHz, -EAGAIN when only hw_khz() can read it, or -errno.
 */
long hw_peek(int cpu);

/**
 * hw_uv() - voltage of a CPU's supply, read from the regulator
 * @cpu: number of the CPU
 *
 * Return: microvolts, -ENODEV where the board has no value, or -errno.
 */
long hw_uv(int cpu);

#endif
