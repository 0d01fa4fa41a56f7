/* SPDX-License-Identifier: GPL-2.0-only */
/* The tunables of one policy, or of all policies, as files in sysfs. */
#ifndef _GCHINT_TUNABLE_SET_H
#define _GCHINT_TUNABLE_SET_H

#include <linux/cpufreq.h>

#include "model/tunables.h"

struct gchint_tunable_set {
	struct gov_attr_set attr_set; /* the directory, and its policies */
	/* Written under attr_set.update_lock, word by word; read anywhere. */
	struct gchint_tunables tunables;
};

struct gchint_policy;

void gchint_tunable_set_init(void (*changed)(void));
int gchint_tunable_set_attach(struct gchint_policy *policy);
void gchint_tunable_set_detach(struct gchint_policy *policy);

#endif /* _GCHINT_TUNABLE_SET_H */
