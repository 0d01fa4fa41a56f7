/* SPDX-License-Identifier: GPL-2.0-only */
/* Which leased thread runs on each CPU, and what its hint is there. */
#ifndef _GCHINT_WATCH_H
#define _GCHINT_WATCH_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/sched/cpufreq.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "decide.h"
#include "event.h"
#include "load.h"
#include "phase.h"

struct gchint_policy;
struct gchint_thread;
struct task_struct;

/* Rooms of a CPU: more threads than that seldom take turns there. */
#define GCHINT_ROOMS 4

/**
 * struct gchint_room - what is known of a thread that runs, or did lately
 * @owner: the thread; set by the CPU whose room it is, cleared by it or by who
 *	ends the lease. NULL for &gchint_cpu.spare.
 * @track: of @owner
 * @plan: of @owner, while it does not run
 *
 * A thread keeps its room when it leaves its CPU, for it usually comes back
 * soon, and packing is dear. It is packed when its room is needed.
 */
struct gchint_room {
	struct gchint_thread *owner;
	struct gchint_track track;
	struct gchint_plan plan;
};

/**
 * struct gchint_cpu - one CPU
 * @cpu: its number
 * @thread: the leased thread that counts here. Changed and used by this CPU
 *	only, irqs off; others may compare it.
 * @held: @thread was switched out for something that is not user space, a
 *	moment ago: its hint still counts until @held_until
 * @held_until: CLOCK_MONOTONIC ns
 * @park_ns: idle since its thread left; not worth its frequency any more from
 *	then on, 0 never
 * @ran_scale: gchint_scale() of the frequency at which that thread last ran
 * @parked: idle and asks for nothing. Until somebody runs who is not of the
 *	kernel, for one of those is our own worker.
 * @next: who is about to run, while the switch probe is at work; else NULL
 * @ran_since: up to when @track was told that it ran
 * @track: of @thread, while it runs here; see gchint_thread.room
 * @rooms: of threads that were first seen here; each under its owner's lock
 * @hand: which of them was given last
 * @spare: for who finds none; packed at each turn's end
 * @release: ends the hold; runs on this CPU in hard interrupt context
 * @poke: makes this CPU look, from another one
 * @poked: @poke is under way
 * @rung: when the doorbell that poked was rung, 0 no doorbell
 * @alone: stands in for the lock of @policy while there is none
 * @policy: the policy under gchint that this CPU belongs to, or NULL; changed
 *	in start and stop, under RCU. Its lock serialises what follows.
 * @hook: of the scheduler
 * @load: how busy
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
	u64 held_until;
	u64 park_ns;
	u32 ran_scale;
	bool parked;
	struct task_struct *next;
	u64 ran_since;
	struct gchint_track *track;
	struct gchint_room rooms[GCHINT_ROOMS];
	unsigned int hand;
	struct gchint_room spare;
	struct hrtimer release;
	call_single_data_t poke;
	atomic_t poked;
	atomic64_t rung;

	raw_spinlock_t alone;
	struct gchint_policy __rcu *policy;
	struct update_util_data hook;
	struct gchint_load load;
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

/* What the module's instants are: CLOCK_MONOTONIC, in nanoseconds. */
static inline u64 gchint_now(void)
{
	return ktime_get_ns();
}

int gchint_watch_init(void);
void gchint_watch_exit(void);
void gchint_watch_on(void);
void gchint_watch_off(void);
void gchint_watch_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state);

void gchint_watch_notice(struct task_struct *task);
void gchint_watch_forget(struct gchint_thread *thread);
void gchint_watch_ring(struct gchint_thread *thread, bool changed);
void gchint_watch_poke(unsigned int cpu);

#endif /* _GCHINT_WATCH_H */
