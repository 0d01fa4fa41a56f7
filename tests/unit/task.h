/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread that runs on a CPU, as its load hears of it. */
#ifndef _TASK_H
#define _TASK_H

#include "load.h"

/* What the module does for it; of one that has not run before, if nobody knows of it. */
static inline void task(struct gchint_load *l, u32 who, u32 util, u32 mean)
{
	if (gchint_load_set_task(l, who, util))
		gchint_load_attach_task(l, who, mean, 0);
}

#endif /* _TASK_H */
