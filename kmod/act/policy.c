// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs under gchint_policy.lock, in the scheduler's context: no sleeping,
 * no allocation, no printing.
 */
#include <linux/cpufreq.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/tick.h>

#include "compat/util.h"
#include "demand.h"
#include "policy.h"
#include "policy/kind.h"
#include "tell/event.h"
#include "tunable_set.h"

DEFINE_PER_CPU_ALIGNED(struct gchint_cpu, gchint_cpus);

/* What is learned is learned by kind of CPU. */
static struct gchint_kinds kinds;
/* By the first CPU of a policy: its kind and one; 0 not told yet. */
static DEFINE_PER_CPU(u8, told_kind);
/* Serialises both. */
static struct gchint_load_migrations migrations;
static DEFINE_RAW_SPINLOCK(kinds_lock);

/* Set before there is a policy. */
static const struct gchint_follower *follower;

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
	return READ_ONCE(kinds.kind[kind].khz);
}

/*
 * A CPU is of one kind for as long as the module is there, whatever becomes of
 * its highest frequency.
 */
static void claim_kind(struct gchint_policy *policy)
{
	unsigned int cpu = cpumask_first(policy->policy->related_cpus);
	u8 *told = per_cpu_ptr(&told_kind, cpu);
	unsigned long flags;

	raw_spin_lock_irqsave(&kinds_lock, flags);
	if (!*told)
		*told = gchint_kind_of(&kinds, gchint_util_capacity(cpu),
				       policy->opps.ref_khz) + 1;
	policy->kind = *told - 1;
	raw_spin_unlock_irqrestore(&kinds_lock, flags);
	policy->rules.kind_khz = gchint_policy_kind_khz(policy->kind);
}

/**
 * gchint_policy_follow - name those who follow threads
 * @who: they
 *
 * Before the first policy, and until after the last.
 */
void gchint_policy_follow(const struct gchint_follower *who)
{
	follower = who;
}

/**
 * gchint_policy_poke - make a CPU look and decide
 * @cpu: the CPU; nothing happens if it is offline
 *
 * Any context, but not of this CPU under its policy's lock; returns before it has
 * happened.
 */
void gchint_policy_poke(unsigned int cpu)
{
	follower->poke(cpu);
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

/**
 * gchint_policy_switched - the frequency in force may be another one now
 * @policy: the policy, locked
 * @khz: the frequency
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_policy_switched(struct gchint_policy *policy, u32 khz, u64 now)
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

/*
 * Apart, because a record is large: inlined, each decision would clear the
 * stack for it, although nearly always nobody watches.
 */
static noinline void tell(const struct gchint_policy *policy,
			  const struct gchint_request *request, u32 khz_from,
			  u64 latency, u64 now)
{
	const struct gchint_decision *d = &request->decision;
	struct gchint_record record = {
		.type = GCHINT_EVENT_DECISION,
		.time = now,
		.cpu = d->cpu,
		.session = request->who.session,
		.tgid = request->who.tgid,
		.tid = request->who.tid,
		.slot = request->who.slot,
		.decision = {
			.reason = d->reason,
			.phase = d->phase,
			.flags = request->who.flags,
			.mode = policy->rules.tun->mode,
			.policy = cpumask_first(policy->policy->related_cpus),
			.khz_from = khz_from,
			.khz = d->khz,
			.raw_khz = d->raw_khz,
			.min_khz = policy->rules.min_khz,
			.max_khz = policy->rules.max_khz,
			.load = d->load,
			.latency = latency,
		},
	};

	gchint_event_tell(&record);
}

/**
 * gchint_policy_asked - something is asked for now: count it and tell of it
 * @policy: the policy, locked
 * @request: what
 * @khz_from: the frequency before
 * @hint_ns: when the hint came that is the reason, 0 none
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_policy_asked(struct gchint_policy *policy,
			 const struct gchint_request *request, u32 khz_from,
			 u64 hint_ns, u64 now)
{
	u64 latency = 0;

	policy->stats->switches[request->decision.reason]++;
	if (hint_ns) {
		latency = gchint_elapsed(now, hint_ns);
		policy->stats->latency[gchint_latency_bucket(latency)]++;
	}
	if (gchint_event_wants_decision())
		tell(policy, request, khz_from, latency, now);
}

/* -- Decisions -- */

/*
 * Plans hold for a while, and until the limits change. Each CPU renews its own
 * when it comes to decide, but CPUs that share a policy share its rate limit as
 * well: one that is called often keeps all others from coming.
 */
static const struct gchint_demand *demand(struct gchint_policy *policy,
					  unsigned int cpu, u64 now)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

	/* Looked at for this very decision? */
	if (c->thread && !c->held && c->ran_since != now)
		follower->renew(c, policy, now);
	return gchint_demand_of(c, &policy->rules, policy->scale,
				policy->state.idle, now);
}

/* The highest of all of the policy's CPUs. */
static const struct gchint_demand *demand_of_all(struct gchint_policy *policy,
						 u64 now)
{
	struct gchint_demand *best = &policy->joint;
	unsigned int cpu;

	memset(best, 0, sizeof(*best));
	for_each_cpu(cpu, policy->policy->cpus)
		gchint_decide_join(best, demand(policy, cpu, now));
	return best;
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
	policy->act->request(policy, hint_ns);
}

/*
 * Who limits a policy and does not govern it decides within the hardware's
 * limits: those of the policy are partly its own, and cpufreq joins them.
 */
static u32 lowest(const struct gchint_policy *policy)
{
	return gchint_policy_loaded(policy) ? READ_ONCE(policy->policy->min) :
					      policy->policy->cpuinfo.min_freq;
}

static u32 highest(const struct gchint_policy *policy)
{
	return gchint_policy_loaded(policy) ? READ_ONCE(policy->policy->max) :
					      policy->policy->cpuinfo.max_freq;
}

/* The limits are those of the policy now. */
static void take_limits(struct gchint_policy *policy)
{
	struct gchint_rules *rules = &policy->rules;

	rules->min_khz = lowest(policy);
	rules->max_khz = highest(policy);
	gchint_plan_mutators(rules);
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
	if (unlikely(policy->rules.max_khz != highest(policy) ||
		     policy->rules.min_khz != lowest(policy))) {
		take_limits(policy);
		/* Limits have no call of cpufreq's for that: their worker looks. */
		if (!gchint_policy_loaded(policy))
			irq_work_queue(&policy->irq_work);
	}
	gchint_policy_sync(policy, now);
	if (policy->shared)
		best = demand_of_all(policy, now);
	else
		best = demand(policy, policy->policy->cpu, now);
	gchint_decide_policy(&policy->last, &policy->rules, &policy->state,
			     best, now);
	WRITE_ONCE(policy->next_time, now + policy->clock +
		   gchint_decide_wait_ns(&policy->rules, &policy->last,
					 policy->delay_ns));
	if (policy->last.avoided)
		policy->stats->avoided++;
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
			follower->look(c, policy, now);
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
	due = here && c->thread && follower->due(c);
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
	gchint_policy_switched(policy, p->cur, gchint_now());
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
	unsigned long flags;
	unsigned int phase;

	raw_spin_lock_irqsave(&policy->lock, flags);
	for (phase = GCHINT_PHASE_NONE + 1; phase < GCHINT_PHASE_NR; phase++)
		gchint_opps_move(opps, &policy->opps,
				 gchint_stats_time(policy->stats, phase));
	policy->opps = *opps;
	derive(policy);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/**
 * gchint_policy_latency - what is asked for takes so long to have an effect
 * @policy: the policy, locked
 * @ns: time
 */
void gchint_policy_latency(struct gchint_policy *policy, u32 ns)
{
	policy->rules.latency_ns = ns;
	take_limits(policy);
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
	policy->rules.opps = &policy->opps;
}

/*
 * cpufreq stops a governor and starts it anew when a CPU comes or goes. Nobody
 * does so for others: they have those that are offline, too.
 */
static const struct cpumask *members(const struct gchint_policy *policy)
{
	return gchint_policy_loaded(policy) ? policy->policy->cpus :
					      policy->policy->related_cpus;
}

/**
 * gchint_policy_start - begin to decide
 * @policy: the policy
 *
 * For the governor, with the cpufreq policy's rwsem held.
 */
void gchint_policy_start(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	unsigned int cpu;

	claim_kind(policy);
	/* Those that are offline now may come, and nobody starts us anew then. */
	policy->shared = cpumask_weight(members(policy)) > 1;
	if (gchint_policy_loaded(policy))
		policy->rules.latency_ns = p->cpuinfo.transition_latency;
	policy->rules.meter_us = cpufreq_policy_transition_delay_us(p);
	policy->rules.beside = !gchint_policy_loaded(policy);
	memset(&policy->state, 0, sizeof(policy->state));
	memset(&policy->last, 0, sizeof(policy->last));
	policy->next_time = 0;
	policy->clock = local_clock() - gchint_now();
	policy->work_in_progress = false;
	policy->asking = false;
	policy->hint_ns = 0;
	gchint_policy_rules(policy);

	for_each_cpu(cpu, members(policy)) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
		u64 wall, idle = get_cpu_idle_time(cpu, &wall, 0);
		u64 now = gchint_now();

		gchint_load_init(&c->load, &migrations, cpu, now, idle);
		c->seen_pid = 0;
		c->park_ns = 0;
		c->parked = false;
		memset(&c->demand, 0, sizeof(c->demand));
		c->wish = GCHINT_NO_WISH;
		c->alert = false;
		memset(&c->neighbour, 0, sizeof(c->neighbour));
		c->phase = GCHINT_PHASE_NONE;
		c->khz_since = now;
		c->khz_ms = 0;
	}
	/* Decisions look at all CPUs: none before each is ready. */
	for_each_cpu(cpu, members(policy)) {
		struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

		rcu_assign_pointer(c->policy, policy);
		if (gchint_policy_loaded(policy))
			cpufreq_add_update_util_hook(cpu, &c->hook, hook);
		else
			WRITE_ONCE(c->minded, true);
	}
}

/**
 * gchint_policy_stop - decide no more
 * @policy: the policy
 *
 * Unhook, so that nobody new comes; wait for those who are in; only then is
 * there nobody left to queue the irq_work, nor, after that, the work.
 */
void gchint_policy_stop(struct gchint_policy *policy)
{
	unsigned int cpu;

	for_each_cpu(cpu, members(policy)) {
		if (gchint_policy_loaded(policy))
			cpufreq_remove_update_util_hook(cpu);
		WRITE_ONCE(per_cpu(gchint_cpus.minded, cpu), false);
		RCU_INIT_POINTER(per_cpu(gchint_cpus.policy, cpu), NULL);
	}
	synchronize_rcu();
	if (policy->worker) {
		irq_work_sync(&policy->irq_work);
		kthread_cancel_work_sync(&policy->work);
	}
}
