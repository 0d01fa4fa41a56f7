/* SPDX-License-Identifier: GPL-2.0-only */
/* The actuator "clamp": what the scheduler takes a thread's use of a CPU for. */
#ifndef _GCHINT_CLAMP_H
#define _GCHINT_CLAMP_H

#include <linux/types.h>

#include "compat/clamp.h"
#include "policy/place.h"

struct gchint_actuator;
struct task_struct;

extern const struct gchint_actuator gchint_clamp;

/**
 * struct gchint_clamped - what was done to a thread
 * @found: before the first clamp of ours: lower, upper
 * @ours: what was put there
 * @held: @ours is in force, as far as we know
 * @foreign: somebody else wrote there since: theirs for good
 *
 * All zero is a thread that nothing was done to.
 */
struct gchint_clamped {
	struct gchint_clamp_value found[2];
	u16 ours[2];
	bool held[2];
	bool foreign[2];
};

unsigned int gchint_clamp_count(void);
int gchint_clamp_put(struct task_struct *task, struct gchint_clamped *c,
		     const struct gchint_place *place);
void gchint_clamp_back(struct task_struct *task, struct gchint_clamped *c);

#endif /* _GCHINT_CLAMP_H */
