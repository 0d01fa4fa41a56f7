/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of CPU that a machine has, their frequencies, and setting one. */
#ifndef GCHINTCTL_KINDS_H
#define GCHINTCTL_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/root.h"
#include "calibration.h"

#define KINDS_POLICIES 64
#define KINDS_CPUS     512

/**
 * struct kinds_policy - a frequency policy
 * @name: "policy0"
 * @cpu: its first CPU
 * @kind: it is of the kind of the policy with this index, perhaps itself
 * @listed: its driver has a table of frequencies
 * @khz: they, ascending; else steps from the lowest to the highest
 * @min: limits as they were found
 */
struct kinds_policy {
	char name[32];
	unsigned int cpu, kind, nr;
	bool listed;
	uint64_t khz[CALIBRATION_OPPS], low, min, max, capacity;
	bool held;
};

/**
 * struct kinds - a machine
 * @of_cpu: CPUs that are online, each with the index of its policy
 */
struct kinds {
	const struct root *root;
	struct kinds_policy policy[KINDS_POLICIES];
	unsigned int nr, nr_cpus;
	struct {
		unsigned int cpu, policy;
	} of_cpu[KINDS_CPUS];
};

/* 0, -ENOENT: there is no policy; or -errno with @error. */
int kinds_find(struct kinds *k, const struct root *root, char *error, size_t size);
/* CPUs of the kind of that policy, at most @max; returns how many. */
size_t kinds_cpus(const struct kinds *k, unsigned int kind, unsigned int *cpu, size_t max);
/* All policies of that kind to a frequency, all others to their lowest: 0 or -errno, @error. */
int kinds_hold(struct kinds *k, unsigned int kind, uint64_t khz, char *error, size_t size);
/* All limits as they were; 0 or -errno, @error. */
int kinds_release(struct kinds *k, char *error, size_t size);

#endif
