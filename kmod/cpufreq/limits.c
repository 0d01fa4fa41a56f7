// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency limits of a policy, alongside any governor: a cap while all of its
 * busy CPUs ask for one, a floor while threads wait. cpufreq combines them with
 * those of others, the narrower one wins, and a cap never goes below the floor
 * of another user.
 *
 * Between decision and hardware is our worker, since a request may sleep. Its
 * time is measured and used as the switch latency: phases that would not
 * outlast it (min_latencies) have no effect.
 */
#include <linux/cpufreq.h>
#include <linux/workqueue.h>

#include "actuator.h"
#include "policy.h"

/* Assumed until it is measured. */
#define DEFAULT_LATENCY_NS (100 * (u32)NSEC_PER_USEC)

/* With the worker and the driver. Small changes only invalidate plans. */
static void limits_measure_latency(struct gchint_policy *policy, u64 took_ns)
{
	struct gchint_limits *limits = &policy->limits;
	u32 known = policy->rules.latency_ns, ns;

	took_ns = min_t(u64, took_ns, NSEC_PER_SEC);
	limits->took_ns += ((s64)took_ns - limits->took_ns) / 8;
	ns = limits->took_ns;
	if (policy->policy->cpuinfo.transition_latency != U32_MAX)
		ns += policy->policy->cpuinfo.transition_latency;
	if (ns > known + known / 4 || ns < known - known / 4)
		gchint_policy_set_latency(policy, ns);
}

/*
 * Only a governor gets a callback when the hardware's highest frequency
 * changes. The rwsem keeps the driver from freeing the frequency table.
 */
static void limits_refill_opps(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;

	down_read(&p->rwsem);
	if (!policy_is_inactive(p)) {
		gchint_actuator_reload_opps(policy);
		gchint_policy_update_rules(policy);
	}
	up_read(&p->rwsem);
}

/* Does a cap of ours hide what others allow? */
static bool limits_cap_binds(const struct gchint_policy *policy)
{
	const struct freq_constraints *constraints = &policy->policy->constraints;
	s32 cap = READ_ONCE(policy->limits.cap_khz);

	return cap != FREQ_QOS_MAX_DEFAULT_VALUE &&
	       cap <= READ_ONCE(constraints->max_freq.target_value);
}

/*
 * The highest frequency that others allow. While a cap of ours is the narrowest
 * limit, it is what they allowed before.
 */
static u32 limits_others_max(const struct gchint_policy *policy)
{
	if (limits_cap_binds(policy))
		return READ_ONCE(policy->limits.others_max_khz);
	return READ_ONCE(policy->policy->max);
}

static void limits_record_others(struct gchint_policy *policy)
{
	struct gchint_limits *limits = &policy->limits;
	u32 khz = limits_others_max(policy);

	if (khz == limits->others_max_khz)
		return;
	WRITE_ONCE(limits->others_max_khz, khz);
	gchint_actuator_notify_limits();
}

/*
 * Our requests queue cpufreq's own work for this, but that runs in a thread of
 * normal priority, on the CPU of the worker: a real-time thread there would
 * keep a cap in force for as long as it runs. A request of another user before
 * the cancellation is applied here, a later one queues the work again.
 */
static void limits_apply(struct cpufreq_policy *p)
{
	cancel_work(&p->update);
	down_write(&p->rwsem);
	refresh_frequency_limits(p);
	up_write(&p->rwsem);
}

static int limits_set_cap(struct gchint_policy *policy, s32 cap)
{
	struct gchint_limits *limits = &policy->limits;
	int ret;

	/* Until it is applied the old cap is in force. */
	WRITE_ONCE(limits->cap_khz, min(limits->cap_khz, cap));
	ret = freq_qos_update_request(&limits->cap, cap);
	limits_apply(policy->policy);
	WRITE_ONCE(limits->cap_khz, cap);
	limits_record_others(policy);
	return ret;
}

/* Floor first: one that ends is gone before a cap comes. */
static void limits_work(struct kthread_work *work)
{
	struct gchint_policy *policy =
		container_of(work, struct gchint_policy, work);
	struct freq_constraints *constraints = &policy->policy->constraints;
	struct gchint_limits *limits = &policy->limits;
	u64 hint_ns, queued_ns, now;
	struct gchint_request next;
	unsigned long flags;
	s32 cap, floor;
	bool requested;
	int ret;

	if (policy->hw_max_khz != READ_ONCE(policy->policy->cpuinfo.max_freq))
		limits_refill_opps(policy);
	raw_spin_lock_irqsave(&policy->lock, flags);
	requested = policy->work_in_progress;
	policy->work_in_progress = false;
	policy->asking = true;
	next = policy->next;
	cap = policy->state.bounds.cap_khz ?: FREQ_QOS_MAX_DEFAULT_VALUE;
	floor = policy->state.bounds.floor_khz ?: FREQ_QOS_MIN_DEFAULT_VALUE;
	hint_ns = policy->hint_ns;
	policy->hint_ns = 0;
	queued_ns = limits->queued_ns;
	limits->queued_ns = 0;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	/* A change of others that waits would be hidden by the cap. */
	if (work_pending(&policy->policy->update))
		limits_apply(policy->policy);
	limits_record_others(policy);
	freq_qos_update_request(&limits->floor, floor);
	if (cap != FREQ_QOS_MAX_DEFAULT_VALUE)
		cap = max(cap, READ_ONCE(constraints->min_freq.target_value));
	now = gchint_now();
	/* Takes the policy's rwsem: hold no lock here. */
	ret = limits_set_cap(policy, cap);

	raw_spin_lock_irqsave(&policy->lock, flags);
	policy->asking = false;
	/* No decision when only the floor of another user moved. */
	if (requested && ret >= 0)
		gchint_policy_account_request(policy, &next, policy->khz, hint_ns, now);
	if (queued_ns)
		limits_measure_latency(policy,
				       gchint_elapsed(gchint_now(), queued_ns));
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/* Another user's floor changed: our cap may have to rise, or may return. */
static int limits_floor_changed(struct notifier_block *nb, unsigned long khz,
				void *data)
{
	struct gchint_policy *policy =
		container_of(nb, struct gchint_policy, limits.others);

	/* Our own floor is set by the worker, which updates the cap next. */
	if (current != policy->worker->task)
		kthread_queue_work(policy->worker, &policy->work);
	return NOTIFY_OK;
}

static void limits_request(struct gchint_policy *policy, u64 hint_ns)
{
	bool alert = policy->shared && policy->state.bounds.cap_khz;
	unsigned int cpu;

	for_each_cpu(cpu, policy->policy->related_cpus)
		WRITE_ONCE(per_cpu(gchint_cpus.alert, cpu), alert);
	if (!policy->hint_ns)
		policy->hint_ns = hint_ns;
	if (!policy->work_in_progress) {
		policy->work_in_progress = true;
		policy->limits.queued_ns = gchint_now();
		irq_work_queue(&policy->irq_work);
	}
}

static int limits_attach(struct gchint_policy *policy)
{
	struct freq_constraints *constraints = &policy->policy->constraints;
	struct gchint_limits *limits = &policy->limits;
	unsigned int cpu;
	int ret;

	limits->took_ns = DEFAULT_LATENCY_NS;
	limits->cap_khz = FREQ_QOS_MAX_DEFAULT_VALUE;
	limits->others_max_khz = READ_ONCE(policy->policy->max);
	limits->others.notifier_call = limits_floor_changed;
	policy->rules.latency_ns = DEFAULT_LATENCY_NS;
	ret = gchint_actuator_create_worker(policy, limits_work, false);
	if (ret)
		return ret;
	ret = freq_qos_add_request(constraints, &limits->floor, FREQ_QOS_MIN,
				   FREQ_QOS_MIN_DEFAULT_VALUE);
	if (ret < 0)
		return ret;
	ret = freq_qos_add_request(constraints, &limits->cap, FREQ_QOS_MAX,
				   FREQ_QOS_MAX_DEFAULT_VALUE);
	if (ret < 0)
		goto remove_floor;
	ret = freq_qos_add_notifier(constraints, FREQ_QOS_MIN, &limits->others);
	if (ret)
		goto remove_cap;
	gchint_policy_start(policy);
	/* Threads that run already were not seen to be switched in. */
	for_each_cpu(cpu, policy->policy->related_cpus)
		gchint_policy_poke(cpu);
	return 0;

remove_cap:
	freq_qos_remove_request(&limits->cap);
remove_floor:
	freq_qos_remove_request(&limits->floor);
	return ret;
}

/* cpufreq requires that no request is left when it frees a policy. */
static void limits_detach(struct gchint_policy *policy)
{
	struct gchint_limits *limits = &policy->limits;
	unsigned int cpu;

	freq_qos_remove_notifier(&policy->policy->constraints, FREQ_QOS_MIN,
				 &limits->others);
	gchint_policy_stop(policy);
	for_each_cpu(cpu, policy->policy->related_cpus)
		WRITE_ONCE(per_cpu(gchint_cpus.alert, cpu), false);
	freq_qos_remove_request(&limits->cap);
	freq_qos_remove_request(&limits->floor);
}

const struct gchint_actuator gchint_limits = {
	.name = "limits",
	.id = GCHINT_ACTUATOR_LIMITS,
	.can = GCHINT_CAN_LIMITS,
	.attach = limits_attach,
	.detach = limits_detach,
	.request = limits_request,
	.others_max = limits_others_max,
};
