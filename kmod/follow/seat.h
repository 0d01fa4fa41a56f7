/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU needs to follow threads: who sits there, and how it is called. */
#ifndef _GCHINT_SEAT_H
#define _GCHINT_SEAT_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "act/policy.h"

/**
 * struct gchint_seat - who sits on a CPU, and how it is called
 * @held_until: up to when a hint is held, CLOCK_MONOTONIC ns
 * @release: ends the hold; runs on this CPU in hard interrupt context
 * @poke: makes this CPU look, from another one
 * @poked: @poke is under way
 * @rung: when the doorbell that poked was rung, 0 no doorbell
 * @alone: stands in for the lock of a policy while there is none
 */
struct gchint_seat {
	u64 held_until;
	struct hrtimer release;
	call_single_data_t poke;
	atomic_t poked;
	atomic64_t rung;
	raw_spinlock_t alone;
};

DECLARE_PER_CPU(struct gchint_seat, gchint_seats);

static inline struct gchint_seat *gchint_seat_of(const struct gchint_cpu *c)
{
	return per_cpu_ptr(&gchint_seats, c->cpu);
}

/* What a CPU without a policy locks instead, so that there is one way. */
static inline raw_spinlock_t *
gchint_seat_lock_of(struct gchint_cpu *c, struct gchint_policy *policy)
{
	return policy ? &policy->lock : &gchint_seat_of(c)->alone;
}

/**
 * gchint_seat_lock - lock what a CPU's hint and decisions are under
 * @c: this CPU
 *
 * Irqs off.
 *
 * Return: its policy, or NULL.
 */
static inline struct gchint_policy *gchint_seat_lock(struct gchint_cpu *c)
	__acquires(policy)
{
	struct gchint_policy *policy = rcu_dereference_sched(c->policy);

	__acquire(policy);
	raw_spin_lock(gchint_seat_lock_of(c, policy));
	__release(gchint_seat_lock_of(c, policy));
	return policy;
}

static inline void gchint_seat_unlock(struct gchint_cpu *c,
				      struct gchint_policy *policy)
	__releases(policy)
{
	__acquire(gchint_seat_lock_of(c, policy));
	raw_spin_unlock(gchint_seat_lock_of(c, policy));
	__release(policy);
}

#endif /* _GCHINT_SEAT_H */
