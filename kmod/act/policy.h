/* SPDX-License-Identifier: GPL-2.0-only */
/* A cpufreq policy under gchint: from loads and hints to requests. */
#ifndef _GCHINT_POLICY_H
#define _GCHINT_POLICY_H

#include <linux/cpufreq.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pm_qos.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "actuator.h"
#include "clock.h"
#include "cpu.h"
#include "policy/decide.h"
#include "policy/latency.h"
#include "policy/opp.h"
#include "policy/plan.h"

struct gchint_energy_source;
struct gchint_tunable_set;

/**
 * struct gchint_stats - what a policy did, for debugfs
 * @time_ns: time that hinted threads ran, by gchint_stats_time() and OPP
 * @switches: requests by reason
 * @avoided: switches that would not have paid
 * @latency: hint to request, by gchint_latency_bucket()
 *
 * Under the policy's lock.
 */
struct gchint_stats {
	u64 time_ns[GCHINT_PHASE_NR - 1][GCHINT_OPPS_MAX];
	u64 switches[GCHINT_REASON_NR];
	u64 avoided;
	u64 latency[GCHINT_LATENCY_BUCKETS];
};

/**
 * gchint_stats_time - the times of a phase
 * @stats: of a policy, locked
 * @phase: enum gchint_phase, but not none: nobody accounts what runs without one
 *
 * Return: GCHINT_OPPS_MAX times by OPP
 */
static inline u64 *gchint_stats_time(struct gchint_stats *stats, u8 phase)
{
	return stats->time_ns[phase - 1];
}

/**
 * struct gchint_request - a frequency on its way to the driver
 * @decision: what was decided
 * @who: whose hint decided
 */
struct gchint_request {
	struct gchint_decision decision;
	struct gchint_who who;
};

/**
 * struct gchint_follower - who knows what runs on a CPU
 * @due: has what the thread there says changed? May err to both sides.
 * @look: see what it says now
 * @renew: likewise, if what was planned for it does not hold any more
 * @poke: make a CPU look and decide; any context, but not this CPU under its
 *	policy's lock
 *
 * @due with irqs off, on the CPU. @look and @renew with its policy locked, on any
 * CPU: the lock keeps the thread where it is.
 */
struct gchint_follower {
	bool (*due)(const struct gchint_cpu *c);
	void (*look)(struct gchint_cpu *c, struct gchint_policy *policy,
		     u64 now);
	void (*renew)(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now);
	void (*poke)(unsigned int cpu);
};

/**
 * struct gchint_limits - a policy's frequency limits, where they are the way
 * @queued_ns: when the worker was called, CLOCK_MONOTONIC
 * @took_ns: how long it usually takes from then on until cpufreq has applied them
 * @cap: ours among the requests of others; the worker's
 * @floor: likewise
 * @others: hears when others raise the lowest
 *
 * The first two under the policy's lock.
 */
struct gchint_limits {
	u64 queued_ns;
	u32 took_ns;
	struct freq_qos_request cap;
	struct freq_qos_request floor;
	struct notifier_block others;
};

/**
 * struct gchint_policy - a policy that hints act on
 * @policy: the cpufreq policy
 * @act: the way to act on it
 * @set: its tunables, maybe shared with all others
 * @set_node: in @set
 * @node: in the list of policies
 * @started: between start and stop
 * @shared: it has more than one CPU, or may come to: limits are not started anew
 *	when one does. Changes only while not started.
 * @opps: its OPPs
 * @hw_max_khz: cpuinfo.max_freq for which they were read
 * @energy: where their power comes from
 * @given: gchint_energy_turn() before they were read
 * @kind: kind of CPU, for the learner
 * @lock: serialises the rest; taken with the run-queue lock held, irqs off
 * @rules: what binds its decisions
 * @state: their past
 * @joint: what its CPUs ask for together, if it is @shared
 * @last: the last decision, for those who watch
 * @opp: index in @opps of the frequency in force
 * @khz: the frequency in force
 * @scale: gchint_scale() of it
 * @delay_ns: least time between decisions without a phase edge
 * @next_time: when load may decide again, in the scheduler's time
 * @clock: what that time is ahead of CLOCK_MONOTONIC, as the hook last saw
 * @refresh: limits or tunables changed: decide at the next call
 * @stats: for debugfs; apart, for together they would take twice the memory
 * @next: what is asked for, by the worker if there is one: later decisions
 *	replace earlier ones
 * @work_in_progress: a request is on its way to the worker
 * @asking: the worker waits for cpufreq to apply limits
 * @hint_ns: when the first hint came that led to it, 0 none
 * @irq_work: leaves the scheduler's locks behind
 * @work: runs in @worker
 * @work_lock: serialises calls of the driver; taken without @lock
 * @worker: the thread that may sleep in the driver; NULL with fast switch
 * @limits: for the actuator of that name
 */
struct gchint_policy {
	struct cpufreq_policy *policy;
	const struct gchint_actuator *act;
	struct gchint_tunable_set *set;
	struct list_head set_node;
	struct list_head node;
	bool started;
	bool shared;
	struct gchint_opps opps;
	u32 hw_max_khz;
	const struct gchint_energy_source *energy;
	unsigned int given;
	u8 kind;

	raw_spinlock_t lock;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_demand joint;
	struct gchint_decision last;
	unsigned int opp;
	u32 khz;
	u32 scale;
	u64 delay_ns;
	u64 next_time;
	u64 clock;
	bool refresh;
	struct gchint_stats *stats;

	struct gchint_request next;
	/* The next fields are only needed if fast switch cannot be used. */
	bool work_in_progress;
	bool asking;
	u64 hint_ns;
	struct irq_work irq_work;
	struct kthread_work work;
	struct mutex work_lock; /* calls of the driver */
	struct kthread_worker *worker;
	struct gchint_limits limits;
};

/* One byte more, and the allocator takes twice as much. Lockdep's maps may cost that. */
#ifndef CONFIG_DEBUG_LOCK_ALLOC
static_assert(sizeof(struct gchint_policy) <= SZ_2K, "a policy's memory");
#endif
static_assert(sizeof(struct gchint_stats) <= SZ_8K, "a policy's figures");

void gchint_policy_follow(const struct gchint_follower *follower);
void gchint_policy_poke(unsigned int cpu);
void gchint_policy_init(struct gchint_policy *policy);
void gchint_policy_start(struct gchint_policy *policy);
void gchint_policy_stop(struct gchint_policy *policy);
void gchint_policy_rules(struct gchint_policy *policy);
void gchint_policy_opps(struct gchint_policy *policy,
			const struct gchint_opps *opps);
void gchint_policy_switched(struct gchint_policy *policy, u32 khz, u64 now);
void gchint_policy_asked(struct gchint_policy *policy,
			 const struct gchint_request *request, u32 khz_from,
			 u64 hint_ns, u64 now);
void gchint_policy_latency(struct gchint_policy *policy, u32 ns);
void gchint_policy_decide(struct gchint_policy *policy, u64 now, u64 hint_ns);
u32 gchint_policy_mean_khz(struct gchint_policy *policy, struct gchint_cpu *c,
			   u64 ran_ns, u64 now);
u32 gchint_policy_kind_khz(u8 kind);

/* Is load our business, with the scheduler calling our hook? */
static inline bool gchint_policy_loaded(const struct gchint_policy *policy)
{
	return policy->act->can & GCHINT_CAN_LOAD;
}

/**
 * gchint_policy_sync - somebody else may have changed the frequency
 * @policy: the policy, locked
 * @now: CLOCK_MONOTONIC ns
 *
 * Where another governor is at work. A driver that governs itself does not say
 * what it does: the frequency is unknown then, and nothing is learned from it.
 */
static inline void gchint_policy_sync(struct gchint_policy *policy, u64 now)
{
	if (!gchint_policy_loaded(policy))
		gchint_policy_switched(policy, READ_ONCE(policy->policy->cur),
				       now);
}

/**
 * gchint_policy_phase - a CPU goes on in another phase, or in none
 * @policy: its policy, locked
 * @c: the CPU
 * @phase: enum gchint_phase from now on
 * @now: CLOCK_MONOTONIC ns
 */
static inline void gchint_policy_phase(struct gchint_policy *policy,
				       struct gchint_cpu *c, u8 phase, u64 now)
{
	if (c->phase != GCHINT_PHASE_NONE)
		gchint_stats_time(policy->stats, c->phase)[policy->opp] +=
			gchint_elapsed(now, c->phase_since);
	c->phase = phase;
	c->phase_since = now;
}

#endif /* _GCHINT_POLICY_H */
