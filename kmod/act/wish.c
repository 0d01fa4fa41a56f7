// SPDX-License-Identifier: GPL-2.0-only
/* What is wanted of a thread, as far as an actuator is in force that can do it. */
#include <linux/atomic.h>
#include <linux/cpufreq.h>
#include <linux/sched.h>

#include "actuator.h"
#include "affinity.h"
#include "clamp.h"
#include "compat/util.h"
#include "policy.h"
#include "tunable_set.h"
#include "wish.h"

/* Policies on which threads are asked. */
static atomic_t nr_policies;

/**
 * gchint_wish_count - on how many policies are threads asked?
 *
 * Return: the number.
 */
unsigned int gchint_wish_count(void)
{
	return atomic_read(&nr_policies);
}

/* gchint_wish_begin - on one more */
void gchint_wish_begin(void)
{
	atomic_inc(&nr_policies);
}

/* gchint_wish_end - on one less */
void gchint_wish_end(void)
{
	atomic_dec(&nr_policies);
}

struct wish {
	struct gchint_place *place;
	const struct gchint_hint *hint;
	const struct gchint_rates *rates;
	unsigned int cpu;
	u64 now;
};

static int wish_of(struct gchint_policy *policy, void *priv)
{
	struct gchint_place place;
	struct wish *w = priv;

	if (!policy->started ||
	    !cpumask_test_cpu(w->cpu, policy->policy->related_cpus))
		return 0;
	gchint_place_find(&place, w->hint, w->rates, &policy->set->tunables,
			  gchint_util_least(), w->now);
	if (policy->act == &gchint_clamp) {
		w->place->min = place.min;
		w->place->max = place.max;
	} else if (policy->act == &gchint_affinity) {
		w->place->where = place.where;
	}
	return 1;
}

/**
 * gchint_wish_find - how a thread is to be clamped and bound
 * @place: result; nothing of what no actuator in force there can do
 * @cpu: where it runs, or did last
 * @hint: what it says
 * @rates: how fast it was
 * @now: CLOCK_MONOTONIC ns
 *
 * May sleep.
 */
void gchint_wish_find(struct gchint_place *place, unsigned int cpu,
		      const struct gchint_hint *hint,
		      const struct gchint_rates *rates, u64 now)
{
	struct wish w = { place, hint, rates, cpu, now };

	*place = (struct gchint_place){ .max = SCHED_CAPACITY_SCALE };
	gchint_actuator_each(wish_of, &w);
}
