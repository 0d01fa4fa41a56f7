/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels without CONFIG_UCLAMP_TASK keep no clamps, and no word of them. */
#ifndef _GCHINT_COMPAT_CLAMP_H
#define _GCHINT_COMPAT_CLAMP_H

#include <linux/sched.h>

/* One side of a thread's clamp, as it was asked for: by its owner, or by nobody. */
struct gchint_clamp_value {
	u16 value;
	bool set;
};

#ifdef CONFIG_UCLAMP_TASK
static inline bool gchint_clamp_known(void)
{
	return true;
}

static inline struct gchint_clamp_value
gchint_clamp_read(const struct task_struct *task, bool upper)
{
	const struct uclamp_se *side;

	side = &task->uclamp_req[upper ? UCLAMP_MAX : UCLAMP_MIN];
	return (struct gchint_clamp_value){ side->value, side->user_defined };
}
#else
static inline bool gchint_clamp_known(void)
{
	return false;
}

static inline struct gchint_clamp_value
gchint_clamp_read(const struct task_struct *task, bool upper)
{
	return (struct gchint_clamp_value){ upper ? SCHED_CAPACITY_SCALE : 0 };
}
#endif

#endif /* _GCHINT_COMPAT_CLAMP_H */
