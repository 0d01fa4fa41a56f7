// SPDX-License-Identifier: GPL-2.0-only
/*
 * Utilisation clamps of threads, beside schedutil: frequency and, on unlike
 * cores, placement follow what the scheduler takes a thread's use of a CPU for.
 * Process context only: the kernel's call sleeps.
 */
#include <linux/atomic.h>
#include <linux/sched.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "actuator.h"
#include "clamp.h"
#include "policy.h"
#include "wish.h"

enum { LOWER, UPPER };

/* Policies on which it is in force. */
static atomic_t nr_policies;

/**
 * gchint_clamp_count - on how many policies are threads clamped?
 *
 * Return: the number.
 */
unsigned int gchint_clamp_count(void)
{
	return atomic_read(&nr_policies);
}

/* All else of its attributes stays as it is. */
static int set(struct task_struct *task, u64 sides, u32 lower, u32 upper)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		/*
		 * "As it is": 0 would clear reset-on-fork and judge an RT thread
		 * as SCHED_NORMAL, in spite of KEEP_ALL.
		 */
		.sched_policy = -1,
		.sched_flags = SCHED_FLAG_KEEP_ALL | sides,
		.sched_util_min = lower,
		.sched_util_max = upper,
		/* Has to be more than 0 for RT threads. */
		.sched_priority = task->rt_priority,
	};

	return sched_setattr_nocheck(task, &attr);
}

/* Whoever writes after us wins for that side, until the lease is over. */
static void notice(const struct task_struct *task, struct gchint_clamped *c)
{
	unsigned int side;

	for (side = LOWER; side <= UPPER; side++) {
		struct gchint_clamp_value is = gchint_clamp_read(task, side);

		if (!c->held[side]) {
			c->found[side] = is;
		} else if (!is.set || is.value != c->ours[side]) {
			c->held[side] = false;
			c->foreign[side] = true;
			c->found[side] = is;
		}
	}
}

/**
 * gchint_clamp_put - clamp a thread
 * @task: the thread
 * @c: what was done to it
 * @place: what is wanted
 *
 * A clamp that its owner set, and that is narrower, stays. May sleep.
 *
 * Return: 0 or a negative errno; -EOPNOTSUPP, the kernel has no clamps.
 */
int gchint_clamp_put(struct task_struct *task, struct gchint_clamped *c,
		     const struct gchint_place *place)
{
	u32 want[2] = { place->min, place->max };
	bool wanted[2] = { place->min, place->max < SCHED_CAPACITY_SCALE };
	u64 sides = 0;
	int ret;

	notice(task, c);
	if (!wanted[LOWER] && !wanted[UPPER]) {
		gchint_clamp_back(task, c);
		return 0;
	}
	if (c->foreign[UPPER] || (c->found[UPPER].set && want[UPPER] > c->found[UPPER].value))
		want[UPPER] = c->found[UPPER].value;
	if (c->foreign[LOWER] || (c->found[LOWER].set && want[LOWER] < c->found[LOWER].value))
		want[LOWER] = c->found[LOWER].value;
	/* An RT thread's lower one is the highest there is, and nobody's wish. */
	if (!wanted[LOWER] && !c->found[LOWER].set)
		want[LOWER] = min_t(u32, c->found[LOWER].value, want[UPPER]);
	if (want[LOWER] > want[UPPER]) {
		/* Of two wishes its owner's wins. */
		if (c->foreign[LOWER] ||
		    (c->found[LOWER].set &&
		     want[LOWER] == c->found[LOWER].value))
			want[UPPER] = want[LOWER];
		else
			want[LOWER] = want[UPPER];
	}
	if (!c->foreign[LOWER] &&
	    want[LOWER] != gchint_clamp_read(task, LOWER).value)
		sides |= SCHED_FLAG_UTIL_CLAMP_MIN;
	if (!c->foreign[UPPER] &&
	    want[UPPER] != gchint_clamp_read(task, UPPER).value)
		sides |= SCHED_FLAG_UTIL_CLAMP_MAX;
	if (!sides)
		return 0;
	ret = set(task, sides, want[LOWER], want[UPPER]);
	if (ret)
		return ret;
	if (sides & SCHED_FLAG_UTIL_CLAMP_MIN) {
		c->held[LOWER] = true;
		c->ours[LOWER] = want[LOWER];
	}
	if (sides & SCHED_FLAG_UTIL_CLAMP_MAX) {
		c->held[UPPER] = true;
		c->ours[UPPER] = want[UPPER];
	}
	return 0;
}

/* What was nobody's wish is reset: the kernel knows the default of its class. */
static u32 back_to(const struct gchint_clamp_value *found)
{
	return found->set ? found->value : -1;
}

/**
 * gchint_clamp_back - put back what was found, where it is still ours
 * @task: the thread
 * @c: what was done to it; afterwards nothing is held
 *
 * May sleep.
 */
void gchint_clamp_back(struct task_struct *task, struct gchint_clamped *c)
{
	u64 sides = 0;

	notice(task, c);
	if (c->held[LOWER])
		sides |= SCHED_FLAG_UTIL_CLAMP_MIN;
	if (c->held[UPPER])
		sides |= SCHED_FLAG_UTIL_CLAMP_MAX;
	if (sides)
		set(task, sides, back_to(&c->found[LOWER]),
		    back_to(&c->found[UPPER]));
	c->held[LOWER] = false;
	c->held[UPPER] = false;
}

static int attach(struct gchint_policy *policy)
{
	if (!gchint_clamp_known())
		return -EOPNOTSUPP;
	gchint_policy_rules(policy);
	atomic_inc(&nr_policies);
	gchint_wish_begin();
	return 0;
}

static void detach(struct gchint_policy *policy)
{
	gchint_wish_end();
	atomic_dec(&nr_policies);
}

const struct gchint_actuator gchint_clamp = {
	.name = "clamp",
	.id = GCHINT_ACTUATOR_CLAMP,
	.can = GCHINT_CAN_LIMITS | GCHINT_CAN_THREAD,
	.attach = attach,
	.detach = detach,
};
