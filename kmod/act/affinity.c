// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads bound to the small or to the large ones of unlike CPUs, for kernels
 * whose scheduler knows no clamps, or where one busy program keeps it from
 * placing by energy. Whatever governs goes on. Process context only: the
 * kernel's call sleeps.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "actuator.h"
#include "affinity.h"
#include "compat/util.h"
#include "policy.h"
#include "wish.h"

/* Serialised by who calls: one thread at a time (intake/steer.c). */
static struct cpumask scratch;

/* Where a thread may run now. */
static const struct cpumask *read_mask(struct task_struct *task)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	cpumask_copy(&scratch, &task->cpus_mask);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return &scratch;
}

/* Whoever binds it after us wins, until the lease is over. */
static const struct cpumask *notice(struct task_struct *task,
				    struct gchint_bound *b)
{
	const struct cpumask *is = read_mask(task);

	if (b->held && !cpumask_equal(is, &b->ours)) {
		b->held = false;
		b->foreign = true;
	}
	return is;
}

/* Of what is in the mask those CPUs that are of a kind. */
static void keep(struct cpumask *mask, bool small)
{
	u32 least = gchint_util_least();
	unsigned int cpu;

	for_each_cpu(cpu, mask) {
		bool least_kind = gchint_util_capacity(cpu) <= least;

		if (!cpu_active(cpu) || least_kind != small)
			cpumask_clear_cpu(cpu, mask);
	}
}

/**
 * gchint_affinity_put - bind a thread
 * @task: the thread
 * @b: what was done to it
 * @where: enum gchint_where
 * @cpu: where it ran when that was found: the policy there has the say over it
 *	from now on. Not where it runs now, for it may have been moved meanwhile.
 *
 * Only ever to fewer CPUs than it was found with; to none of a kind that it may
 * not run on, nor one of the deadline class, which was admitted with its CPUs.
 * May sleep.
 *
 * Return: 0 or a negative errno.
 */
int gchint_affinity_put(struct task_struct *task, struct gchint_bound *b,
			u8 where, unsigned int cpu)
{
	const struct cpumask *is = notice(task, b);
	int ret;

	if (where == GCHINT_WHERE_ANY || task->policy == SCHED_DEADLINE) {
		gchint_affinity_back(task, b);
		return 0;
	}
	if (b->foreign)
		return 0;
	if (!b->held) {
		cpumask_copy(&b->found, is);
		b->cpu = cpu;
	}
	cpumask_copy(&scratch, &b->found);
	keep(&scratch, where == GCHINT_WHERE_SMALL);
	if (cpumask_empty(&scratch) || cpumask_equal(&scratch, &b->found)) {
		gchint_affinity_back(task, b);
		return 0;
	}
	if (b->held && cpumask_equal(&scratch, &b->ours))
		return 0;
	ret = set_cpus_allowed_ptr(task, &scratch);
	if (ret)
		return ret;
	cpumask_copy(&b->ours, &scratch);
	b->held = true;
	return 0;
}

/**
 * gchint_affinity_back - put back what was found, where it is still ours
 * @task: the thread
 * @b: what was done to it; afterwards nothing is held
 *
 * May sleep.
 */
void gchint_affinity_back(struct task_struct *task, struct gchint_bound *b)
{
	notice(task, b);
	if (!b->held)
		return;
	/* As the scheduler has it where no CPU of a thread is left. */
	if (set_cpus_allowed_ptr(task, &b->found))
		set_cpus_allowed_ptr(task, cpu_possible_mask);
	b->held = false;
}

static int attach(struct gchint_policy *policy)
{
	if (gchint_util_alike())
		return -EOPNOTSUPP;
	gchint_policy_rules(policy);
	gchint_wish_begin();
	return 0;
}

static void detach(struct gchint_policy *policy)
{
	gchint_wish_end();
}

const struct gchint_actuator gchint_affinity = {
	.name = "affinity",
	.id = GCHINT_ACTUATOR_AFFINITY,
	.can = GCHINT_CAN_THREAD,
	.attach = attach,
	.detach = detach,
};
