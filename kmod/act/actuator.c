// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies that hints act on, whichever way: the governor's come and go by
 * cpufreq's calls, with the policy's rwsem held, the others by act/use.c.
 */
#include <linux/cpufreq.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "actuator.h"
#include "compat/kthread.h"
#include "energy.h"
#include "policy.h"
#include "tunable_set.h"

/*
 * Any phase may come with a flag that raises: all of them matter, but for the
 * one in which a thread does nothing.
 */
#define GOVERNED (GENMASK(GCHINT_PHASE_NR - 1, 1) & ~BIT(GCHINT_PHASE_WAIT))

/* Serialises the list of policies and what is derived from it. */
static DEFINE_MUTEX(policies_lock);
static LIST_HEAD(policies);
static unsigned int nr_active;

static const struct gchint_actuator_told *told;

static bool active(const struct gchint_policy *policy)
{
	return policy->started && policy->set->tunables.mode != GCHINT_MODE_OFF;
}

/* Which doorbells does the whole of them want, and must threads be followed? */
static void recount(void)
{
	unsigned int nr = 0;
	struct gchint_policy *policy;

	lockdep_assert_held(&policies_lock);
	list_for_each_entry(policy, &policies, node)
		nr += active(policy);
	WRITE_ONCE(nr_active, nr);
	told->governed(nr ? GOVERNED : 0);
}

static void tunables_changed(void)
{
	mutex_lock(&policies_lock);
	recount();
	mutex_unlock(&policies_lock);
}

/**
 * gchint_actuator_init - before the first policy
 * @who: who is told
 */
void gchint_actuator_init(const struct gchint_actuator_told *who)
{
	told = who;
	gchint_tunable_set_init(tunables_changed);
}

/**
 * gchint_actuator_new - a policy that is to be acted on
 * @p: the cpufreq policy
 * @act: how
 *
 * Return: the policy with OPPs, but without tunables; or NULL.
 */
struct gchint_policy *gchint_actuator_new(struct cpufreq_policy *p,
					  const struct gchint_actuator *act)
{
	struct gchint_policy *policy = kvzalloc(sizeof(*policy), GFP_KERNEL);

	if (!policy)
		return NULL;
	policy->stats = kvzalloc(sizeof(*policy->stats), GFP_KERNEL);
	if (!policy->stats) {
		kvfree(policy);
		return NULL;
	}
	policy->policy = p;
	policy->act = act;
	policy->given = gchint_energy_turn(p);
	policy->energy = gchint_energy_fill(&policy->opps, p);
	policy->hw_max_khz = p->cpuinfo.max_freq;
	gchint_policy_init(policy);
	return policy;
}

/**
 * gchint_actuator_free - the reverse
 * @policy: the policy
 */
void gchint_actuator_free(struct gchint_policy *policy)
{
	if (policy->worker)
		kthread_destroy_worker(policy->worker);
	mutex_destroy(&policy->work_lock);
	kvfree(policy->stats);
	kvfree(policy);
}

/**
 * gchint_actuator_worker - give a policy a thread that may sleep
 * @policy: the policy
 *
 * Real-time FIFO, not the deadline class that schedutil's thread is in: its
 * flag for a thread without a bandwidth of its own is private to the scheduler.
 *
 * Return: 0 or a negative errno.
 */
int gchint_actuator_worker(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	struct kthread_worker *worker;

	worker = kthread_run_worker(0, "gchint:%u",
				    cpumask_first(p->related_cpus));
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	sched_set_fifo(worker->task);
	if (!p->dvfs_possible_from_any_cpu)
		set_cpus_allowed_ptr(worker->task, p->related_cpus);
	policy->worker = worker;
	return 0;
}

/**
 * gchint_actuator_add - a policy is about to be acted on
 * @policy: the policy
 *
 * Return: 0; -EBUSY, another actuator is in force there; -EAGAIN, something was given
 * since its OPPs were read; never if the policy's rwsem is held for writing since then.
 */
int gchint_actuator_add(struct gchint_policy *policy)
{
	struct gchint_policy *other;
	int ret = 0;

	mutex_lock(&policies_lock);
	list_for_each_entry(other, &policies, node)
		if (other->policy == policy->policy)
			ret = -EBUSY;
	if (!ret && policy->given != gchint_energy_turn(policy->policy))
		ret = -EAGAIN;
	if (!ret)
		list_add_tail(&policy->node, &policies);
	mutex_unlock(&policies_lock);
	return ret;
}

/**
 * gchint_actuator_remove - it is not acted on any more
 * @policy: the policy, stopped
 */
void gchint_actuator_remove(struct gchint_policy *policy)
{
	mutex_lock(&policies_lock);
	list_del(&policy->node);
	mutex_unlock(&policies_lock);
}

/**
 * gchint_actuator_started - hints have an effect from now on, or no more
 * @policy: the policy
 * @started: which
 */
void gchint_actuator_started(struct gchint_policy *policy, bool started)
{
	mutex_lock(&policies_lock);
	policy->started = started;
	recount();
	mutex_unlock(&policies_lock);
}

/**
 * gchint_actuator_limits - a policy's limits have changed
 */
void gchint_actuator_limits(void)
{
	told->limits();
}

/**
 * gchint_actuator_refill - a policy's hardware has another highest frequency
 * @policy: the policy
 *
 * Boost was turned on or off, or the firmware took the upper half away. Loads
 * and memory fractions are parts of the highest frequency, so this is more than
 * a limit. Without memory it keeps the old ones until the next time.
 */
void gchint_actuator_refill(struct gchint_policy *policy)
{
	const struct gchint_energy_source *energy;
	struct cpufreq_policy *p = policy->policy;
	struct gchint_opps *opps;

	opps = kmalloc(sizeof(*opps), GFP_KERNEL);
	if (!opps)
		return;
	energy = gchint_energy_fill(opps, p);
	mutex_lock(&policies_lock);
	policy->energy = energy;
	policy->hw_max_khz = p->cpuinfo.max_freq;
	gchint_policy_opps(policy, opps);
	mutex_unlock(&policies_lock);
	kfree(opps);
}

static void other_opps(struct gchint_policy *policy, const struct gchint_opps *opps,
		       const struct gchint_energy_source *energy)
{
	policy->energy = energy;
	policy->hw_max_khz = policy->policy->cpuinfo.max_freq;
	gchint_policy_opps(policy, opps);
	if (policy->started)
		gchint_policy_rules(policy);
}

/**
 * gchint_actuator_give - take what was measured of a policy's power
 * @p: the cpufreq policy, its rwsem held; whether it is acted on or not
 * @given: the figures; ours from now on, if they are taken. NULL: forget them
 * @fault: out: what is wrong with them
 * @at: out: index of the OPP at fault
 *
 * Return: 0, -EINVAL with a fault, or -ENOMEM; nothing has changed then.
 */
int gchint_actuator_give(struct cpufreq_policy *p, struct gchint_given *given,
			 enum gchint_given_fault *fault, u32 *at)
{
	const struct gchint_energy_source *energy;
	struct gchint_policy *policy;
	struct gchint_opps *opps;
	int ret;

	opps = kmalloc(sizeof(*opps), GFP_KERNEL);
	if (!opps)
		return -ENOMEM;
	mutex_lock(&policies_lock);
	ret = gchint_energy_give(p, given, fault, at);
	if (ret)
		goto unlock;
	energy = gchint_energy_fill(opps, p);
	list_for_each_entry(policy, &policies, node)
		if (policy->policy == p)
			other_opps(policy, opps, energy);
unlock:
	mutex_unlock(&policies_lock);
	kfree(opps);
	return ret;
}

/**
 * gchint_actuator_active - do hints act on a policy?
 * @p: the cpufreq policy
 *
 * Return: whether an actuator is in force there and its mode is not off.
 */
bool gchint_actuator_active(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	bool found = false;

	mutex_lock(&policies_lock);
	list_for_each_entry(policy, &policies, node)
		found |= policy->policy == p && active(policy);
	mutex_unlock(&policies_lock);
	return found;
}

/**
 * gchint_actuator_count - how many policies obey hints
 *
 * Return: those on which an actuator is in force and whose mode is not off.
 */
unsigned int gchint_actuator_count(void)
{
	return READ_ONCE(nr_active);
}

/**
 * gchint_actuator_each - call a function for each policy acted on
 * @fn: the function; a value other than 0 stops the walk
 * @priv: passed through
 *
 * May sleep.
 *
 * Return: what the last call of @fn returned, or 0.
 */
int gchint_actuator_each(int (*fn)(struct gchint_policy *policy, void *priv),
			 void *priv)
{
	struct gchint_policy *policy;
	int ret = 0;

	mutex_lock(&policies_lock);
	list_for_each_entry(policy, &policies, node) {
		ret = fn(policy, priv);
		if (ret)
			break;
	}
	mutex_unlock(&policies_lock);
	return ret;
}
