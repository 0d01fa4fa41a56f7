// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one CPU asks for, from who runs there, its load and its hint. Runs under
 * gchint_policy.lock, in the scheduler's context.
 */
#include <linux/cpufreq.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/tick.h>

#include "compat/util.h"
#include "cpu.h"
#include "demand.h"

/* Load hardly changes in so little time, and idle time is dear to ask for. */
#define ACCOUNT_NS (200 * (u64)NSEC_PER_USEC)

/* A thread is new until it has run for PELT's half-life. */
#define YOUNG_NS (32 * (u64)NSEC_PER_MSEC)

/*
 * Real-time or with a deadline. What rt_task() says of the latter depends on the
 * kernel's version.
 */
static bool above_fair(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO;
}

/*
 * @util of a CPU, as a part of one at its highest frequency. @scale is that of the
 * frequency in force.
 */
static u32 use_of(u32 util, unsigned int cpu, u32 scale)
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
 * The thread that runs here may bring its own use of a CPU along. Not that of
 * one that a hint has just slowed: by the scheduler's account it was busier than
 * it would have been. Programs above the fair class get the highest frequency, as
 * real-time ones do with schedutil; not the kernel's own threads, one of which is
 * our worker.
 */
static u32 running(const struct gchint_cpu *c, struct task_struct *task,
		   u32 scale)
{
	if (is_idle_task(task))
		return 0;
	if (above_fair(task))
		return task->flags & PF_KTHREAD ? 0 : GCHINT_ONE;
	if (c->load.split_ns && c->thread && !c->held &&
	    (c->hint.slowdown > GCHINT_ONE ||
	     (c->plan.made && gchint_class_caps(c->plan.class))))
		return 0;
	return use_of(gchint_util(task), c->cpu, scale);
}

/* @task uses @util here. Whoever runs on and on has nothing new to bring along. */
static void account_task(struct gchint_cpu *c, struct task_struct *task,
			 u32 util, u32 scale)
{
	u64 ran = min_t(u64, task->se.sum_exec_runtime, NSEC_PER_SEC);

	if (gchint_load_task(&c->load, task->pid, util))
		gchint_load_come(&c->load, task->pid,
				 use_of(gchint_util_mean(task), c->cpu, scale),
				 (ran * scale) >> GCHINT_ONE_SHIFT);
}

/*
 * A new program is as busy as its parent, and the parent's own use stays with the
 * run queue while it waits for its child. It may have run too shortly to be seen.
 */
static void parent(struct gchint_cpu *c, struct task_struct *task, u32 scale)
{
	struct task_struct *its = rcu_dereference_sched(task->real_parent);

	if (task->se.sum_exec_runtime > YOUNG_NS ||
	    task_cpu(its) != c->cpu || above_fair(its))
		return;
	account_task(c, its, use_of(gchint_util(its), c->cpu, scale), scale);
}

/*
 * Idle time of a CPU up to now; @task runs there if it is this one. While the
 * same thread runs on and on it is what it was, which is cheaper to see than
 * to ask for.
 */
static u64 idle_us(struct gchint_cpu *c, const struct task_struct *task,
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
 * Who does not govern by load lets be whoever does not hint: what they are given
 * is another governor's business. A cap waits until it would slow none of them.
 */
static const struct gchint_demand *beside(struct gchint_cpu *c,
					  const struct gchint_rules *rules,
					  u64 now)
{
	const struct gchint_hint *hint = NULL;
	const struct gchint_plan *plan = NULL;
	bool minds = gchint_neighbour_minds(&c->neighbour,
					    gchint_rules_latency(rules), now);

	if (c->hint.class != GCHINT_CLASS_NEUTRAL || (c->thread && !c->held))
		hint = &c->hint;
	if (minds && hint && gchint_class_caps(hint->class))
		hint = NULL;
	if (hint && gchint_plan_valid(&c->plan, hint, rules, now))
		plan = &c->plan;
	gchint_decide_cpu(&c->demand, rules, c->cpu,
			  hint || minds ? GCHINT_ONE : 0, hint, plan);
	c->demand.idle = c->neighbour.turn == GCHINT_TURN_NOBODY;
	return &c->demand;
}

/**
 * gchint_demand_of - what a CPU asks for
 * @c: the CPU
 * @rules: of its policy, which is locked
 * @scale: gchint_scale() of the frequency in force
 * @idle: that is one of a policy on which nobody runs
 * @now: CLOCK_MONOTONIC ns
 *
 * Accounts its load.
 *
 * Return: gchint_cpu.demand.
 */
const struct gchint_demand *gchint_demand_of(struct gchint_cpu *c,
					     const struct gchint_rules *rules,
					     u32 scale, bool idle, u64 now)
{
	u64 window = rules->tun->window_us * (u64)NSEC_PER_USEC;
	const struct gchint_hint *hint = NULL;
	const struct gchint_plan *plan = NULL;
	bool here = c->cpu == smp_processor_id();
	struct task_struct *task = here && c->next ? c->next : current;
	bool idles = here && is_idle_task(task);
	u32 load = 0, io;

	if (rules->beside)
		return beside(c, rules, now);
	/* One of the kernel's own threads may have run on, unseen, and asks now. */
	if (here && !idles)
		c->parked = false;
	if (c->parked) {
		idles = true;
		goto decide;
	}
	if (!here || now >= c->load.last_ns + ACCOUNT_NS)
		gchint_load_account(&c->load, now, idle_us(c, task, here),
				    scale, gchint_demand_capped(&c->demand),
				    window);
	io = gchint_load_boost(&c->load);
	if (here) {
		/* Nobody has used the CPU at the frequency of an idle one. */
		if (idle)
			scale = max(scale, c->ran_scale);
		if (!idles)
			parent(c, task, scale);
		account_task(c, task, running(c, task, scale), scale);
	} else if (gchint_load_idle(&c->load, TICK_NSEC)) {
		idles = true;
		goto decide;
	}
	if (c->thread && !c->held)
		hint = &c->hint;
	if (c->hint.class != GCHINT_CLASS_NEUTRAL) {
		hint = &c->hint;
		if (gchint_plan_valid(&c->plan, hint, rules, now))
			plan = &c->plan;
	}
	/* Only one of the two channels counts. */
	if (gchint_decide_all(rules, hint))
		load = max(gchint_load_all(&c->load), io);
	else
		load = max(gchint_load_base(&c->load), io);
decide:
	gchint_decide_cpu(&c->demand, rules, c->cpu, load, hint, plan);
	c->demand.idle = idles;
	if (idles && c->unpaid && !READ_ONCE(rules->tun->boost_unprivileged))
		c->demand.metered = true;
	c->wish = GCHINT_NO_WISH;
	if (c->demand.class != GCHINT_CLASS_NEUTRAL && !idles &&
	    (c->demand.hinted || c->plan.khz == GCHINT_PLAN_LOAD))
		c->wish = gchint_cpu_wish(c);
	return &c->demand;
}
