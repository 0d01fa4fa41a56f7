/* SPDX-License-Identifier: GPL-2.0-only */
/* What the slot of a running thread says. */
#ifndef _GCHINT_LOOK_H
#define _GCHINT_LOOK_H

#include <linux/types.h>

struct gchint_cpu;
struct gchint_policy;
struct gchint_thread;
struct gchint_track;

void gchint_look(struct gchint_cpu *c, struct gchint_policy *policy, u64 now);
bool gchint_look_due(const struct gchint_cpu *c);
void gchint_look_observe(struct gchint_thread *thread,
			 struct gchint_track *track, unsigned int cpu, u64 now);
void gchint_look_settle(struct gchint_cpu *c, struct gchint_policy *policy,
			u64 now);

#endif /* _GCHINT_LOOK_H */
