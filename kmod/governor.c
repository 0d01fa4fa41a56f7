// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of the cpufreq core. It makes them with the policy's rwsem held,
 * some of them while a CPU is being plugged: nothing here may turn a
 * tracepoint on or off, or wait for one who does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufreq.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "compat/kthread.h"
#include "energy.h"
#include "governor.h"
#include "info.h"
#include "policy.h"
#include "probe.h"
#include "tunable_set.h"
#include "watch.h"

/*
 * Any phase may come with a flag that raises: all of them matter, but for the
 * one in which a thread does nothing.
 */
#define GOVERNED (GENMASK(GCHINT_PHASE_NR - 1, 1) & ~BIT(GCHINT_PHASE_WAIT))

static struct cpufreq_governor governor;

/* Serialises the list of policies and what is derived from it. */
static DEFINE_MUTEX(policies_lock);
static LIST_HEAD(policies);
static unsigned int nr_active;

static bool active(const struct gchint_policy *policy)
{
	return policy->started && policy->set->tunables.mode != GCHINT_MODE_OFF;
}

/* Which doorbells does the whole of them want? */
static void recount(void)
{
	struct gchint_policy *policy;
	unsigned int nr = 0;

	lockdep_assert_held(&policies_lock);
	list_for_each_entry(policy, &policies, node)
		nr += active(policy);
	WRITE_ONCE(nr_active, nr);
	gchint_info_governed(nr ? GOVERNED : 0);
	gchint_info_stale();
	gchint_probe_changed();
}

/**
 * gchint_governor_mode_changed - a policy's mode was written
 */
void gchint_governor_mode_changed(void)
{
	mutex_lock(&policies_lock);
	recount();
	mutex_unlock(&policies_lock);
}

/**
 * gchint_governor_count - how many policies obey hints
 *
 * Return: those under gchint whose mode is not off.
 */
unsigned int gchint_governor_count(void)
{
	return READ_ONCE(nr_active);
}

/**
 * gchint_governor_active - does a policy obey hints?
 * @policy: the cpufreq policy, its rwsem held
 *
 * Return: whether it is under gchint and its mode is not off.
 */
bool gchint_governor_active(struct cpufreq_policy *policy)
{
	return policy->governor == &governor && policy->governor_data &&
	       active(policy->governor_data);
}

/**
 * gchint_governor_each - call a function for each policy under gchint
 * @fn: the function; a value other than 0 stops the walk
 * @priv: passed through
 *
 * May sleep.
 *
 * Return: what the last call of @fn returned, or 0.
 */
int gchint_governor_each(int (*fn)(struct gchint_policy *policy, void *priv),
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

static int create_worker(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	struct kthread_worker *worker;

	worker = kthread_run_worker(0, "gchint:%u",
				    cpumask_first(p->related_cpus));
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	/*
	 * Real-time FIFO, not the deadline class that schedutil's thread is
	 * in: its flag for a thread without a bandwidth of its own is private
	 * to the scheduler.
	 */
	sched_set_fifo(worker->task);
	if (!p->dvfs_possible_from_any_cpu)
		set_cpus_allowed_ptr(worker->task, p->related_cpus);
	policy->worker = worker;
	return 0;
}

static int gov_init(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	int ret;

	/* State should be equivalent to EXIT. */
	if (p->governor_data)
		return -EBUSY;

	cpufreq_enable_fast_switch(p);

	policy = kvzalloc(sizeof(*policy), GFP_KERNEL);
	if (!policy) {
		ret = -ENOMEM;
		goto disable_fast_switch;
	}
	policy->policy = p;
	policy->energy = gchint_energy_fill(&policy->opps, p);
	policy->hw_max_khz = p->cpuinfo.max_freq;
	gchint_policy_init(policy);
	if (!p->fast_switch_enabled) {
		ret = create_worker(policy);
		if (ret)
			goto free_policy;
	}
	ret = gchint_tunable_set_attach(policy, governor.name);
	if (ret)
		goto destroy_worker;

	p->governor_data = policy;
	mutex_lock(&policies_lock);
	list_add_tail(&policy->node, &policies);
	mutex_unlock(&policies_lock);
	return 0;

destroy_worker:
	if (policy->worker)
		kthread_destroy_worker(policy->worker);
free_policy:
	kvfree(policy);
disable_fast_switch:
	cpufreq_disable_fast_switch(p);
	pr_err("cannot govern policy %u: %d\n", p->cpu, ret);
	return ret;
}

static void gov_exit(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	mutex_lock(&policies_lock);
	list_del(&policy->node);
	mutex_unlock(&policies_lock);
	p->governor_data = NULL;

	gchint_tunable_set_detach(policy);
	if (policy->worker)
		kthread_destroy_worker(policy->worker);
	mutex_destroy(&policy->work_lock);
	kvfree(policy);
	cpufreq_disable_fast_switch(p);
}

static void set_started(struct gchint_policy *policy, bool started)
{
	mutex_lock(&policies_lock);
	policy->started = started;
	recount();
	mutex_unlock(&policies_lock);
}

static int gov_start(struct cpufreq_policy *p)
{
	gchint_policy_start(p->governor_data);
	set_started(p->governor_data, true);
	gchint_watch_poke(p->cpu);
	return 0;
}

static void gov_stop(struct cpufreq_policy *p)
{
	set_started(p->governor_data, false);
	gchint_policy_stop(p->governor_data);
}

/*
 * Boost was turned on or off, or the firmware took the upper half away. Loads
 * and memory fractions are parts of the highest frequency, so this is more than
 * a limit.
 */
static void new_hardware_max(struct gchint_policy *policy)
{
	const struct gchint_energy_source *energy;
	struct cpufreq_policy *p = policy->policy;
	struct gchint_opps *opps;

	/* Without memory it keeps the old ones until the next change of limits. */
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

static void gov_limits(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	if (policy->hw_max_khz != p->cpuinfo.max_freq)
		new_hardware_max(policy);
	if (!p->fast_switch_enabled) {
		mutex_lock(&policy->work_lock);
		cpufreq_policy_apply_limits(p);
		mutex_unlock(&policy->work_lock);
	}
	gchint_policy_rules(policy);
	/* An idle CPU would not call for long, and a limit may be thermal. */
	gchint_watch_poke(p->cpu);
	gchint_info_stale();
}

static struct cpufreq_governor governor = {
	.name = "gchint",
	.owner = THIS_MODULE,
	.flags = CPUFREQ_GOV_DYNAMIC_SWITCHING,
	.init = gov_init,
	.exit = gov_exit,
	.start = gov_start,
	.stop = gov_stop,
	.limits = gov_limits,
};

int gchint_governor_init(void)
{
	return cpufreq_register_governor(&governor);
}

void gchint_governor_exit(void)
{
	cpufreq_unregister_governor(&governor);
}
