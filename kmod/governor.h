/* SPDX-License-Identifier: GPL-2.0-only */
/* The cpufreq governor "gchint". */
#ifndef _GCHINT_GOVERNOR_H
#define _GCHINT_GOVERNOR_H

#include <linux/types.h>

struct cpufreq_policy;
struct gchint_policy;

int gchint_governor_init(void);
void gchint_governor_exit(void);
bool gchint_governor_active(struct cpufreq_policy *policy);
unsigned int gchint_governor_count(void);
void gchint_governor_mode_changed(void);
int gchint_governor_each(int (*fn)(struct gchint_policy *policy, void *priv),
			 void *priv);

#endif /* _GCHINT_GOVERNOR_H */
