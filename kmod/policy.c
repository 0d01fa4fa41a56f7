// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs under gchint_policy.lock, in the scheduler's context: no sleeping,
 * no allocation, no printing. The one exception is the worker of drivers that
 * cannot switch fast, at the end.
 */
#include <linux/cpufreq.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/tick.h>

#include "demand.h"
#include "event.h"
#include "look.h"
#include "policy.h"
#include "tunable_set.h"
#include "watch.h"

/*
 * Kinds of CPU, told apart by their highest frequency. The first policy of a
 * kind claims it for good; a third kind learns with the nearest.
 */
static u32 kind_khz[GCHINT_KINDS];
static DEFINE_RAW_SPINLOCK(kinds_lock);

/* Never the same for two policies, nor twice for one. */
static atomic_t epoch;

/**
 * gchint_policy_kind_khz - highest frequency of a kind of CPU
 * @kind: below GCHINT_KINDS
 *
 * Return: kHz, 0 if there is no such kind.
 */
u32 gchint_policy_kind_khz(u8 kind)
{
	return READ_ONCE(kind_khz[kind]);
}

static u32 distance(u32 a, u32 b)
{
	return a > b ? a - b : b - a;
}

static u8 claim_kind(u32 khz)
{
	unsigned long flags;
	u8 kind, best = 0;

	raw_spin_lock_irqsave(&kinds_lock, flags);
	for (kind = 0; kind < GCHINT_KINDS; kind++) {
		if (!kind_khz[kind])
			WRITE_ONCE(kind_khz[kind], khz);
		if (distance(kind_khz[kind], khz) <
		    distance(kind_khz[best], khz))
			best = kind;
		if (kind_khz[kind] == khz)
			break;
	}
	raw_spin_unlock_irqrestore(&kinds_lock, flags);
	return best;
}

/* -- Accounts -- */

static u64 run_at(const struct gchint_policy *policy,
		  const struct gchint_cpu *c, u64 now)
{
	return (policy->khz * gchint_elapsed(now, c->khz_since)) >> 20;
}

/**
 * gchint_policy_mean_khz - mean frequency of the thread that ran on a CPU
 * @policy: its policy, locked
 * @c: the CPU, whose frequency changed meanwhile; counts anew from now on
 * @ran_ns: for how long it ran
 * @now: CLOCK_MONOTONIC ns
 *
 * Return: kHz
 */
u32 gchint_policy_mean_khz(struct gchint_policy *policy, struct gchint_cpu *c,
			   u64 ran_ns, u64 now)
{
	u32 khz = policy->khz;

	if (ran_ns)
		khz = div64_u64((c->khz_ms + run_at(policy, c, now)) << 20,
				ran_ns);
	c->khz_ms = 0;
	c->khz_since = now;
	return khz;
}

/* What follows from the frequency in force and the OPPs. */
static void derive(struct gchint_policy *policy)
{
	const struct gchint_opps *opps = &policy->opps;

	policy->opp = opps->nr ? gchint_opp_at_least(opps, policy->khz) : 0;
	policy->scale = gchint_scale(policy->khz, opps->ref_khz);
}

static void account(struct gchint_policy *policy, unsigned int cpu, u64 now)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

	gchint_policy_phase(policy, c, c->phase, now);
	c->khz_ms += run_at(policy, c, now);
	c->khz_since = now;
}

/* The frequency in force is another one now. */
static void switched(struct gchint_policy *policy, u32 khz, u64 now)
{
	unsigned int cpu;

	if (khz == policy->khz)
		return;
	if (policy->shared)
		for_each_cpu(cpu, policy->policy->cpus)
			account(policy, cpu, now);
	else
		account(policy, policy->policy->cpu, now);
	policy->khz = khz;
	derive(policy);
}

/* The driver is asked now; counts it and tells of it. */
static void asked(struct gchint_policy *policy,
		  const struct gchint_request *request, u32 khz_from,
		  u64 hint_ns, u64 now)
{
	u64 latency = 0;

	policy->stats.switches[request->decision.reason]++;
	if (hint_ns) {
		latency = gchint_elapsed(now, hint_ns);
		policy->stats.latency[gchint_latency_bucket(latency)]++;
	}
	gchint_event_decision(policy, request, khz_from, latency, now);
}

/* -- Decisions -- */

/* The highest of all of the policy's CPUs. */
static const struct gchint_demand *demand_of_all(struct gchint_policy *policy,
						 u64 now)
{
	struct gchint_demand *best = &policy->joint;
	unsigned int cpu;

	memset(best, 0, sizeof(*best));
	for_each_cpu(cpu, policy->policy->cpus)
		gchint_decide_join(best, gchint_demand_of(policy, cpu, now));
	return best;
}

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
	switched(policy, khz, now);
	asked(policy, &policy->next, from, hint_ns, now);
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

static void request(struct gchint_policy *policy, u64 hint_ns)
{
	struct gchint_request *next = &policy->next;
	const struct gchint_cpu *c;

	next->decision = policy->last;
	if (next->decision.class != GCHINT_CLASS_NEUTRAL) {
		c = per_cpu_ptr(&gchint_cpus, next->decision.cpu);
		next->who = c->who;
		next->who.flags = c->hint.flags;
	} else {
		memset(&next->who, 0, sizeof(next->who));
	}
	if (policy->policy->fast_switch_enabled)
		request_fast(policy, hint_ns);
	else
		request_slow(policy, hint_ns);
}

/* The limits are those of the policy now. */
static void take_limits(struct gchint_policy *policy)
{
	struct gchint_rules *rules = &policy->rules;
	struct cpufreq_policy *p = policy->policy;

	rules->min_khz = READ_ONCE(p->min);
	rules->max_khz = READ_ONCE(p->max);
	rules->floor_khz = gchint_plan_floor(rules);
	rules->epoch = atomic_inc_return(&epoch);
	policy->delay_ns = gchint_decide_delay_ns(rules);
}

/**
 * gchint_policy_decide - find the frequency and ask for it
 * @policy: the policy, locked
 * @now: CLOCK_MONOTONIC ns
 * @hint_ns: when the hint came that is the reason to ask, 0 none
 *
 * On a CPU that may switch this policy's frequency.
 */
void gchint_policy_decide(struct gchint_policy *policy, u64 now, u64 hint_ns)
{
	const struct gchint_demand *best;

	lockdep_assert_held(&policy->lock);
	policy->refresh = false;
	/* Boost moves them without a call of ours, if no request limits them. */
	if (unlikely(policy->rules.max_khz != READ_ONCE(policy->policy->max) ||
		     policy->rules.min_khz != READ_ONCE(policy->policy->min)))
		take_limits(policy);
	if (policy->shared)
		best = demand_of_all(policy, now);
	else
		best = gchint_demand_of(policy, policy->policy->cpu, now);
	gchint_decide_policy(&policy->last, &policy->rules, &policy->state,
			     best, now);
	WRITE_ONCE(policy->next_time, now + policy->clock +
		   gchint_decide_wait_ns(&policy->rules, &policy->last,
					 policy->delay_ns));
	if (policy->last.avoided)
		policy->stats.avoided++;
	if (policy->last.change)
		request(policy, hint_ns);
}

/*
 * The scheduler may call for another CPU; a driver may insist on a CPU of the
 * policy. One that has no policy of ours may be on its way offline, where our
 * irq_work would be lost.
 */
static bool can_switch(const struct gchint_policy *policy)
{
	const struct cpufreq_policy *p = policy->policy;

	return cpumask_test_cpu(smp_processor_id(), p->cpus) ||
	       (p->dvfs_possible_from_any_cpu &&
		rcu_access_pointer(*this_cpu_ptr(&gchint_cpus.policy)));
}

/* It may be time for a decision. Apart, so that the rest needs no stack. */
static noinline void update(struct gchint_cpu *c, struct gchint_policy *policy,
			    u64 time, bool due, bool woken)
{
	u64 now;

	if (!can_switch(policy))
		return;

	raw_spin_lock(&policy->lock);
	now = gchint_now();
	policy->clock = time - now;
	gchint_load_iowait(&c->load, now, woken, TICK_NSEC);
	/* Who took the lock before may have decided just now. */
	if (due || policy->refresh || (s64)(time - policy->next_time) >= 0) {
		if (c->thread && c->cpu == smp_processor_id())
			gchint_look(c, policy, now);
		gchint_policy_decide(policy, now, due ? now : 0);
	}
	raw_spin_unlock(&policy->lock);
}

/*
 * The update hook: called by the scheduler with the run queue of c->cpu locked,
 * at wakeups, sleeps and ticks. Between two decisions it is one comparison of
 * times, and one of a slot's state word when a leased thread runs.
 */
static void hook(struct update_util_data *data, u64 time, unsigned int flags)
{
	struct gchint_cpu *c = container_of(data, struct gchint_cpu, hook);
	struct gchint_policy *policy;
	bool here, due, woken;

	policy = rcu_dereference_sched(c->policy);
	/* A stop that has unhooked us has not yet waited for us. */
	if (unlikely(!policy))
		return;
	here = c->cpu == smp_processor_id();
	woken = flags & SCHED_CPUFREQ_IOWAIT;
	/*
	 * Somebody wakes on an idle CPU, and who it is will only be seen when it
	 * runs. What the CPU did before is no reason to take speed from it.
	 */
	if (here && is_idle_task(current) && !woken &&
	    !READ_ONCE(policy->refresh))
		return;
	due = here && c->thread && gchint_look_due(c);
	if (likely(!due && !woken && !READ_ONCE(policy->refresh) &&
		   (s64)(time - READ_ONCE(policy->next_time)) < 0))
		return;
	update(c, policy, time, due, woken);
}

/**
 * gchint_policy_rules - limits or tunables have changed
 * @policy: the policy
 *
 * Takes effect at the next call of the scheduler.
 */
void gchint_policy_rules(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	unsigned long flags;

	raw_spin_lock_irqsave(&policy->lock, flags);
	take_limits(policy);
	/* The core may have moved the frequency into new limits. */
	switched(policy, p->cur, gchint_now());
	if (policy->state.khz && !policy->work_in_progress && !policy->asking)
		policy->state.khz = p->cur;
	WRITE_ONCE(policy->refresh, true);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/**
 * gchint_policy_opps - the policy has other OPPs
 * @policy: the policy
 * @opps: they
 *
 * The caller holds off those who read its OPPs without its lock, and calls
 * gchint_policy_rules() afterwards.
 */
void gchint_policy_opps(struct gchint_policy *policy,
			const struct gchint_opps *opps)
{
	u8 kind = claim_kind(opps->ref_khz);
	unsigned long flags;
	unsigned int phase;

	raw_spin_lock_irqsave(&policy->lock, flags);
	for (phase = 0; phase < GCHINT_PHASE_NR; phase++)
		gchint_opps_move(opps, &policy->opps,
				 policy->stats.time_ns[phase]);
	policy->opps = *opps;
	policy->kind = kind;
	derive(policy);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/* -- The way of drivers that may sleep -- */

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
	policy->asking = true;
	/* The last of several decisions may be the frequency in force. */
	if (khz != policy->khz)
		asked(policy, &next, policy->khz, policy->hint_ns,
		      gchint_now());
	policy->hint_ns = 0;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	mutex_lock(&policy->work_lock);
	ret = __cpufreq_driver_target(policy->policy, khz, CPUFREQ_RELATION_L);
	mutex_unlock(&policy->work_lock);

	raw_spin_lock_irqsave(&policy->lock, flags);
	policy->asking = false;
	switched(policy, policy->policy->cur, gchint_now());
	if (ret && !policy->work_in_progress)
		gchint_decide_refused(&policy->state, policy->khz);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/* -- Life -- */

/**
 * gchint_policy_init - prepare a policy's private part
 * @policy: zeroed, @policy and @opps filled in
 */
void gchint_policy_init(struct gchint_policy *policy)
{
	raw_spin_lock_init(&policy->lock);
	mutex_init(&policy->work_lock);
	init_irq_work(&policy->irq_work, slow_irq_work);
	kthread_init_work(&policy->work, slow_work);
	policy->rules.opps = &policy->opps;
}

/**
 * gchint_policy_start - begin to govern
 * @policy: the policy
 *
 * Called with the cpufreq policy's rwsem held.
 */
void gchint_policy_start(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	unsigned int cpu;

	policy->kind = claim_kind(policy->opps.ref_khz);
	policy->shared = policy_is_shared(p);
	policy->rules.latency_ns = p->cpuinfo.transition_latency;
	memset(&policy->state, 0, sizeof(policy->state));
	memset(&policy->last, 0, sizeof(policy->last));
	policy->next_time = 0;
	policy->clock = local_clock() - gchint_now();
	policy->work_in_progress = false;
	policy->asking = false;
	policy->hint_ns = 0;
	gchint_policy_rules(policy);

	for_each_cpu(cpu, p->cpus) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
		u64 wall, idle = get_cpu_idle_time(cpu, &wall, 0);
		u64 now = gchint_now();

		gchint_load_init(&c->load, now, idle);
		c->seen_pid = 0;
		c->park_ns = 0;
		c->parked = false;
		memset(&c->demand, 0, sizeof(c->demand));
		c->wish = GCHINT_NO_WISH;
		c->phase = GCHINT_PHASE_NONE;
		c->khz_since = now;
		c->khz_ms = 0;
	}
	/* Decisions look at all CPUs: none before each is ready. */
	for_each_cpu(cpu, p->cpus) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

		rcu_assign_pointer(c->policy, policy);
		cpufreq_add_update_util_hook(cpu, &c->hook, hook);
	}
}

/**
 * gchint_policy_stop - govern no more
 * @policy: the policy
 *
 * Unhook, so that nobody new comes; wait for those who are in; only then is
 * there nobody left to queue the irq_work, nor, after that, the work.
 */
void gchint_policy_stop(struct gchint_policy *policy)
{
	unsigned int cpu;

	for_each_cpu(cpu, policy->policy->cpus) {
		cpufreq_remove_update_util_hook(cpu);
		RCU_INIT_POINTER(per_cpu(gchint_cpus.policy, cpu), NULL);
	}
	synchronize_rcu();
	if (policy->worker) {
		irq_work_sync(&policy->irq_work);
		kthread_cancel_work_sync(&policy->work);
	}
}
