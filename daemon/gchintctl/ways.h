/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By which way hints act on each policy, and by which they could. */
#ifndef GCHINTCTL_WAYS_H
#define GCHINTCTL_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "../common/json.h"
#include "../common/root.h"

/**
 * struct ways - a machine, as far as it matters for the choice
 * @policies: how many cpufreq policies
 * @governable: they have gchint among their governors
 * @governed: they are under gchint
 * @fixed: their driver takes no governor
 * @guided: amd-pstate lets the hardware choose at or above what a governor asks for
 * @unlike: CPUs differ in capacity
 * @schedutil: every policy is under schedutil
 * @energy_aware: the scheduler places by energy now
 */
struct ways {
	unsigned int policies, governable, governed, fixed;
	bool guided, unlike, schedutil, energy_aware;
};

/* Looks at a machine; 0, or -ENOENT when it has no cpufreq policy. */
int ways_look(struct ways *w, const struct root *root);

/* In force on a policy ("policy0") or on "all": "off" when nothing is. -errno. */
int ways_in_force(char *name, size_t size, const struct root *root, const char *policy);

/* What is lost by a way on this machine; a line, or NULL. */
const char *ways_lost(const struct ways *w, const char *name);

/* Whether the scheduler places tasks by energy, and the remedy; nothing where CPUs are alike. */
void ways_print_placement(const struct ways *w);
/* The same as the member "placement": null where CPUs are alike. */
void ways_json_placement(const struct ways *w, struct json *j);

#endif
