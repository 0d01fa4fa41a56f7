/* SPDX-License-Identifier: GPL-2.0-only */
/* The OPPs of a cpufreq policy, and what is known of their power. */
#ifndef _GCHINT_ENERGY_H
#define _GCHINT_ENERGY_H

#include <linux/types.h>

#include "model/measured.h"

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
int gchint_energy_set_power(struct cpufreq_policy *policy,
			    struct gchint_measured *measured,
		       enum gchint_measured_error *fault, u32 *at);
unsigned int gchint_energy_generation(struct cpufreq_policy *policy);
bool gchint_energy_idle_power(struct cpufreq_policy *policy, u32 *microwatts);
void gchint_energy_exit(void);
bool gchint_energy_aware(void);

#endif /* _GCHINT_ENERGY_H */
