// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies that have an actuator. Those of the governor come and go by
 * cpufreq's calls, with the policy's rwsem held, the others by site.c.
 */
#include <linux/cpufreq.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "actuator.h"
#include "compat/kthread.h"
#include "energy.h"
#include "policy.h"
#include "tunable_set.h"

/* Any phase may come with a flag that raises, but not that of a wait. */
#define HINT_PHASES (GENMASK(GCHINT_PHASE_NR - 1, 1) & ~BIT(GCHINT_PHASE_WAIT))

#define WORKER_PERIOD_NS (10 * NSEC_PER_MSEC)

/* Serialises the list of policies and what is derived from it. */
static DEFINE_MUTEX(policies_lock);
static LIST_HEAD(policies);
static unsigned int nr_active;
static bool governs;

static const struct gchint_actuator_listener *actuator_listener;

static bool policy_is_active(const struct gchint_policy *policy)
{
	return policy->started && policy->set->tunables.mode != GCHINT_MODE_OFF;
}

/* Derives which doorbells are wanted, and whether to follow threads. */
static void policies_recount(void)
{
	struct gchint_policy *policy;
	bool governed = false;
	unsigned int nr = 0;

	lockdep_assert_held(&policies_lock);
	list_for_each_entry(policy, &policies, node) {
		nr += policy_is_active(policy);
		governed |= policy->started && gchint_policy_is_governed(policy);
	}
	WRITE_ONCE(nr_active, nr);
	WRITE_ONCE(governs, governed);
	actuator_listener->governed(nr ? HINT_PHASES : 0);
}

static void policies_tunables_changed(void)
{
	mutex_lock(&policies_lock);
	policies_recount();
	mutex_unlock(&policies_lock);
}

/* Before the first policy. */
void gchint_actuator_init(const struct gchint_actuator_listener *listener)
{
	actuator_listener = listener;
	gchint_tunable_set_init(policies_tunables_changed);
}

/* Return: a policy with OPPs, but without tunables; or NULL. */
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
	policy->power_generation = gchint_energy_generation(p);
	policy->energy = gchint_energy_fill(&policy->opps, p);
	policy->hw_max_khz = p->cpuinfo.max_freq;
	gchint_policy_init(policy);
	return policy;
}

void gchint_actuator_free(struct gchint_policy *policy)
{
	if (policy->worker)
		kthread_destroy_worker(policy->worker);
	mutex_destroy(&policy->work_lock);
	kvfree(policy->stats);
	kvfree(policy);
}

static void policy_queue_work(struct irq_work *irq_work)
{
	struct gchint_policy *policy =
		container_of(irq_work, struct gchint_policy, irq_work);

	kthread_queue_work(policy->worker, &policy->work);
}

/*
 * Deadline class, like schedutil's worker: a real-time thread must not keep a
 * cap in force. The flag for one without a bandwidth is private to the
 * scheduler, so this one reserves some, all workers together half a CPU at
 * most, and takes what others leave. Without that much to reserve it is FIFO.
 */
static void worker_set_class(struct kthread_worker *worker)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_DEADLINE,
		.sched_flags = SCHED_FLAG_RECLAIM,
		.sched_runtime = min_t(unsigned long, NSEC_PER_MSEC,
				       WORKER_PERIOD_NS / 2 / num_possible_cpus()),
		.sched_deadline = WORKER_PERIOD_NS,
		.sched_period = WORKER_PERIOD_NS,
	};

	if (sched_setattr_nocheck(worker->task, &attr))
		sched_set_fifo(worker->task);
}

/*
 * @pin: @work calls the driver, which may insist on a CPU of the policy; other
 * work must be able to leave a CPU that a thread above it occupies.
 */
int gchint_actuator_create_worker(struct gchint_policy *policy,
				  kthread_work_func_t work, bool pin)
{
	struct cpufreq_policy *p = policy->policy;
	struct kthread_worker *worker;

	/* Hard: on PREEMPT_RT others wait for a thread of low priority. */
	policy->irq_work = IRQ_WORK_INIT_HARD(policy_queue_work);
	kthread_init_work(&policy->work, work);
	worker = kthread_run_worker(0, "gchint:%u",
				    cpumask_first(p->related_cpus));
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	worker_set_class(worker);
	if (pin && !p->dvfs_possible_from_any_cpu)
		set_cpus_allowed_ptr(worker->task, p->related_cpus);
	policy->worker = worker;
	return 0;
}

/*
 * Return: 0; -EBUSY, there is another actuator; -EAGAIN, power was measured
 * since the OPPs were read, but never if the rwsem is held for writing since
 * then.
 */
int gchint_actuator_add(struct gchint_policy *policy)
{
	struct gchint_policy *other;
	int ret = 0;

	mutex_lock(&policies_lock);
	list_for_each_entry(other, &policies, node)
		if (other->policy == policy->policy)
			ret = -EBUSY;
	if (!ret && policy->power_generation != gchint_energy_generation(policy->policy))
		ret = -EAGAIN;
	if (!ret)
		list_add_tail(&policy->node, &policies);
	mutex_unlock(&policies_lock);
	return ret;
}

void gchint_actuator_remove(struct gchint_policy *policy)
{
	mutex_lock(&policies_lock);
	list_del(&policy->node);
	mutex_unlock(&policies_lock);
}

/* @started: the policy makes requests. The policy's rwsem may be held. */
void gchint_actuator_set_started(struct gchint_policy *policy, bool started)
{
	mutex_lock(&policies_lock);
	policy->started = started;
	policies_recount();
	mutex_unlock(&policies_lock);
}

/* The limits of a policy changed. Its rwsem may be held. */
void gchint_actuator_notify_limits(void)
{
	actuator_listener->limits();
}

static void policy_set_opps(struct gchint_policy *policy,
			    const struct gchint_opps *opps,
			    const struct gchint_energy_source *energy)
{
	policy->energy = energy;
	policy->hw_max_khz = policy->policy->cpuinfo.max_freq;
	gchint_policy_set_opps(policy, opps);
}

/*
 * Boost was switched, or the firmware took the upper half away. Loads and
 * memory fractions are relative to the highest frequency. Without memory the
 * old OPPs stay until the next call.
 */
void gchint_actuator_reload_opps(struct gchint_policy *policy)
{
	const struct gchint_energy_source *energy;
	struct gchint_opps *opps;

	opps = kmalloc(sizeof(*opps), GFP_KERNEL);
	if (!opps)
		return;
	energy = gchint_energy_fill(opps, policy->policy);
	mutex_lock(&policies_lock);
	policy_set_opps(policy, opps, energy);
	mutex_unlock(&policies_lock);
	kfree(opps);
}

/*
 * Take over @measured, or remove the measured power if NULL. The policy's rwsem is
 * held; it may have no actuator.
 *
 * Return: 0; or nothing has changed: -ENOMEM, -EINVAL with a fault and its OPP.
 */
int gchint_actuator_set_power(struct cpufreq_policy *p, struct gchint_measured *measured,
			      enum gchint_measured_error *fault, u32 *at)
{
	const struct gchint_energy_source *energy;
	struct gchint_policy *policy;
	struct gchint_opps *opps;
	int ret;

	opps = kmalloc(sizeof(*opps), GFP_KERNEL);
	if (!opps)
		return -ENOMEM;
	mutex_lock(&policies_lock);
	ret = gchint_energy_set_power(p, measured, fault, at);
	if (ret)
		goto unlock;
	energy = gchint_energy_fill(opps, p);
	list_for_each_entry(policy, &policies, node)
		if (policy->policy == p) {
			policy_set_opps(policy, opps, energy);
			if (policy->started)
				gchint_policy_update_rules(policy);
		}
unlock:
	mutex_unlock(&policies_lock);
	kfree(opps);
	return ret;
}

/* Is an actuator in force on the policy, and its mode not off? */
bool gchint_actuator_active(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	bool found = false;

	mutex_lock(&policies_lock);
	list_for_each_entry(policy, &policies, node)
		found |= policy->policy == p && policy_is_active(policy);
	mutex_unlock(&policies_lock);
	return found;
}

/* The highest frequency that others than us allow. The rwsem may be held. */
u32 gchint_actuator_others_max(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	u32 khz = p->max;

	mutex_lock(&policies_lock);
	list_for_each_entry(policy, &policies, node)
		if (policy->policy == p && policy->started &&
		    policy->act->others_max)
			khz = policy->act->others_max(policy);
	mutex_unlock(&policies_lock);
	return khz;
}

/*
 * Is the caller a worker that applies our own limits? Tracepoints no longer
 * disable preemption on newer kernels.
 */
bool gchint_actuator_is_applying(const struct cpufreq_policy *p)
{
	unsigned int cpu = cpumask_first(p->related_cpus);
	const struct gchint_policy *policy;
	bool applying;

	rcu_read_lock();
	policy = rcu_dereference(per_cpu(gchint_cpus.policy, cpu));
	applying = policy && policy->worker &&
		   policy->worker->task == current;
	rcu_read_unlock();
	return applying;
}

/* Number of policies on which hints act. Any context. */
unsigned int gchint_actuator_count(void)
{
	return READ_ONCE(nr_active);
}

/* Does the governor decide on a policy, in any mode? Any context. */
bool gchint_actuator_governs(void)
{
	return READ_ONCE(governs);
}

/* Until @fn returns other than 0, which is returned. May sleep. */
int gchint_actuator_for_each(int (*fn)(struct gchint_policy *policy, void *priv),
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
