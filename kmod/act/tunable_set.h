/* SPDX-License-Identifier: GPL-2.0-only */
/* The tunables of one policy, or of all, as files in sysfs. */
#ifndef _GCHINT_TUNABLE_SET_H
#define _GCHINT_TUNABLE_SET_H

#include <linux/cpufreq.h>

#include "policy/tunables.h"

/**
 * struct gchint_tunable_set - tunables in use
 * @attr_set: cpufreq's: the folder and the policies behind it
 * @tunables: written under @attr_set.update_lock, word by word; read anywhere
 */
struct gchint_tunable_set {
	struct gov_attr_set attr_set;
	struct gchint_tunables tunables;
};

struct gchint_policy;

void gchint_tunable_set_init(void (*who)(void));
int gchint_tunable_set_attach(struct gchint_policy *policy);
void gchint_tunable_set_detach(struct gchint_policy *policy);

#endif /* _GCHINT_TUNABLE_SET_H */
