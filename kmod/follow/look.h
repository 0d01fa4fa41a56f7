/* SPDX-License-Identifier: GPL-2.0-only */
/* What the slot of a running thread says. */
#ifndef _GCHINT_LOOK_H
#define _GCHINT_LOOK_H

#include <linux/types.h>

#include "act/policy.h"
#include "thread.h"

void gchint_look(struct gchint_cpu *c, struct gchint_policy *policy, u64 now);
void gchint_look_renew(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now);
void gchint_look_observe(struct gchint_cpu *c, struct gchint_thread *thread,
			 struct gchint_track *track, u64 now);

/**
 * gchint_look_settle - tell the track how long the thread ran
 * @c: this CPU, which runs it
 * @policy: its policy under gchint, locked, or NULL
 * @now: CLOCK_MONOTONIC ns
 */
static inline void gchint_look_settle(struct gchint_cpu *c,
				      struct gchint_policy *policy, u64 now)
{
	u64 ran = now > c->ran_since ? now - c->ran_since : 0;
	u32 khz = 0;
	u8 kind = 0;

	if (policy) {
		gchint_policy_sync(policy, now);
		khz = policy->khz;
		/* Usually it has not changed meanwhile. */
		if (c->khz_ms)
			khz = gchint_policy_mean_khz(policy, c, ran, now);
		c->khz_since = now;
		kind = policy->kind;
	}
	gchint_phase_ran(c->track, ran, khz, kind);
	c->ran_since = now;
}

/**
 * gchint_look_due - has the slot of the thread that runs here changed?
 * @c: this CPU, with a thread that counts on it
 *
 * Irqs off. A look at one word, for the scheduler's hook; may err to both
 * sides.
 *
 * Return: whether it is time for gchint_look().
 */
static inline bool gchint_look_due(const struct gchint_cpu *c)
{
	bool lead;

	return !c->held &&
	       !gchint_snapshot_same(gchint_thread_slot(c->thread, &lead),
				     c->track->state);
}

#endif /* _GCHINT_LOOK_H */
