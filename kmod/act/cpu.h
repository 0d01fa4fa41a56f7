/* SPDX-License-Identifier: GPL-2.0-only */
/* What each CPU asks for. */
#ifndef _GCHINT_CPU_H
#define _GCHINT_CPU_H

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
 * @cpu: its number
 * @thread: the leased thread that counts here. Changed and used by this CPU
 *	only, irqs off; others may compare it.
 * @held: @thread was switched out for something that is not user space, a
 *	moment ago: its hint still counts
 * @park_ns: idle since its thread left; not worth its frequency any more from
 *	then on, 0 never
 * @ran_scale: gchint_scale() of the frequency at which that thread last ran
 * @parked: idle and asks for nothing. Until somebody runs who is not of the
 *	kernel, for one of those is our own worker.
 * @unpaid: the leased thread that ran here last holds no privilege, and nobody
 *	has run since: what is done for its idling is metered
 * @alert: its policy is capped for those who hint: whoever else comes is seen
 *	at once
 * @rung: it looks because of a doorbell: what has changed did so just now
 * @minded: its policy is one of limits: who takes turns there is noted
 * @next: who is about to run, while the switch probe is at work; else NULL
 * @ran_since: up to when @track was told that it ran
 * @track: of @thread, while it runs here; see gchint_thread.track
 * @policy: the policy under gchint that this CPU belongs to, or NULL; changed
 *	in start and stop, under RCU. Its lock serialises what follows.
 * @hook: of the scheduler
 * @load: how busy
 * @neighbour: who took turns, while @minded
 * @seen_pid: who ran when it was last accounted by this CPU
 * @seen_switches: how often that thread had been switched out by then
 * @hint: of @thread; of class neutral if there is none
 * @who: whose @hint it is, for those who watch
 * @plan: of @thread; used if it is valid for @hint. It outlives @thread's
 *	turn while @held.
 * @snapshot: what gchint_look() reads, while it does
 * @sample: likewise, what that teaches
 * @demand: what this CPU asked for last
 * @wish: gchint_cpu_wish() then, or GCHINT_NO_WISH
 * @phase: what the time since @phase_since is accounted to
 * @phase_since: CLOCK_MONOTONIC ns
 * @khz_ms: frequency times the time that @thread ran at it, since @ran_since,
 *	up to @khz_since; in kHz * 2^20 ns
 * @khz_since: CLOCK_MONOTONIC ns
 */
struct gchint_cpu {
	unsigned int cpu;
	struct gchint_thread *thread;
	bool held;
	u64 park_ns;
	u32 ran_scale;
	bool parked;
	bool unpaid;
	bool alert;
	bool rung;
	bool minded;
	struct task_struct *next;
	u64 ran_since;
	struct gchint_track *track;

	struct gchint_policy __rcu *policy;
	struct update_util_data hook;
	struct gchint_load load;
	struct gchint_neighbour neighbour;
	pid_t seen_pid;
	unsigned long seen_switches;
	struct gchint_hint hint;
	struct gchint_who who;
	struct gchint_plan plan;
	struct gchint_snapshot snapshot;
	struct gchint_sample sample;
	struct gchint_demand demand;
	u64 wish;
	u8 phase;
	u64 phase_since;
	u64 khz_ms;
	u64 khz_since;
};

DECLARE_PER_CPU(struct gchint_cpu, gchint_cpus);

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
