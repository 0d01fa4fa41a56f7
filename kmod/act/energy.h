/* SPDX-License-Identifier: GPL-2.0-only */
/* The OPPs of a cpufreq policy, and what is known of their power. */
#ifndef _GCHINT_ENERGY_H
#define _GCHINT_ENERGY_H

#include <linux/types.h>

#include "policy/given.h"

struct cpufreq_policy;
struct gchint_opps;

/* Where power figures come from. */
struct gchint_energy_source {
	const char *name;
	bool microwatts; /* else only proportional to each other */
	bool measured; /* on this machine */
};

const struct gchint_energy_source *
gchint_energy_fill(struct gchint_opps *opps, struct cpufreq_policy *policy);
int gchint_energy_give(struct cpufreq_policy *policy,
		       struct gchint_given *given,
		       enum gchint_given_fault *fault, u32 *at);
unsigned int gchint_energy_turn(struct cpufreq_policy *policy);
bool gchint_energy_idle(struct cpufreq_policy *policy, u32 *microwatts);
void gchint_energy_exit(void);
bool gchint_energy_places(void);

#endif /* _GCHINT_ENERGY_H */
