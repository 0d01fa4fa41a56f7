/* SPDX-License-Identifier: GPL-2.0-only */
/* The OPPs of a cpufreq policy, and what is known of their power. */
#ifndef _GCHINT_ENERGY_H
#define _GCHINT_ENERGY_H

#include <linux/types.h>

struct cpufreq_policy;
struct gchint_opps;

/**
 * struct gchint_energy_source - where power figures come from
 * @name: for debugfs
 * @microwatts: the figures are microwatts; else they are only proportions
 */
struct gchint_energy_source {
	const char *name;
	bool microwatts;
};

const struct gchint_energy_source *
gchint_energy_fill(struct gchint_opps *opps, struct cpufreq_policy *policy);
bool gchint_energy_places(void);

#endif /* _GCHINT_ENERGY_H */
