/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actuators, the policies on which one is in force, and the files by which
 * userspace chooses one.
 */
#ifndef _GCHINT_ACTUATOR_H
#define _GCHINT_ACTUATOR_H

#include <linux/kthread.h>
#include <linux/types.h>

#include "model/measured.h"

struct attribute_group;
struct cpufreq_policy;
struct gchint_policy;
struct kobject;

/* In addition to GCHINT_CAN_*: decides by load, from the scheduler's hook. */
#define GCHINT_CAN_LOAD BIT(31)

struct gchint_actuator {
	const char *name;
	u8 id; /* enum gchint_actuator_id */
	u32 can; /* GCHINT_CAN_* */
	/* 0 or a negative errno. NULL for the governor: cpufreq attaches it. */
	int (*attach)(struct gchint_policy *policy);
	/* Restores all that was changed. */
	void (*detach)(struct gchint_policy *policy);
	/*
	 * Request gchint_policy.next; hint_ns is when the hint behind it came,
	 * 0 if none. Under the policy's lock; does not sleep.
	 */
	void (*request)(struct gchint_policy *policy, u64 hint_ns);
	/*
	 * The highest frequency that others than us allow, in kHz. NULL for the
	 * governor, which sets no limit.
	 */
	u32 (*others_max)(const struct gchint_policy *policy);
};

/* Callbacks to the directories above. A policy's rwsem may be held. */
struct gchint_actuator_listener {
	void (*governed)(u32 phases); /* wanted phases, bit n for phase n */
	void (*limits)(void); /* the limits of a policy changed */
};

void gchint_actuator_init(const struct gchint_actuator_listener *listener);
struct gchint_policy *gchint_actuator_new(struct cpufreq_policy *p,
					  const struct gchint_actuator *act);
void gchint_actuator_free(struct gchint_policy *policy);
int gchint_actuator_create_worker(struct gchint_policy *policy,
				  kthread_work_func_t work, bool pin);
int gchint_actuator_add(struct gchint_policy *policy);
void gchint_actuator_remove(struct gchint_policy *policy);
void gchint_actuator_set_started(struct gchint_policy *policy, bool started);
void gchint_actuator_notify_limits(void);
void gchint_actuator_reload_opps(struct gchint_policy *policy);
int gchint_actuator_set_power(struct cpufreq_policy *p, struct gchint_measured *measured,
			      enum gchint_measured_error *fault, u32 *at);

bool gchint_actuator_active(struct cpufreq_policy *p);
u32 gchint_actuator_others_max(struct cpufreq_policy *p);
bool gchint_actuator_is_applying(const struct cpufreq_policy *p);
unsigned int gchint_actuator_count(void);
bool gchint_actuator_governs(void);
int gchint_actuator_for_each(int (*fn)(struct gchint_policy *policy, void *priv),
			     void *priv);

/* The actuator limits, limits.c */
extern const struct gchint_actuator gchint_limits;

/* The actuator governor, governor.c */
int gchint_governor_init(void);
void gchint_governor_exit(void);

/* The files by which an actuator is chosen, site.c */
const struct attribute_group **gchint_site_groups(void);
int gchint_site_init(void);
void gchint_site_register(struct kobject *device);
void gchint_site_unregister(void);
void gchint_site_exit(void);

#endif /* _GCHINT_ACTUATOR_H */
