/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose turn it is on a CPU, for those whom a cap would slow. */
#ifndef _GCHINT_TURN_H
#define _GCHINT_TURN_H

#include <linux/sched.h>

#include "act/policy.h"
#include "policy/neighbour.h"
#include "thread.h"

/**
 * gchint_turn_of - what a turn of a thread is
 * @thread: its lease, or NULL
 * @task: the thread
 *
 * Return: enum gchint_turn
 */
static inline u8 gchint_turn_of(const struct gchint_thread *thread,
				const struct task_struct *task)
{
	if (thread)
		return GCHINT_TURN_LEASED;
	if (is_idle_task(task))
		return GCHINT_TURN_NOBODY;
	return task->flags & PF_KTHREAD ? GCHINT_TURN_KERNEL :
					  GCHINT_TURN_PROGRAM;
}

/**
 * gchint_turn_note - another one's turn begins
 * @c: this CPU
 * @policy: its policy, locked, or NULL
 * @turn: gchint_turn_of() whoever it is
 * @now: CLOCK_MONOTONIC ns
 *
 * Before the hint of who ran until now is forgotten. While a request is carried
 * out a kernel thread is taken for the one that does it: which one that is, is
 * cpufreq's and the governor's business.
 */
static inline void gchint_turn_note(struct gchint_cpu *c,
				    struct gchint_policy *policy, u8 turn,
				    u64 now)
{
	if (!policy || !c->minded)
		return;
	if (turn == GCHINT_TURN_KERNEL && policy->asking)
		turn = GCHINT_TURN_CARRIER;
	gchint_neighbour_turn(&c->neighbour, turn,
			      c->hint.class != GCHINT_CLASS_NEUTRAL,
			      gchint_rules_latency(&policy->rules), now);
}

#endif /* _GCHINT_TURN_H */
