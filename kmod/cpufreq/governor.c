// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpufreq calls with the policy's rwsem held, sometimes while a CPU is being
 * plugged: nothing here may switch a tracepoint, or wait for that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "actuator.h"
#include "energy.h"
#include "policy.h"
#include "tunable_set.h"

static void governor_request_fast(struct gchint_policy *policy, u64 hint_ns)
{
	u32 from = policy->khz, wanted = policy->next.decision.khz;
	u32 khz = cpufreq_driver_fast_switch(policy->policy, wanted);
	u64 now;

	if (!khz) {
		gchint_decide_refused(&policy->state, policy->khz);
		return;
	}
	now = gchint_now();
	gchint_policy_switched(policy, khz, now);
	/* After a change of rules it may be the frequency in force. */
	if (wanted != from)
		gchint_policy_account_request(policy, &policy->next, from, hint_ns, now);
}

static void governor_work(struct kthread_work *work)
{
	struct gchint_policy *policy =
		container_of(work, struct gchint_policy, work);
	struct gchint_request next;
	unsigned long flags;
	u32 khz;
	int ret;

	/* With the flag: a later decision finds it clear and queues again. */
	raw_spin_lock_irqsave(&policy->lock, flags);
	next = policy->next;
	khz = next.decision.khz;
	policy->work_in_progress = false;
	/* The last of several decisions may be the frequency in force. */
	if (khz != policy->khz)
		gchint_policy_account_request(policy, &next, policy->khz, policy->hint_ns,
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

static void governor_request(struct gchint_policy *policy, u64 hint_ns)
{
	if (policy->policy->fast_switch_enabled) {
		governor_request_fast(policy, hint_ns);
		return;
	}
	if (!policy->hint_ns)
		policy->hint_ns = hint_ns;
	if (!policy->work_in_progress) {
		policy->work_in_progress = true;
		irq_work_queue(&policy->irq_work);
	}
}

static const struct gchint_actuator governor_actuator = {
	.name = "governor",
	.id = GCHINT_ACTUATOR_GOVERNOR,
	.can = GCHINT_CAN_LOAD | GCHINT_CAN_EXACT,
	.request = governor_request,
};

static int governor_init(struct cpufreq_policy *p)
{
	struct gchint_policy *policy;
	int ret;

	/* State should be equivalent to EXIT. */
	if (p->governor_data)
		return -EBUSY;

	cpufreq_enable_fast_switch(p);

	policy = gchint_actuator_new(p, &governor_actuator);
	if (!policy) {
		ret = -ENOMEM;
		goto disable_fast_switch;
	}
	if (!p->fast_switch_enabled) {
		ret = gchint_actuator_create_worker(policy, governor_work,
						    true);
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
	if (gchint_energy_aware())
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

static void governor_exit(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	gchint_actuator_remove(policy);
	p->governor_data = NULL;

	gchint_tunable_set_detach(policy);
	gchint_actuator_free(policy);
	cpufreq_disable_fast_switch(p);
}

static int governor_start(struct cpufreq_policy *p)
{
	gchint_policy_start(p->governor_data);
	gchint_actuator_set_started(p->governor_data, true);
	gchint_policy_poke(p->cpu);
	return 0;
}

static void governor_stop(struct cpufreq_policy *p)
{
	gchint_actuator_set_started(p->governor_data, false);
	gchint_policy_stop(p->governor_data);
}

static void governor_limits(struct cpufreq_policy *p)
{
	struct gchint_policy *policy = p->governor_data;

	if (policy->hw_max_khz != p->cpuinfo.max_freq)
		gchint_actuator_reload_opps(policy);
	if (!p->fast_switch_enabled) {
		mutex_lock(&policy->work_lock);
		cpufreq_policy_apply_limits(p);
		mutex_unlock(&policy->work_lock);
	}
	gchint_policy_update_rules(policy);
	/* An idle CPU may not decide for long, and a limit may be thermal. */
	gchint_policy_poke(p->cpu);
	gchint_actuator_notify_limits();
}

/*
 * Strict: hardware that chooses by itself (HWP) takes a request as its highest
 * frequency, too. A cap would have no effect otherwise.
 */
static struct cpufreq_governor governor = {
	.name = "gchint",
	.owner = THIS_MODULE,
	.flags = CPUFREQ_GOV_DYNAMIC_SWITCHING | CPUFREQ_GOV_STRICT_TARGET,
	.init = governor_init,
	.exit = governor_exit,
	.start = governor_start,
	.stop = governor_stop,
	.limits = governor_limits,
};

int gchint_governor_init(void)
{
	return cpufreq_register_governor(&governor);
}

void gchint_governor_exit(void)
{
	cpufreq_unregister_governor(&governor);
}
