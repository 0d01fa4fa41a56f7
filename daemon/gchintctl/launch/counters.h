/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of a command and its descendants by the CPU's counters. */
#ifndef GCHINTCTL_COUNTERS_H
#define GCHINTCTL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS 2

/* A count that is not known: there is no such counter, or it may not be used. */
#define COUNTER_UNKNOWN (-1)

/**
 * struct counter_event - what to count, as in struct perf_event_attr
 * @type: PERF_TYPE_*
 * @config: PERF_COUNT_*
 */
struct counter_event {
	uint32_t type;
	uint64_t config;
};

/* Cycles and instructions. */
extern const struct counter_event counters_of_cpu[COUNTERS];

/*
 * Counts in each process that this one creates from now on, from when it executes a program until it
 * ends. Where counting in the kernel is not allowed it is of user space alone. @fd: -1 where an event
 * cannot be counted.
 */
void counters_open(const struct counter_event event[COUNTERS], int fd[COUNTERS]);

/* Reads and closes them, after the processes have ended: @count is scaled if the CPU took turns. */
void counters_close(int fd[COUNTERS], int64_t count[COUNTERS]);

#endif
