/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actuator in force on each policy, and those that are possible. */
#ifndef GCHINTCTL_ACTUATORS_H
#define GCHINTCTL_ACTUATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../common/json.h"
#include "../../common/root.h"

/**
 * struct actuators - the properties of a machine that decide which actuator fits
 * @policies: number of cpufreq policies
 * @governable: number of policies that offer gchint as a governor
 * @governed: number of policies whose governor is gchint
 * @fixed: number of policies whose driver takes no governor
 * @guided: amd-pstate lets the hardware choose at or above what a governor asks for
 * @unlike: CPUs differ in capacity
 * @schedutil: the governor of every policy is schedutil
 * @energy_aware: Energy-Aware Scheduling is active
 */
struct actuators {
	unsigned int policies, governable, governed, fixed;
	bool guided, unlike, schedutil, energy_aware;
};

/* Reads the properties of a machine; 0, or -ENOENT if it has no cpufreq policy. */
int actuators_read(struct actuators *w, const struct root *root);

/* The actuator of a policy ("policy0") or of "all"; "off" if there is none. 0 or -errno. */
int actuator_in_force(char *name, size_t size, const struct root *root, const char *policy);

/* The disadvantage of an actuator on this machine as a line of text, or NULL. */
const char *actuator_drawback(const struct actuators *w, const char *name);

/* Prints whether the scheduler places tasks by energy; nothing if all CPUs are alike. */
void placement_print(const struct actuators *w);
/* The same as the JSON member "placement": null if all CPUs are alike. */
void placement_json(const struct actuators *w, struct json *j);

#endif
