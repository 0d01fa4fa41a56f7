/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who places tasks where CPUs differ, and whether that has paused. */
#ifndef GCHINTCTL_PLACEMENT_H
#define GCHINTCTL_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/json.h"
#include "../common/root.h"

/**
 * struct placement - who places tasks
 * @unlike: CPUs differ; where they do not, there is nothing to place by
 * @governed: gchint as the governor has ended Energy-Aware Scheduling
 * @energy_aware: the scheduler places by energy, but for pauses
 * @secret: whether it has paused is told to root only
 * @told: it said whether it has, which it does while clamps are in force
 * @paused: it has: the CPUs of a root domain are overutilised
 * @cpu: on which of them that was said last
 * @said_ms: how long ago
 * @times: how often it has paused since clamps are in force
 *
 * The last four are of a domain that has paused, if one has, else of that which
 * spoke last; @times is of all of them.
 */
struct placement {
	bool unlike, governed, energy_aware, secret, told, paused;
	unsigned int cpu;
	uint64_t said_ms, times;
};

void placement_look(struct placement *p, const struct root *root);

/* One line or some, with the mend; nothing where CPUs are alike. */
void placement_print(const struct placement *p);
/* As the member "placement": null where CPUs are alike. */
void placement_json(const struct placement *p, struct json *j);

#endif
