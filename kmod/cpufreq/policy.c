// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the thread that runs on each CPU, its load and its hint to a request.
 * Under gchint_policy.lock, in the scheduler's context: no sleeping, no
 * allocation, no printing.
 */
#include <linux/cpufreq.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/prio.h>
#include <linux/tick.h>

#include "compat/util.h"
#include "event/event.h"
#include "model/core_type.h"
#include "policy.h"
#include "tunable_set.h"

/* Load hardly changes in less, and reading the idle time is costly. */
#define ACCOUNT_NS (200 * (u64)NSEC_PER_USEC)

/* A thread is new until it has run for PELT's half-life. */
#define YOUNG_NS (32 * (u64)NSEC_PER_MSEC)

DEFINE_PER_CPU_ALIGNED(struct gchint_cpu, gchint_cpus);
static struct gchint_load_migrations load_migrations;

/* Memory-boundness is learned by core type. */
static struct gchint_core_types core_types;
/* Core type + 1 by the first CPU of a policy; 0 not assigned yet. */
static DEFINE_PER_CPU(u8, policy_core_type);
/* Serialises both. */
static DEFINE_RAW_SPINLOCK(core_types_lock);

static const struct gchint_task_ops *task_ops;

/* Of gchint_rules.epoch: never the same for two policies, nor twice for one. */
static atomic_t rules_epoch;

/* Highest frequency of a core type in kHz; 0 if it is not in use. */
u32 gchint_policy_core_type_khz(u8 core_type)
{
	return READ_ONCE(core_types.core_type[core_type].khz);
}

/* Kept while the module is loaded, even if the highest frequency changes. */
static void policy_assign_core_type(struct gchint_policy *policy)
{
	unsigned int cpu = cpumask_first(policy->policy->related_cpus);
	u8 *type = per_cpu_ptr(&policy_core_type, cpu);
	unsigned long flags;

	raw_spin_lock_irqsave(&core_types_lock, flags);
	if (!*type)
		*type = gchint_core_type_find(&core_types, gchint_util_capacity(cpu),
					      policy->opps.ref_khz) + 1;
	policy->core_type = *type - 1;
	raw_spin_unlock_irqrestore(&core_types_lock, flags);
	policy->rules.core_type_khz = gchint_policy_core_type_khz(policy->core_type);
}

/* Before the first policy; valid until after the last. */
void gchint_policy_set_task_ops(const struct gchint_task_ops *ops)
{
	task_ops = ops;
}

/* Asynchronous. Any context, but not on that CPU under its policy's lock. */
void gchint_policy_poke(unsigned int cpu)
{
	task_ops->poke(cpu);
}

static u64 cpu_khz_ms(const struct gchint_policy *policy,
		      const struct gchint_cpu *c, u64 now)
{
	return (policy->khz * gchint_elapsed(now, c->khz_since)) >> 20;
}

/* Mean kHz of a thread that ran for @ran_ns; restarts the integral. */
u32 gchint_policy_mean_khz(struct gchint_policy *policy, struct gchint_cpu *c,
			   u64 ran_ns, u64 now)
{
	u32 khz = policy->khz;

	if (ran_ns)
		khz = div64_u64((c->khz_ms + cpu_khz_ms(policy, c, now)) << 20,
				ran_ns);
	c->khz_ms = 0;
	c->khz_since = now;
	return khz;
}

/* Without a model, or power to weigh time against, no hint costs time. */
static bool policy_keeps_budget(const struct gchint_policy *policy)
{
	const struct gchint_rules *rules = &policy->rules;

	return rules->opps->powered &&
	       READ_ONCE(rules->tun->mode) == GCHINT_MODE_MODEL;
}

static void policy_book_usage(struct gchint_policy *policy,
			      const struct gchint_usage *usage, u64 now)
{
	struct gchint_rules *rules = &policy->rules;

	if (!gchint_budget_book(&policy->budget, usage, now))
		return;
	rules->delay_cost = policy->budget.delay_cost;
	gchint_rules_set_mutators(rules);
}

/*
 * Book that the thread of a CPU ran at @khz, under the hint that counted meanwhile.
 * Alongside another governor load is not accounted. Only our cap delays, not a
 * frequency that the other one chose below it, and of a pause only a floor that is
 * lower than it could be.
 */
void gchint_policy_book(struct gchint_policy *policy, const struct gchint_cpu *c,
			u64 ran_ns, u32 khz, u64 now)
{
	struct gchint_rules *rules = &policy->rules;
	struct gchint_bounds bounds = policy->state.bounds;
	bool hinted = policy->state.hinted;
	struct gchint_usage usage;
	u32 load = GCHINT_ONE;

	if (!policy_keeps_budget(policy))
		return;
	if (!rules->limits_only) {
		load = gchint_load_all(&c->load);
	} else if (gchint_class_boosts(c->hint.class)) {
		hinted = bounds.floor_khz;
		khz = max(khz, bounds.floor_khz);
	} else {
		hinted = bounds.cap_khz && khz >= bounds.cap_khz;
	}
	usage.ran_ns = ran_ns;
	gchint_decide_usage(&usage, rules, &c->hint, &c->plan, khz, load, hinted);
	policy_book_usage(policy, &usage, now);
}

static void policy_derive_opp(struct gchint_policy *policy)
{
	const struct gchint_opps *opps = &policy->opps;

	policy->opp = opps->nr ? gchint_opp_at_least(opps, policy->khz) : 0;
	policy->scale = gchint_scale(policy->khz, opps->ref_khz);
}

/*
 * Under the policy's lock. Other CPUs are under no_policy_lock: they are about to
 * be added, or were just removed.
 */
static bool policy_has_cpu(const struct gchint_policy *policy,
			   const struct gchint_cpu *c)
{
	return rcu_access_pointer(c->policy) == policy;
}

static void policy_account_cpu(struct gchint_policy *policy, unsigned int cpu,
			       u64 now)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

	if (!policy_has_cpu(policy, c))
		return;
	gchint_policy_enter_phase(policy, c, c->phase, now);
	c->khz_ms += cpu_khz_ms(policy, c, now);
	c->khz_since = now;
}

/* @khz is in force from @now on, in ns. Under the policy's lock. */
void gchint_policy_switched(struct gchint_policy *policy, u32 khz, u64 now)
{
	unsigned int cpu;

	if (khz == policy->khz)
		return;
	if (policy->shared)
		for_each_cpu(cpu, policy->policy->cpus)
			policy_account_cpu(policy, cpu, now);
	else
		policy_account_cpu(policy, policy->policy->cpu, now);
	policy->khz = khz;
	policy_derive_opp(policy);
}

/* noinline: keeps the large record off the stack; events are rarely on. */
static noinline void
policy_emit_decision(const struct gchint_policy *policy,
		     const struct gchint_request *request, u32 khz_from,
		     u64 latency, u64 now)
{
	const struct gchint_decision *d = &request->decision;
	struct gchint_event_data record = {
		.type = GCHINT_EVENT_DECISION,
		.time = now,
		.cpu = d->cpu,
		.session = request->origin.session,
		.tgid = request->origin.tgid,
		.tid = request->origin.tid,
		.slot = request->origin.slot,
		.decision = {
			.reason = d->reason,
			.phase = d->phase,
			.flags = request->origin.flags,
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

	gchint_event_emit(&record);
}

/* Count and report a request; @hint_ns as in gchint_policy_decide(). */
void gchint_policy_account_request(struct gchint_policy *policy,
				   const struct gchint_request *request, u32 khz_from,
			 u64 hint_ns, u64 now)
{
	u64 latency = 0;

	policy->stats->switches[request->decision.reason]++;
	if (hint_ns) {
		latency = gchint_elapsed(now, hint_ns);
		policy->stats->latency[gchint_latency_bucket(latency)]++;
	}
	if (gchint_event_wanted(decision))
		policy_emit_decision(policy, request, khz_from, latency, now);
}

/* Real-time or deadline; rt_task() excludes the latter in some versions. */
static bool task_is_above_fair(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO;
}

/* From utilisation at frequency @scale to that at the highest frequency. */
static u32 cpu_relative_util(u32 util, unsigned int cpu, u32 scale)
{
	u32 capacity;

	if (!gchint_util_invariant())
		return (util * scale) >> GCHINT_ONE_SHIFT;
	capacity = gchint_util_capacity(cpu);
	if (capacity == GCHINT_ONE)
		return util;
	return (util << GCHINT_ONE_SHIFT) / capacity;
}

/*
 * What the running thread brings along; 0 if a hint just slowed it, since the
 * scheduler overstates it then. Programs above the fair class get the highest
 * frequency as with schedutil, but kernel threads, like our worker, do not.
 */
static u32 cpu_task_util(const struct gchint_cpu *c, struct task_struct *task,
			 u32 scale)
{
	if (is_idle_task(task))
		return 0;
	if (task_is_above_fair(task))
		return task->flags & PF_KTHREAD ? 0 : GCHINT_ONE;
	if (c->load.split_ns && c->thread && !c->lingering &&
	    (c->hint.slowdown > GCHINT_ONE ||
	     (c->plan.made && gchint_class_caps(c->plan.class))))
		return 0;
	return cpu_relative_util(gchint_util(task), c->cpu, scale);
}

static void cpu_account_task(struct gchint_cpu *c, struct task_struct *task,
			     u32 util, u32 scale)
{
	u64 ran = min_t(u64, task->se.sum_exec_runtime, NSEC_PER_SEC);

	/* Of a thread that never ran the mean is assumed. It may end soon. */
	if (gchint_load_set_task(&c->load, task->pid, util) && ran)
		gchint_load_attach_task(&c->load, task->pid,
					cpu_relative_util(gchint_util_mean(task),
							  c->cpu, scale),
					(ran * scale) >> GCHINT_ONE_SHIFT);
}

/*
 * A new program is assumed to be as busy as its parent, whose utilisation stays
 * on the run queue while it waits. The parent may have run unseen.
 */
static void cpu_account_parent(struct gchint_cpu *c, struct task_struct *task,
			       u32 scale)
{
	struct task_struct *parent;

	/*
	 * A thread that has reaped itself runs on for a while, and its parent is
	 * no longer updated: it may be freed. Irqs are off, so that one that is
	 * found while the thread is alive stays.
	 */
	if (task->se.sum_exec_runtime > YOUNG_NS || !pid_alive(task))
		return;
	parent = rcu_dereference_sched(task->real_parent);
	if (task_cpu(parent) != c->cpu || task_is_above_fair(parent))
		return;
	cpu_account_task(c, parent,
			 cpu_relative_util(gchint_util(parent), c->cpu, scale),
			 scale);
}

/* Until the thread is switched out the idle time cannot grow. */
static u64 cpu_idle_us(struct gchint_cpu *c, const struct task_struct *task,
		       bool here)
{
	unsigned long switches = task->nvcsw + task->nivcsw;

	if (here && !is_idle_task(task)) {
		if (c->seen_pid == task->pid && c->seen_switches == switches)
			return c->load.last_idle_us;
		c->seen_pid = task->pid;
		c->seen_switches = switches;
	}
	return get_cpu_idle_time(c->cpu, NULL, 0);
}

/*
 * Under limits the governor in force serves CPUs without a hint. A cap waits
 * until it would slow no other thread.
 */
static const struct gchint_demand *
cpu_demand_by_hint(struct gchint_cpu *c, const struct gchint_rules *rules,
		   u64 now)
{
	const struct gchint_hint *hint = NULL;
	const struct gchint_plan *plan = NULL;
	bool blocked = gchint_neighbour_blocks_cap(&c->neighbour,
						   gchint_rules_latency(rules),
						   now);

	if (c->hint.class != GCHINT_CLASS_NEUTRAL || (c->thread && !c->lingering))
		hint = &c->hint;
	if (blocked && hint && gchint_class_caps(hint->class))
		hint = NULL;
	if (hint && gchint_plan_valid(&c->plan, hint, rules, now))
		plan = &c->plan;
	gchint_decide_cpu(&c->demand, rules, c->cpu,
			  hint || blocked ? GCHINT_ONE : 0, hint, plan);
	c->demand.idle = c->neighbour.slice == GCHINT_SLICE_IDLE;
	return &c->demand;
}

/* Accounts load. @idle: the frequency was chosen while all CPUs were idle. */
static const struct gchint_demand *
cpu_demand(struct gchint_cpu *c, const struct gchint_rules *rules, u32 scale,
	   bool idle, u64 now)
{
	u64 window = rules->tun->window_us * (u64)NSEC_PER_USEC;
	const struct gchint_hint *hint = NULL;
	const struct gchint_plan *plan = NULL;
	bool here = c->cpu == smp_processor_id();
	struct task_struct *task = here && c->next ? c->next : current;
	bool idles = here && is_idle_task(task);
	u32 load = 0, io;

	if (rules->limits_only)
		return cpu_demand_by_hint(c, rules, now);
	/* A kernel thread may have started unseen, and asks now. */
	if (here && !idles)
		c->parked = false;
	if (c->parked) {
		idles = true;
		goto decide;
	}
	if (!here || now >= c->load.last_ns + ACCOUNT_NS)
		gchint_load_account(&c->load, now, cpu_idle_us(c, task, here),
				    scale, gchint_demand_capped(&c->demand),
				    window);
	io = gchint_load_boost(&c->load);
	if (here) {
		/* Nothing has run at the frequency of an idle CPU. */
		if (idle)
			scale = max(scale, c->ran_scale);
		if (!idles)
			cpu_account_parent(c, task, scale);
		cpu_account_task(c, task, cpu_task_util(c, task, scale), scale);
	} else if (gchint_load_idle(&c->load, TICK_NSEC)) {
		idles = true;
		goto decide;
	}
	if (c->thread && !c->lingering)
		hint = &c->hint;
	if (c->hint.class != GCHINT_CLASS_NEUTRAL) {
		hint = &c->hint;
		if (gchint_plan_valid(&c->plan, hint, rules, now))
			plan = &c->plan;
	}
	if (gchint_decide_uses_all(rules, hint))
		load = max(gchint_load_all(&c->load), io);
	else
		load = max(gchint_load_base(&c->load), io);
decide:
	gchint_decide_cpu(&c->demand, rules, c->cpu, load, hint, plan);
	c->demand.idle = idles;
	if (idles && c->unprivileged && !READ_ONCE(rules->tun->boost_unprivileged)) {
		c->demand.metered = true;
		c->demand.bucket = c->bucket;
	}
	c->request_key = GCHINT_NO_REQUEST_KEY;
	if (c->demand.class != GCHINT_CLASS_NEUTRAL && !idles &&
	    (c->demand.hinted || c->plan.khz == GCHINT_PLAN_LOAD))
		c->request_key = gchint_cpu_request_key(c);
	return &c->demand;
}

/*
 * Plans expire, and each CPU renews its own when it decides. CPUs of a shared
 * policy share its rate limit, too: one that is called often would keep the
 * others from renewing theirs, so that the one that decides renews all.
 */
static const struct gchint_demand *
policy_demand_cpu(struct gchint_policy *policy, unsigned int cpu, u64 now)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);

	if (!policy_has_cpu(policy, c))
		return NULL;
	/* Not sampled for this very decision? */
	if (c->thread && !c->lingering && c->ran_since != now)
		task_ops->renew(c, policy, now);
	return cpu_demand(c, &policy->rules, policy->scale,
			  policy->state.idle, now);
}

static const struct gchint_demand *
policy_demand_all(struct gchint_policy *policy, u64 now)
{
	struct gchint_demand *best = &policy->joint;
	const struct gchint_demand *demand;
	bool any = false;
	unsigned int cpu;

	memset(best, 0, sizeof(*best));
	for_each_cpu(cpu, policy->policy->cpus) {
		demand = policy_demand_cpu(policy, cpu, now);
		if (!demand)
			continue;
		gchint_decide_join(best, demand);
		any = true;
	}
	return any ? best : NULL;
}

static void policy_request(struct gchint_policy *policy, u64 hint_ns)
{
	struct gchint_request *next = &policy->next;
	const struct gchint_cpu *c;

	next->decision = policy->last;
	if (next->decision.class != GCHINT_CLASS_NEUTRAL) {
		c = per_cpu_ptr(&gchint_cpus, next->decision.cpu);
		next->origin = c->origin;
		next->origin.flags = c->hint.flags;
	} else {
		memset(&next->origin, 0, sizeof(next->origin));
	}
	policy->act->request(policy, hint_ns);
}

/*
 * Under limits, decisions are made within the hardware's limits: those of the
 * policy are partly our own requests, and cpufreq combines them.
 */
static u32 policy_min_khz(const struct gchint_policy *policy)
{
	return gchint_policy_is_governed(policy) ? READ_ONCE(policy->policy->min) :
					      policy->policy->cpuinfo.min_freq;
}

static u32 policy_max_khz(const struct gchint_policy *policy)
{
	return gchint_policy_is_governed(policy) ? READ_ONCE(policy->policy->max) :
					      policy->policy->cpuinfo.max_freq;
}

static void policy_update_limits(struct gchint_policy *policy)
{
	struct gchint_rules *rules = &policy->rules;

	rules->min_khz = policy_min_khz(policy);
	rules->max_khz = policy_max_khz(policy);
	gchint_budget_set(&policy->budget, READ_ONCE(rules->tun->budget));
	rules->delay_cost = policy->budget.delay_cost;
	gchint_rules_set_mutators(rules);
	rules->epoch = atomic_inc_return(&rules_epoch);
	policy->delay_ns = gchint_decide_delay_ns(rules);
}

/* Boost changes unrequested limits without a callback. */
static void policy_check_limits(struct gchint_policy *policy)
{
	if (likely(policy->rules.max_khz == policy_max_khz(policy) &&
		   policy->rules.min_khz == policy_min_khz(policy)))
		return;
	policy_update_limits(policy);
	/* Limits get no callback: their worker checks the OPPs. */
	if (!gchint_policy_is_governed(policy))
		irq_work_queue(&policy->irq_work);
}

/* Return: NULL if the policy is just being started or stopped. */
static const struct gchint_demand *policy_demand(struct gchint_policy *policy,
						 u64 now)
{
	if (policy->shared)
		return policy_demand_all(policy, now);
	return policy_demand_cpu(policy, policy->policy->cpu, now);
}

static void policy_book_switch(struct gchint_policy *policy, u64 now)
{
	struct gchint_usage usage;

	if (!policy_keeps_budget(policy))
		return;
	gchint_decide_switch_usage(&usage, &policy->rules);
	policy_book_usage(policy, &usage, now);
}

static void policy_meet_demand(struct gchint_policy *policy,
			       const struct gchint_demand *demand, u64 now,
			       u64 hint_ns)
{
	bool hinted = policy->state.hinted;
	u32 khz = policy->state.khz;

	gchint_decide_policy(&policy->last, &policy->rules, &policy->state,
			     demand, now);
	WRITE_ONCE(policy->next_time, now + policy->clock +
		   gchint_decide_wait_ns(&policy->rules, &policy->last,
					 policy->delay_ns));
	if (policy->last.avoided)
		policy->stats->avoided++;
	if (!policy->last.change)
		return;
	if (policy->state.khz != khz && (hinted || policy->state.hinted))
		policy_book_switch(policy, now);
	policy_request(policy, hint_ns);
}

/* On a CPU that may switch. @hint_ns: when a hint to act on came, or 0. */
void gchint_policy_decide(struct gchint_policy *policy, u64 now, u64 hint_ns)
{
	const struct gchint_demand *demand;

	lockdep_assert_held(&policy->lock);
	policy->refresh = false;
	policy_check_limits(policy);
	gchint_policy_read_khz(policy, now);
	demand = policy_demand(policy, now);
	if (demand)
		policy_meet_demand(policy, demand, now, hint_ns);
}

/*
 * @task was woken on this CPU, which idles, or is new there; the run queue is
 * locked. Only a higher frequency is requested: for a lower one the hook decides,
 * once the thread has run. Either would count as the last decision and delay the
 * next.
 */
void gchint_policy_wake(struct gchint_cpu *c, struct task_struct *task)
{
	struct gchint_policy *policy = rcu_dereference_sched(c->policy);
	const struct gchint_demand *demand;
	u64 now;

	if (!policy || !gchint_policy_is_governed(policy))
		return;
	raw_spin_lock(&policy->lock);
	now = gchint_now();
	if (!policy_has_cpu(policy, c) ||
	    !gchint_decide_may_raise(&policy->rules, &policy->state, now))
		goto unlock;
	policy_check_limits(policy);
	c->next = task;
	demand = policy_demand(policy, now);
	if (demand && demand->khz > policy->state.khz)
		policy_meet_demand(policy, demand, now, 0);
	c->next = NULL;
unlock:
	raw_spin_unlock(&policy->lock);
}

/*
 * The scheduler may call for another CPU, while the driver may insist on a CPU
 * of the policy. A CPU without a policy of ours may be going offline, where our
 * irq_work would be lost.
 */
static bool policy_can_switch(const struct gchint_policy *policy)
{
	const struct cpufreq_policy *p = policy->policy;

	return cpumask_test_cpu(smp_processor_id(), p->cpus) ||
	       (p->dvfs_possible_from_any_cpu &&
		rcu_access_pointer(*this_cpu_ptr(&gchint_cpus.policy)));
}

/* noinline: the hook itself needs no stack frame. */
static noinline void policy_update(struct gchint_cpu *c,
				   struct gchint_policy *policy, u64 time,
				   bool due, bool woken)
{
	u64 now;

	if (!policy_can_switch(policy))
		return;

	raw_spin_lock(&policy->lock);
	if (!policy_has_cpu(policy, c)) {
		raw_spin_unlock(&policy->lock);
		return;
	}
	now = gchint_now();
	policy->clock = time - now;
	gchint_load_iowait(&c->load, now, woken, TICK_NSEC);
	/* Another CPU may have decided while this one waited for the lock. */
	if (due || policy->refresh || (s64)(time - policy->next_time) >= 0) {
		if (c->thread && c->cpu == smp_processor_id())
			task_ops->sample(c, policy, now);
		gchint_policy_decide(policy, now, due ? now : 0);
	}
	raw_spin_unlock(&policy->lock);
}

/*
 * The update hook: called by the scheduler with the run queue of c->cpu locked,
 * at wakeups, sleeps and ticks. Between two decisions it compares two times
 * and, when a leased thread runs, one state word of its slot.
 */
static void policy_hook(struct update_util_data *data, u64 time,
			unsigned int flags)
{
	struct gchint_cpu *c = container_of(data, struct gchint_cpu, hook);
	struct gchint_policy *policy;
	bool here, due, woken;

	policy = rcu_dereference_sched(c->policy);
	/* gchint_policy_stop() clears it before it waits for us. */
	if (unlikely(!policy))
		return;
	here = c->cpu == smp_processor_id();
	woken = flags & SCHED_CPUFREQ_IOWAIT;
	/*
	 * Which thread wakes is known at gchint_policy_wake(), or when it runs.
	 * What the idle CPU did before is no reason to slow it down.
	 */
	if (here && is_idle_task(current) && !woken &&
	    !READ_ONCE(policy->refresh))
		return;
	due = here && c->thread && task_ops->due(c);
	if (likely(!due && !woken && !READ_ONCE(policy->refresh) &&
		   (s64)(time - READ_ONCE(policy->next_time)) < 0))
		return;
	policy_update(c, policy, time, due, woken);
}

/* Limits or tunables changed. Takes effect at the next call of the hook. */
void gchint_policy_update_rules(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	unsigned long flags;

	raw_spin_lock_irqsave(&policy->lock, flags);
	policy_update_limits(policy);
	/* cpufreq may have moved the frequency into new limits. */
	gchint_policy_switched(policy, p->cur, gchint_now());
	WRITE_ONCE(policy->refresh, true);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/*
 * The caller keeps out readers of the OPPs without the policy's lock, and calls
 * gchint_policy_update_rules() next if it is started.
 */
void gchint_policy_set_opps(struct gchint_policy *policy,
			    const struct gchint_opps *opps)
{
	unsigned long flags;
	unsigned int phase;

	raw_spin_lock_irqsave(&policy->lock, flags);
	for (phase = GCHINT_PHASE_NONE + 1; phase < GCHINT_PHASE_NR; phase++)
		gchint_opps_move_sums(opps, &policy->opps,
				      gchint_stats_time(policy->stats, phase));
	policy->opps = *opps;
	policy_derive_opp(policy);
	raw_spin_unlock_irqrestore(&policy->lock, flags);
}

/* Time from a request to its effect. Under the policy's lock; voids all plans. */
void gchint_policy_set_latency(struct gchint_policy *policy, u32 ns)
{
	policy->rules.latency_ns = ns;
	policy_update_limits(policy);
}

void gchint_policy_init(struct gchint_policy *policy)
{
	raw_spin_lock_init(&policy->lock);
	mutex_init(&policy->work_lock);
	policy->rules.opps = &policy->opps;
}

/* A CPU that comes or goes restarts a governor, but not limits. */
static const struct cpumask *policy_cpus(const struct gchint_policy *policy)
{
	return gchint_policy_is_governed(policy) ? policy->policy->cpus :
					      policy->policy->related_cpus;
}

static void policy_add_cpu(struct gchint_policy *policy, unsigned int cpu)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
	u64 wall, idle = get_cpu_idle_time(cpu, &wall, 0);
	unsigned long flags;
	u64 now;

	/* Both: no one that holds either is inside with the other pointer. */
	raw_spin_lock_irqsave(&c->no_policy_lock, flags);
	raw_spin_lock(&policy->lock);
	now = gchint_now();
	gchint_load_init(&c->load, &load_migrations, cpu, now, idle);
	c->seen_pid = 0;
	c->park_ns = 0;
	c->parked = false;
	memset(&c->demand, 0, sizeof(c->demand));
	c->request_key = GCHINT_NO_REQUEST_KEY;
	c->alert = false;
	memset(&c->neighbour, 0, sizeof(c->neighbour));
	c->phase = GCHINT_PHASE_NONE;
	c->khz_since = now;
	c->khz_ms = 0;
	rcu_assign_pointer(c->policy, policy);
	if (!gchint_policy_is_governed(policy))
		WRITE_ONCE(c->track_neighbours, true);
	raw_spin_unlock(&policy->lock);
	raw_spin_unlock_irqrestore(&c->no_policy_lock, flags);
	if (gchint_policy_is_governed(policy))
		cpufreq_add_update_util_hook(cpu, &c->hook, policy_hook);
}

static void policy_remove_cpu(struct gchint_policy *policy, unsigned int cpu)
{
	struct gchint_cpu *c = per_cpu_ptr(&gchint_cpus, cpu);
	unsigned long flags;

	if (gchint_policy_is_governed(policy))
		cpufreq_remove_update_util_hook(cpu);
	raw_spin_lock_irqsave(&c->no_policy_lock, flags);
	raw_spin_lock(&policy->lock);
	WRITE_ONCE(c->track_neighbours, false);
	RCU_INIT_POINTER(c->policy, NULL);
	raw_spin_unlock(&policy->lock);
	raw_spin_unlock_irqrestore(&c->no_policy_lock, flags);
}

/* For the governor, with the cpufreq policy's rwsem held. */
void gchint_policy_start(struct gchint_policy *policy)
{
	struct cpufreq_policy *p = policy->policy;
	unsigned int cpu;

	policy_assign_core_type(policy);
	policy->shared = cpumask_weight(policy_cpus(policy)) > 1;
	if (gchint_policy_is_governed(policy))
		policy->rules.latency_ns = p->cpuinfo.transition_latency;
	policy->rules.meter_us = cpufreq_policy_transition_delay_us(p);
	policy->rules.limits_only = !gchint_policy_is_governed(policy);
	memset(&policy->state, 0, sizeof(policy->state));
	memset(&policy->last, 0, sizeof(policy->last));
	memset(&policy->budget, 0, sizeof(policy->budget));
	policy->next_time = 0;
	policy->clock = local_clock() - gchint_now();
	policy->work_in_progress = false;
	policy->asking = false;
	policy->hint_ns = 0;
	gchint_policy_update_rules(policy);

	for_each_cpu(cpu, policy_cpus(policy))
		policy_add_cpu(policy, cpu);
}

/*
 * Unhook, so that no caller enters; wait for those inside; only then can
 * nothing queue the irq_work any more, nor, after that, the work.
 */
void gchint_policy_stop(struct gchint_policy *policy)
{
	unsigned int cpu;

	for_each_cpu(cpu, policy_cpus(policy))
		policy_remove_cpu(policy, cpu);
	synchronize_rcu();
	if (policy->worker) {
		irq_work_sync(&policy->irq_work);
		kthread_cancel_work_sync(&policy->work);
	}
}
