/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core types of a machine, their frequencies, and setting a frequency. */
#ifndef GCHINTCTL_CORE_TYPE_H
#define GCHINTCTL_CORE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/root.h"
#include "calibration.h"

#define KINDS_POLICIES 64
#define KINDS_CPUS     512

/**
 * struct kinds_policy - a frequency policy
 * @name: "policy0"
 * @cpu: its first CPU
 * @kind: core type, as the index of the first policy that has it
 * @listed: its driver has a table of frequencies
 * @khz: frequencies of the table, ascending; else steps from the lowest to the highest
 * @min: lower limit as it was found; @max: the upper one
 */
struct kinds_policy {
	char name[32];
	unsigned int cpu, kind, nr;
	bool listed;
	uint64_t khz[CALIBRATION_OPPS], low, min, max, capacity;
	bool held;
};

/**
 * struct kinds - frequency policies of a machine
 * @of_cpu: online CPUs, each with the index of its policy
 */
struct kinds {
	const struct root *root;
	struct kinds_policy policy[KINDS_POLICIES];
	unsigned int nr, nr_cpus;
	struct {
		unsigned int cpu, policy;
	} of_cpu[KINDS_CPUS];
};

/* Returns 0, -ENOENT if there is no policy, or another -errno with @error. */
int kinds_find(struct kinds *k, const struct root *root, char *error, size_t size);
/* Lists at most @max CPUs of a core type; returns how many. */
size_t kinds_cpus(const struct kinds *k, unsigned int kind, unsigned int *cpu, size_t max);
/*
 * Pins all policies of a core type to a frequency, all others to their lowest. Returns 0, or
 * -errno with @error.
 */
int kinds_hold(struct kinds *k, unsigned int kind, uint64_t khz, char *error, size_t size);
/* Restores all limits. Returns 0, or -errno with @error. */
int kinds_release(struct kinds *k, char *error, size_t size);

#endif
