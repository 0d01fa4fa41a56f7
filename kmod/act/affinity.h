/* SPDX-License-Identifier: GPL-2.0-only */
/* The actuator "affinity": on which of unlike CPUs a thread may run. */
#ifndef _GCHINT_AFFINITY_H
#define _GCHINT_AFFINITY_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct gchint_actuator;
struct task_struct;

extern const struct gchint_actuator gchint_affinity;

/**
 * struct gchint_bound - what was done to a thread
 * @found: where it might run before
 * @ours: where it may now
 * @cpu: where it was when it was to be bound first
 * @held: @ours is in force, as far as we know
 * @foreign: somebody else bound it since: theirs for good
 *
 * All zero is a thread that nothing was done to.
 */
struct gchint_bound {
	struct cpumask found;
	struct cpumask ours;
	unsigned int cpu;
	bool held;
	bool foreign;
};

int gchint_affinity_put(struct task_struct *task, struct gchint_bound *b,
			u8 where, unsigned int cpu);
void gchint_affinity_back(struct task_struct *task, struct gchint_bound *b);

#endif /* _GCHINT_AFFINITY_H */
