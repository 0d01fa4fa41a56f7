/* SPDX-License-Identifier: GPL-2.0-only */
/* The running thread of a CPU, as its load estimate sees it. */
#ifndef _TASK_H
#define _TASK_H

#include "load.h"

/* What the module does for it, also for a thread that has not run before. */
static inline void task(struct gchint_load *l, u32 id, u32 util, u32 mean)
{
	if (gchint_load_set_task(l, id, util))
		gchint_load_attach_task(l, id, mean, 0);
}

#endif /* _TASK_H */
