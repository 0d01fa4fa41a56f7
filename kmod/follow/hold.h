/* SPDX-License-Identifier: GPL-2.0-only */
/* For how long a hint counts, and what is done about it. */
#ifndef _GCHINT_HOLD_H
#define _GCHINT_HOLD_H

#include <linux/types.h>

#include "act/policy.h"
#include "thread.h"

struct gchint_seat;

void gchint_hold_init(struct gchint_seat *seat);
void gchint_hold_later(struct gchint_cpu *c, u64 now);
void gchint_hold_decide(struct gchint_cpu *c, struct gchint_policy *policy,
			u64 now, u64 hint_ns);
void gchint_hold_heed(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now, u64 hint_ns);
void gchint_hold_park(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now);
void gchint_hold_start(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now);
void gchint_hold_end(struct gchint_cpu *c, struct gchint_policy *policy,
		     u64 now);
void gchint_hold_none(struct gchint_cpu *c);

#endif /* _GCHINT_HOLD_H */
