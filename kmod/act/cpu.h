/* SPDX-License-Identifier: GPL-2.0-only */
/* What each CPU asks for. */
#ifndef _GCHINT_CPU_H
#define _GCHINT_CPU_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/sched/cpufreq.h>
#include <linux/types.h>

#include "policy/decide.h"
#include "policy/load.h"
#include "policy/neighbour.h"
#include "policy/phase.h"
#include "tell/event.h"

struct gchint_policy;
struct gchint_thread;
struct task_struct;

/**
 * struct gchint_cpu - what one CPU asks for, and on whose behalf
 * @hook: of the scheduler
 * @policy: the policy under gchint that this CPU belongs to, or NULL; changed
 *	in start and stop, under RCU. Its lock serialises @phase, and @load and what
 *	follows it but for @park_ns.
 * @thread: the leased thread that counts here. Changed and used by this CPU
 *	only, irqs off; others may compare it.
 * @track: of @thread, while it runs here; see gchint_thread.track
 * @next: who is about to run, while the switch probe is at work; else NULL
 * @ran_since: up to when @track was told that it ran
 * @cpu: its number
 * @ran_scale: gchint_scale() of the frequency at which that thread last ran
 * @held: @thread was switched out for something that is not user space, a
 *	moment ago: its hint still counts
 * @parked: idle and asks for nothing. Until somebody runs who is not of the
 *	kernel, for one of those is our own worker.
 * @unpaid: the leased thread that ran here last holds no privilege, and nobody
 *	has run since: what is done for its idling is metered
 * @alert: its policy is capped for those who hint: whoever else comes is seen
 *	at once
 * @minded: its policy is one of limits: who takes turns there is noted
 * @phase: what the time since @phase_since is accounted to
 * @load: how busy
 * @seen_pid: who ran when it was last accounted by this CPU
 * @demand: what this CPU asked for last
 * @seen_switches: how often that thread had been switched out by then
 * @wish: gchint_cpu_wish() then, or GCHINT_NO_WISH
 * @hint: of @thread; of class neutral if there is none
 * @plan: of @thread; used if it is valid for @hint. It outlives @thread's
 *	turn while @held.
 * @khz_ms: frequency times the time that @thread ran at it, since @ran_since,
 *	up to @khz_since; in kHz * 2^20 ns
 * @khz_since: CLOCK_MONOTONIC ns
 * @phase_since: CLOCK_MONOTONIC ns
 * @snapshot: what gchint_look() reads, while it does; under the policy's lock, for
 *	another CPU of it may look for this one
 * @sample: what that teaches, under the same lock
 * @who: whose @hint it is, for those who watch
 * @neighbour: who took turns, while @minded
 * @park_ns: idle since its thread left; not worth its frequency any more from
 *	then on, 0 never
 *
 * In the order in which the scheduler's hook wants it: to see that nothing is due it
 * reads the first cache line, to decide by load the next four, for a hint the rest.
 */
struct gchint_cpu {
	struct update_util_data hook;
	struct gchint_policy __rcu *policy;
	struct gchint_thread *thread;
	struct gchint_track *track;
	struct task_struct *next;
	u64 ran_since;
	unsigned int cpu;
	u32 ran_scale;
	bool held;
	bool parked;
	bool unpaid;
	bool alert;
	bool minded;
	u8 phase;

	struct gchint_load load;
	pid_t seen_pid;
	struct gchint_demand demand;
	unsigned long seen_switches;
	u64 wish;

	struct gchint_hint hint;
	struct gchint_plan plan;
	u64 khz_ms;
	u64 khz_since;
	u64 phase_since;
	struct gchint_snapshot snapshot;
	struct gchint_sample sample;
	struct gchint_who who;
	struct gchint_neighbour neighbour;
	u64 park_ns;
} ____cacheline_aligned;

/* What each call of the hook reads, and no more. */
static_assert(offsetof(struct gchint_cpu, load) <= 64, "the hook's line");

DECLARE_PER_CPU_ALIGNED(struct gchint_cpu, gchint_cpus);

/* A hint decided nothing: no wish is the same. */
#define GCHINT_NO_WISH U64_MAX

/**
 * gchint_cpu_wish - what of a hint and its plan a decision depends on
 * @c: a CPU, whose hint's class is not neutral
 *
 * Return: the same word for the same wish.
 */
static inline u64 gchint_cpu_wish(const struct gchint_cpu *c)
{
	u32 how = c->plan.lower << 2 | c->hint.may_raise << 1 |
		  gchint_class_boosts(c->hint.class);

	return (u64)c->plan.khz << 32 | how;
}

#endif /* _GCHINT_CPU_H */
