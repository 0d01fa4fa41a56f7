/* SPDX-License-Identifier: GPL-2.0-only */
/* From load and hints to requests: a policy under gchint and its CPUs. */
#ifndef _GCHINT_POLICY_H
#define _GCHINT_POLICY_H

#include <linux/cache.h>
#include <linux/cpufreq.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/pm_qos.h>
#include <linux/sched/cpufreq.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "actuator.h"
#include "clock.h"
#include "event/event.h"
#include "model/budget.h"
#include "model/decide.h"
#include "model/latency.h"
#include "model/load.h"
#include "model/neighbour.h"
#include "model/opp.h"
#include "model/phase.h"
#include "model/plan.h"

struct gchint_energy_source;
struct gchint_thread;
struct gchint_tunable_set;
struct task_struct;

/*
 * The policy's lock serialises @phase, @load and what follows but @park_ns; the
 * rest is this CPU's, irqs off, but for flags set from elsewhere.
 *
 * The hook reads the first cache line to see if anything is due, a decision by
 * load four more, one by a hint the rest.
 */
struct gchint_cpu {
	struct update_util_data hook;
	/*
	 * NULL without one. Read under RCU; written with both @no_policy_lock and
	 * the policy's lock held, so it is stable for a holder of either that has
	 * read it after locking.
	 */
	struct gchint_policy __rcu *policy;
	/* Whose hint counts here; other CPUs may compare the pointer. */
	struct gchint_thread *thread;
	struct gchint_track *track; /* of @thread, while it runs here */
	struct task_struct *next; /* about to run, inside a probe of the scheduler */
	u64 ran_since; /* up to then the run time of @track is accounted */
	unsigned int cpu;
	u32 ran_scale; /* gchint_scale() when @thread last ran */
	bool lingering; /* the hint of @thread lingers after it was switched out */
	bool parked; /* idle, no demand; kernel threads do not end that */
	/* An unprivileged leased thread ran last: its idling is metered. */
	bool unprivileged;
	u8 bucket; /* of that thread's user */
	bool alert; /* capped: check each thread that is switched in */
	bool track_neighbours; /* under limits: keep @neighbour up to date */
	u8 phase; /* that the time since @phase_since belongs to */

	struct gchint_load load;
	pid_t seen_pid; /* ran when this CPU last read its idle time */
	struct gchint_demand demand; /* at the last decision */
	unsigned long seen_switches; /* context switches of @seen_pid by then */
	u64 request_key; /* gchint_cpu_request_key() at the last decision */

	struct gchint_hint hint; /* class neutral without one */
	struct gchint_plan plan; /* kept while @lingering; check against @hint */
	/* Integral of khz while @thread ran, up to @khz_since; kHz * 2^20 ns */
	u64 khz_ms;
	u64 khz_since; /* CLOCK_MONOTONIC ns */
	u64 phase_since; /* CLOCK_MONOTONIC ns */
	struct gchint_hint_origin origin; /* of @hint, for events */
	/* Replaces the policy's lock while @policy is NULL. Taken before it. */
	raw_spinlock_t no_policy_lock;
	struct gchint_neighbour neighbour;
	u64 park_ns; /* when it is to be @parked; 0 never */
} ____cacheline_aligned;

static_assert(offsetof(struct gchint_cpu, load) <= 64, "the hook's line");

DECLARE_PER_CPU_ALIGNED(struct gchint_cpu, gchint_cpus);

/* No hint took part in the last decision; gchint_cpu_request_key() is never this. */
#define GCHINT_NO_REQUEST_KEY U64_MAX

/* Equal words lead to equal demands. The hint's class is not neutral. */
static inline u64 gchint_cpu_request_key(const struct gchint_cpu *c)
{
	u32 how = c->plan.lower << 2 | c->hint.may_raise << 1 |
		  gchint_class_boosts(c->hint.class);

	return (u64)c->plan.khz << 32 | how;
}

/* Counters of a policy, for debugfs; under the policy's lock. */
struct gchint_stats {
	/* Run time of hinted threads, see gchint_stats_time() */
	u64 time_ns[GCHINT_PHASE_NR - 1][GCHINT_OPPS_MAX];
	u64 switches[GCHINT_REASON_NR]; /* requests */
	u64 avoided; /* switches that would not have paid */
	u64 latency[GCHINT_LATENCY_BUCKETS]; /* hint to request */
};

/* GCHINT_OPPS_MAX times by OPP. Any phase but none, which has no account. */
static inline u64 *gchint_stats_time(struct gchint_stats *stats, u8 phase)
{
	return stats->time_ns[phase - 1];
}

/* A decision for the driver to carry out, and the origin of its hint. */
struct gchint_request {
	struct gchint_decision decision;
	struct gchint_hint_origin origin;
};

/**
 * struct gchint_task_ops - how a policy reaches the threads on its CPUs
 * @due: may the slot of the running thread have changed? On its CPU, irqs off;
 *	errs to either side.
 * @sample: read the slot of the CPU's thread. The policy is locked, which keeps
 *	the thread where it is.
 * @renew: like @sample, if the plan for the thread is not valid any more
 * @poke: see gchint_policy_poke()
 */
struct gchint_task_ops {
	bool (*due)(const struct gchint_cpu *c);
	void (*sample)(struct gchint_cpu *c, struct gchint_policy *policy,
		       u64 now);
	void (*renew)(struct gchint_cpu *c, struct gchint_policy *policy,
		      u64 now);
	void (*poke)(unsigned int cpu);
};

/* State of the actuator limits; the first two under the policy's lock. */
struct gchint_limits {
	u64 queued_ns;	/* CLOCK_MONOTONIC, when the worker was queued */
	u32 took_ns;	/* mean time from then until cpufreq has applied them */
	/* Both written by the worker alone. */
	s32 cap_khz;	/* of our request, once applied; at once if lower */
	u32 others_max_khz; /* what others were last seen to allow */
	struct freq_qos_request cap;
	struct freq_qos_request floor;
	struct notifier_block others; /* for floors of other users */
};

/*
 * A cpufreq policy that hints act on. @lock serialises what follows it, unless
 * said otherwise, and is taken with the run queue locked, irqs off.
 */
struct gchint_policy {
	struct cpufreq_policy *policy;
	const struct gchint_actuator *act;
	struct gchint_tunable_set *set;
	struct list_head set_node;
	struct list_head node; /* in the list of policies */
	bool started;
	/* Has, or may get, several CPUs. Changes only while not started. */
	bool shared;
	struct gchint_opps opps;
	u32 hw_max_khz; /* cpuinfo.max_freq that the OPPs were read at */
	const struct gchint_energy_source *energy; /* of power in the OPPs */
	unsigned int power_generation; /* gchint_energy_generation() before they were read */
	u8 core_type;

	raw_spinlock_t lock;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_budget budget;
	struct gchint_demand joint; /* of all CPUs, if shared */
	struct gchint_decision last;
	unsigned int opp; /* index of the frequency in force */
	u32 khz; /* frequency in force */
	u32 scale; /* gchint_scale() of it */
	u64 delay_ns; /* minimum between decisions without a phase edge */
	u64 next_time; /* when load may decide, in the scheduler's clock */
	u64 clock; /* that clock minus CLOCK_MONOTONIC, at the last hook */
	bool refresh; /* limits or tunables changed: decide at the next hook */
	struct gchint_stats *stats; /* apart: together they would take more */

	struct gchint_request next; /* the last of several wins */
	/* From here on not used with fast switch. */
	bool work_in_progress; /* a request waits for the worker */
	bool asking; /* the worker waits for cpufreq to apply limits */
	u64 hint_ns; /* of the first hint behind the request, 0 if none */
	struct irq_work irq_work; /* queues work without scheduler locks */
	struct kthread_work work;
	struct mutex work_lock; /* driver calls that may sleep, outside lock */
	struct kthread_worker *worker;
	struct gchint_limits limits;
};

/* One byte more takes twice the memory; lockdep's maps may cost that. */
#ifndef CONFIG_DEBUG_LOCK_ALLOC
static_assert(sizeof(struct gchint_policy) <= SZ_2K, "a policy's memory");
#endif
static_assert(sizeof(struct gchint_stats) <= SZ_8K, "a policy's figures");

void gchint_policy_set_task_ops(const struct gchint_task_ops *ops);
void gchint_policy_poke(unsigned int cpu);
void gchint_policy_init(struct gchint_policy *policy);
void gchint_policy_start(struct gchint_policy *policy);
void gchint_policy_stop(struct gchint_policy *policy);
void gchint_policy_update_rules(struct gchint_policy *policy);
void gchint_policy_set_opps(struct gchint_policy *policy,
			    const struct gchint_opps *opps);
void gchint_policy_switched(struct gchint_policy *policy, u32 khz, u64 now);
void gchint_policy_account_request(struct gchint_policy *policy,
				   const struct gchint_request *request, u32 khz_from,
			 u64 hint_ns, u64 now);
void gchint_policy_set_latency(struct gchint_policy *policy, u32 ns);
void gchint_policy_decide(struct gchint_policy *policy, u64 now, u64 hint_ns);
void gchint_policy_wake(struct gchint_cpu *c, struct task_struct *task);
u32 gchint_policy_mean_khz(struct gchint_policy *policy, struct gchint_cpu *c,
			   u64 ran_ns, u64 now);
void gchint_policy_book(struct gchint_policy *policy, const struct gchint_cpu *c,
			u64 ran_ns, u32 khz, u64 now);
u32 gchint_policy_core_type_khz(u8 core_type);

/* Is the actuator the governor, whose hook the scheduler calls? */
static inline bool gchint_policy_is_governed(const struct gchint_policy *policy)
{
	return policy->act->can & GCHINT_CAN_LOAD;
}

/*
 * Read the frequency chosen by another governor. A driver that governs itself
 * does not report it; nothing is learned then. Locked.
 */
static inline void gchint_policy_read_khz(struct gchint_policy *policy, u64 now)
{
	if (!gchint_policy_is_governed(policy))
		gchint_policy_switched(policy, READ_ONCE(policy->policy->cur),
				       now);
}

/* Account the CPU's time in its phase, and enter @phase. Locked. */
static inline void gchint_policy_enter_phase(struct gchint_policy *policy,
					     struct gchint_cpu *c, u8 phase, u64 now)
{
	if (c->phase != GCHINT_PHASE_NONE)
		gchint_stats_time(policy->stats, c->phase)[policy->opp] +=
			gchint_elapsed(now, c->phase_since);
	c->phase = phase;
	c->phase_since = now;
}

#endif /* _GCHINT_POLICY_H */
