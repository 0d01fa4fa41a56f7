// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts are made and given back under the lock of the list of sessions. Time is
 * charged by the CPU on which it went by, at each look; a phase that began or ended
 * since the last one without a doorbell did so somewhere in between, on average in
 * the middle.
 */
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "act/cpu.h"
#include "clock.h"
#include "compat/energy_model.h"
#include "spent.h"

/* Frequency in force as cpufreq last told, 0 unknown. */
static DEFINE_PER_CPU(u32, khz_told);

static atomic_t nr_accounts;

/**
 * gchint_spent_begin - count what a session spends from now on
 * @session: the session; goes on if it is counted already
 *
 * May sleep. The caller holds off others who begin or end, and sees to it that
 * threads are followed.
 *
 * Return: 0 or -ENOMEM.
 */
int gchint_spent_begin(struct gchint_session *session)
{
	struct gchint_spent *spent;

	if (gchint_spent_counts(session))
		return 0;
	spent = kzalloc(sizeof(*spent), GFP_KERNEL_ACCOUNT);
	if (!spent)
		return -ENOMEM;
	raw_spin_lock_init(&spent->lock);
	spent->since = gchint_now();
	atomic_inc(&nr_accounts);
	rcu_assign_pointer(session->spent, spent);
	return 0;
}

/**
 * gchint_spent_end - forget what a session spent
 * @session: the session, counted or not
 *
 * The caller holds off others who begin or end.
 */
void gchint_spent_end(struct gchint_session *session)
{
	struct gchint_spent *spent;

	spent = rcu_replace_pointer(session->spent, NULL, true);
	if (!spent)
		return;
	atomic_dec(&nr_accounts);
	kfree_rcu(spent, rcu);
}

/**
 * gchint_spent_count - how many sessions are counted
 *
 * Return: the number.
 */
unsigned int gchint_spent_count(void)
{
	return atomic_read(&nr_accounts);
}

/**
 * gchint_spent_sum - add a session's account to a sum
 * @session: the session
 * @sum: zero at first; its @since becomes the earliest
 *
 * Return: whether the session is counted.
 */
bool gchint_spent_sum(struct gchint_session *session, struct gchint_spent *sum)
{
	struct gchint_spent *spent;
	unsigned long flags;
	unsigned int i;

	rcu_read_lock();
	spent = rcu_dereference(session->spent);
	if (!spent) {
		rcu_read_unlock();
		return false;
	}
	raw_spin_lock_irqsave(&spent->lock, flags);
	if (!sum->since || spent->since < sum->since)
		sum->since = spent->since;
	sum->unsure_ns += spent->unsure_ns;
	for (i = 0; i < GCHINT_PHASE_NR; i++) {
		sum->phase[i].ns += spent->phase[i].ns;
		sum->phase[i].known_ns += spent->phase[i].known_ns;
		sum->phase[i].nj += spent->phase[i].nj;
	}
	raw_spin_unlock_irqrestore(&spent->lock, flags);
	rcu_read_unlock();
	return true;
}

static void charge(struct gchint_spent_phase *phase, u64 ns, u32 microwatts)
{
	phase->ns += ns;
	if (!microwatts)
		return;
	phase->known_ns += ns;
	phase->nj += div_u64(ns * microwatts, 1000000);
}

/* Of this CPU, at the frequency in force; 0 unknown. */
static u32 power_of(unsigned int cpu)
{
	u32 khz = READ_ONCE(per_cpu(khz_told, cpu)), power;
	bool microwatts = false;

	power = khz ? gchint_em_power(cpu, khz, &microwatts) : 0;
	return microwatts ? power : 0;
}

/**
 * gchint_spent_charge - the thread that sits on a CPU ran there
 * @session: of the thread
 * @c: this CPU, whose hint is what the thread says now
 * @was: the phase at the last look
 * @ran_ns: time since then, up to @now
 * @now: CLOCK_MONOTONIC ns
 *
 * Irqs off.
 */
void gchint_spent_charge(struct gchint_session *session, struct gchint_cpu *c,
			 u8 was, u64 ran_ns, u64 now)
{
	struct gchint_spent *spent = rcu_dereference_sched(session->spent);
	u8 is = c->rung ? was : c->hint.phase;
	u32 microwatts;
	u64 half;

	if (!spent)
		return;
	/* It may have been begun in the middle of that. */
	ran_ns = min(ran_ns, gchint_elapsed(now, spent->since));
	if (!ran_ns)
		return;
	half = ran_ns / 2;
	microwatts = power_of(c->cpu);
	raw_spin_lock(&spent->lock);
	charge(&spent->phase[was], ran_ns - half, microwatts);
	charge(&spent->phase[is], half, microwatts);
	if (is != was)
		spent->unsure_ns += ran_ns;
	raw_spin_unlock(&spent->lock);
}

/**
 * gchint_spent_frequency - a CPU has another frequency
 * @cpu: the CPU
 * @khz: its frequency, 0 unknown
 *
 * Any context.
 */
void gchint_spent_frequency(unsigned int cpu, u32 khz)
{
	WRITE_ONCE(per_cpu(khz_told, cpu), khz);
}

/**
 * gchint_spent_found - a CPU has a frequency that may not be told yet
 * @cpu: the CPU
 * @khz: its frequency, as it was a moment ago
 *
 * Any context.
 */
void gchint_spent_found(unsigned int cpu, u32 khz)
{
	cmpxchg(per_cpu_ptr(&khz_told, cpu), 0, khz);
}
