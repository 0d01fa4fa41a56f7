// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency limits of a policy, beside whatever governs it: a cap while all of
 * its busy CPUs ask for one, a floor while somebody waits. cpufreq joins them
 * with the limits of others, and the narrower of two wins; so that a cap of ours
 * does not win against a floor of somebody else, it is never below that.
 *
 * From the decision to the register there are two threads: our worker, for a
 * request may sleep, and cpufreq's own, which applies it and is waited for. How long
 * they take is measured and counts as the time of a switch, so that phases which
 * would not outlast it (min_latencies) are let alone.
 */
#include <linux/cpufreq.h>
#include <linux/workqueue.h>

#include "actuator.h"
#include "limits.h"
#include "policy.h"

/* Until it is measured. */
#define TOOK_NS (100 * (u32)NSEC_PER_USEC)

static void call_worker(struct irq_work *irq_work)
{
	struct gchint_policy *policy;

	policy = container_of(irq_work, struct gchint_policy, irq_work);
	kthread_queue_work(policy->worker, &policy->work);
}

/*
 * Both threads, and the driver, which a governor may call later. Small changes would
 * only make plans void.
 */
static void measure(struct gchint_policy *policy, u64 took_ns)
{
	struct gchint_limits *limits = &policy->limits;
	u32 known = policy->rules.latency_ns, ns;

	took_ns = min_t(u64, took_ns, NSEC_PER_SEC);
	limits->took_ns += ((s64)took_ns - limits->took_ns) / 8;
	ns = limits->took_ns;
	if (policy->policy->cpuinfo.transition_latency != U32_MAX)
		ns += policy->policy->cpuinfo.transition_latency;
	if (ns > known + known / 4 || ns < known - known / 4)
		gchint_policy_latency(policy, ns);
}

/*
 * The hardware has another highest frequency: no governor of ours is told. Under the
 * rwsem, for with its last CPU the driver takes away the table that is read.
 */
static void renew_opps(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;

	down_read(&p->rwsem);
	if (!policy_is_inactive(p)) {
		gchint_actuator_refill(policy);
		gchint_policy_rules(policy);
	}
	up_read(&p->rwsem);
}

/*
 * Nothing is held here but what serialises workers. A floor goes before a cap
 * comes, and the reverse.
 */
static void apply(struct kthread_work *work)
{
	struct gchint_policy *policy;
	struct gchint_limits *limits;
	struct gchint_request next;
	u64 hint_ns, queued_ns;
	unsigned long flags;
	s32 cap, floor;
	bool requested;
	u64 now;
	int ret;

	policy = container_of(work, struct gchint_policy, work);
	limits = &policy->limits;
	if (policy->hw_max_khz != READ_ONCE(policy->policy->cpuinfo.max_freq))
		renew_opps(policy);
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

	freq_qos_update_request(&limits->floor, floor);
	if (cap != FREQ_QOS_MAX_DEFAULT_VALUE)
		cap = max(cap, READ_ONCE(policy->policy->constraints.min_freq.target_value));
	ret = freq_qos_update_request(&limits->cap, cap);
	now = gchint_now();
	/* Nothing is held: it takes the policy's rwsem. */
	flush_work(&policy->policy->update);

	raw_spin_lock_irqsave(&policy->lock, flags);
	policy->asking = false;
	/* Called because others moved their floor it decides nothing new. */
	if (requested && ret >= 0)
		gchint_policy_asked(policy, &next, policy->khz, hint_ns, now);
	if (queued_ns)
		measure(policy, gchint_elapsed(gchint_now(), queued_ns));
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/* Somebody raised or lowered the floor: our cap may have to give way, or may come back. */
static int others_changed(struct notifier_block *nb, unsigned long khz,
			  void *data)
{
	struct gchint_policy *policy;

	policy = container_of(nb, struct gchint_policy, limits.others);
	/* Our own floor is the worker's doing, and its cap follows in the same turn. */
	if (current != policy->worker->task)
		kthread_queue_work(policy->worker, &policy->work);
	return NOTIFY_OK;
}

static void request(struct gchint_policy *policy, u64 hint_ns)
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

static int attach(struct gchint_policy *policy)
{
	struct freq_constraints *constraints = &policy->policy->constraints;
	struct gchint_limits *limits = &policy->limits;
	unsigned int cpu;
	int ret;

	init_irq_work(&policy->irq_work, call_worker);
	kthread_init_work(&policy->work, apply);
	limits->took_ns = TOOK_NS;
	limits->others.notifier_call = others_changed;
	policy->rules.latency_ns = TOOK_NS;
	ret = gchint_actuator_worker(policy);
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
	/* Who runs there now was not seen to come. */
	for_each_cpu(cpu, policy->policy->related_cpus)
		gchint_policy_poke(cpu);
	return 0;

remove_cap:
	freq_qos_remove_request(&limits->cap);
remove_floor:
	freq_qos_remove_request(&limits->floor);
	return ret;
}

/* cpufreq wants to find no request of ours when it frees a policy. */
static void detach(struct gchint_policy *policy)
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
	.attach = attach,
	.detach = detach,
	.request = request,
};
