/* SPDX-License-Identifier: GPL-2.0-only */
/* What one CPU asks for. */
#ifndef _GCHINT_DEMAND_H
#define _GCHINT_DEMAND_H

#include <linux/types.h>

struct gchint_cpu;
struct gchint_demand;
struct gchint_rules;

const struct gchint_demand *gchint_demand_of(struct gchint_cpu *c,
					     const struct gchint_rules *rules,
					     u32 scale, bool idle, u64 now);

#endif /* _GCHINT_DEMAND_H */
