/* SPDX-License-Identifier: GPL-2.0-only */
/* What one CPU asks for. */
#ifndef _GCHINT_DEMAND_H
#define _GCHINT_DEMAND_H

#include <linux/types.h>

struct gchint_demand;
struct gchint_policy;

const struct gchint_demand *gchint_demand_of(struct gchint_policy *policy,
					     unsigned int cpu, u64 now);

#endif /* _GCHINT_DEMAND_H */
