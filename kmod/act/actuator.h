/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways in which a decision reaches the machine, and where each is in force. */
#ifndef _GCHINT_ACTUATOR_H
#define _GCHINT_ACTUATOR_H

#include <linux/types.h>

#include "policy/given.h"

struct cpufreq_policy;
struct gchint_policy;

/* Beside GCHINT_CAN_*: load is its business, for the scheduler calls its hook. */
#define GCHINT_CAN_LOAD BIT(31)

/**
 * struct gchint_actuator - one way to act
 * @name: as files and users call it
 * @id: enum gchint_actuator_id
 * @can: GCHINT_CAN_*
 * @attach: begin to act on a policy that is filled in; 0 or a negative errno.
 *	NULL for the governor, which cpufreq attaches.
 * @detach: leave nothing behind
 * @request: what was decided last is to be asked for, in @decision terms
 *	gchint_policy.next. Under the policy's lock; does not sleep. The time is
 *	that of the hint that led to it, 0 none.
 */
struct gchint_actuator {
	const char *name;
	u8 id;
	u32 can;
	int (*attach)(struct gchint_policy *policy);
	void (*detach)(struct gchint_policy *policy);
	void (*request)(struct gchint_policy *policy, u64 hint_ns);
};

/**
 * struct gchint_actuator_told - who is told of what is acted on
 * @governed: these phases matter to policies that obey hints, bit n for phase n
 * @limits: a policy's limits have changed
 *
 * A policy's rwsem may be held.
 */
struct gchint_actuator_told {
	void (*governed)(u32 phases);
	void (*limits)(void);
};

void gchint_actuator_init(const struct gchint_actuator_told *who);
struct gchint_policy *gchint_actuator_new(struct cpufreq_policy *p,
					  const struct gchint_actuator *act);
void gchint_actuator_free(struct gchint_policy *policy);
int gchint_actuator_worker(struct gchint_policy *policy);
int gchint_actuator_add(struct gchint_policy *policy);
void gchint_actuator_remove(struct gchint_policy *policy);
void gchint_actuator_started(struct gchint_policy *policy, bool started);
void gchint_actuator_limits(void);
void gchint_actuator_refill(struct gchint_policy *policy);
int gchint_actuator_give(struct cpufreq_policy *p, struct gchint_given *given,
			 enum gchint_given_fault *fault, u32 *at);

bool gchint_actuator_active(struct cpufreq_policy *p);
unsigned int gchint_actuator_count(void);
int gchint_actuator_each(int (*fn)(struct gchint_policy *policy, void *priv),
			 void *priv);

#endif /* _GCHINT_ACTUATOR_H */
