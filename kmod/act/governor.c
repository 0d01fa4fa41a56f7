// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of the cpufreq core. It makes them with the policy's rwsem held,
 * some of them while a CPU is being plugged: nothing here may turn a
 * tracepoint on or off, or wait for one who does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "actuator.h"
#include "energy.h"
#include "governor.h"
#include "policy.h"
#include "tunable_set.h"

/* -- Requests -- */

static void request_fast(struct gchint_policy *policy, u64 hint_ns)
{
	u32 from = policy->khz;
	u64 now;
	u32 khz;

	khz = cpufreq_driver_fast_switch(policy->policy,
					 policy->next.decision.khz);
	if (!khz) {
		gchint_decide_refused(&policy->state, policy->khz);
		return;
	}
	now = gchint_now();
	gchint_policy_switched(policy, khz, now);
	/* After a change of rules it may be what is in force. */
	if (policy->next.decision.khz != from)
		gchint_policy_asked(policy, &policy->next, from, hint_ns, now);
}

static void request_slow(struct gchint_policy *policy, u64 hint_ns)
{
	if (!policy->hint_ns)
		policy->hint_ns = hint_ns;
	if (!policy->work_in_progress) {
		policy->work_in_progress = true;
		irq_work_queue(&policy->irq_work);
	}
}

static void slow_irq_work(struct irq_work *irq_work)
{
	struct gchint_policy *policy;

	policy = container_of(irq_work, struct gchint_policy, irq_work);
	kthread_queue_work(policy->worker, &policy->work);
}

static void slow_work(struct kthread_work *work)
{
	struct gchint_policy *policy;
	struct gchint_request next;
	unsigned long flags;
	u32 khz;
	int ret;

	policy = container_of(work, struct gchint_policy, work);
	/*
	 * Taken together with the flag: whoever decides after this finds it
	 * clear and queues once more, so no decision is lost.
	 */
	raw_spin_lock_irqsave(&policy->lock, flags);
	next = policy->next;
	khz = next.decision.khz;
	policy->work_in_progress = false;
	/* The last of several decisions may be the frequency in force. */
	if (khz != policy->khz)
		gchint_policy_asked(policy, &next, policy->khz, policy->hint_ns,
				    gchint_now());
	policy->hint_ns = 0;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	mutex_lock(&policy->work_lock);
	ret = __cpufreq_driver_target(policy->policy, khz, CPUFREQ_RELATION_L);
	mutex_unlock(&policy->work_lock);

	raw_spin_lock_irqsave(&policy->lock, flags);
	gchint_policy_switched(policy, policy->policy->cur, gchint_now());
	if (ret && !policy->work_in_progress)
		gchint_decide_refused(&policy->state, policy->khz);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

static void request(struct gchint_policy *policy, u64 hint_ns)
{
	if (policy->policy->fast_switch_enabled)
		request_fast(policy, hint_ns);
	else
		request_slow(policy, hint_ns);
}

static const struct gchint_actuator actuator = {
	.name = "governor",
	.id = GCHINT_ACTUATOR_GOVERNOR,
	.can = GCHINT_CAN_LOAD | GCHINT_CAN_EXACT,
	.request = request,
};

/* -- Calls of cpufreq -- */

static int gov_init(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	int ret;

	/* State should be equivalent to EXIT. */
	if (p->governor_data)
		return -EBUSY;

	cpufreq_enable_fast_switch(p);

	policy = gchint_actuator_new(p, &actuator);
	if (!policy) {
		ret = -ENOMEM;
		goto disable_fast_switch;
	}
	init_irq_work(&policy->irq_work, slow_irq_work);
	kthread_init_work(&policy->work, slow_work);
	if (!p->fast_switch_enabled) {
		ret = gchint_actuator_worker(policy);
		if (ret)
			goto free_policy;
	}
	ret = gchint_tunable_set_attach(policy);
	if (ret)
		goto free_policy;
	ret = gchint_actuator_add(policy);
	if (ret)
		goto detach_set;

	p->governor_data = policy;
	if (gchint_energy_places())
		pr_notice_once("CPUs differ, and this governor ends Energy-Aware Scheduling: schedutil with GCHINT_HINTS=clamp keeps it\n");
	return 0;

detach_set:
	gchint_tunable_set_detach(policy);
free_policy:
	gchint_actuator_free(policy);
disable_fast_switch:
	cpufreq_disable_fast_switch(p);
	if (ret == -EBUSY)
		pr_err("policy %u has another actuator in force: write off to its file in /sys/class/misc/gchint/actuator first\n",
		       p->cpu);
	else
		pr_err("cannot govern policy %u: %d\n", p->cpu, ret);
	return ret;
}

static void gov_exit(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	gchint_actuator_remove(policy);
	p->governor_data = NULL;

	gchint_tunable_set_detach(policy);
	gchint_actuator_free(policy);
	cpufreq_disable_fast_switch(p);
}

static int gov_start(struct cpufreq_policy *p)
{
	gchint_policy_start(p->governor_data);
	gchint_actuator_started(p->governor_data, true);
	gchint_policy_poke(p->cpu);
	return 0;
}

static void gov_stop(struct cpufreq_policy *p)
{
	gchint_actuator_started(p->governor_data, false);
	gchint_policy_stop(p->governor_data);
}

static void gov_limits(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	if (policy->hw_max_khz != p->cpuinfo.max_freq)
		gchint_actuator_refill(policy);
	if (!p->fast_switch_enabled) {
		mutex_lock(&policy->work_lock);
		cpufreq_policy_apply_limits(p);
		mutex_unlock(&policy->work_lock);
	}
	gchint_policy_rules(policy);
	/* An idle CPU would not call for long, and a limit may be thermal. */
	gchint_policy_poke(p->cpu);
	gchint_actuator_limits();
}

/*
 * Strict: hardware that chooses by itself (HWP) takes what is asked for as the highest
 * too, not as the lowest alone. A cap would be none otherwise.
 */
static struct cpufreq_governor governor = {
	.name = "gchint",
	.owner = THIS_MODULE,
	.flags = CPUFREQ_GOV_DYNAMIC_SWITCHING | CPUFREQ_GOV_STRICT_TARGET,
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
