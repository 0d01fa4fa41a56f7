/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core types of a machine, their frequencies, and setting a frequency. */
#ifndef GCHINTCTL_CORE_TYPE_H
#define GCHINTCTL_CORE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/cpus.h"
#include "../../common/root.h"
#include "calibration.h"

#define CORE_TYPE_POLICIES CALIBRATION_POLICIES
#define CORE_TYPE_CPUS	   CPUS_MAX

/**
 * struct core_type_policy - a frequency policy
 * @name: "policy0"
 * @cpu: its first CPU
 * @type: core type, as the index of the first policy that has it
 * @listed: its driver has a table of frequencies
 * @khz: frequencies of the table, ascending; else steps from the lowest to the highest
 * @min: lower limit as it was found; @max: the upper one
 */
struct core_type_policy {
	char name[32];
	unsigned int cpu, type, nr;
	bool listed;
	uint64_t khz[CALIBRATION_OPPS], low, min, max, capacity;
	bool held;
};

/**
 * struct core_types - frequency policies of a machine
 * @of_cpu: online CPUs, each with the index of its policy
 */
struct core_types {
	const struct root *root;
	struct core_type_policy policy[CORE_TYPE_POLICIES];
	unsigned int nr, nr_cpus;
	struct {
		unsigned int cpu, policy;
	} of_cpu[CORE_TYPE_CPUS];
};

/* Returns 0, -ENOENT if there is no policy, or another -errno with @error. */
int core_types_find(struct core_types *k, const struct root *root, char *error, size_t size);
/* Lists at most @max CPUs of a core type; returns how many. */
size_t core_type_cpus(const struct core_types *k, unsigned int type, unsigned int *cpu, size_t max);
/*
 * Pins all policies of a core type to a frequency, all others to their lowest. Returns 0, or
 * -errno with @error.
 */
int core_type_pin(struct core_types *k, unsigned int type, uint64_t khz, char *error, size_t size);
/* Restores all limits. Returns 0, or -errno with @error. */
int core_types_restore(struct core_types *k, char *error, size_t size);

#endif
