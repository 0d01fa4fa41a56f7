// SPDX-License-Identifier: MIT
#include "cycle-control.h"

#define NO GC_CYCLE_STATES

/* clang-format off */
static const uint8_t next[GC_CYCLE_STATES][GC_CYCLE_EVENTS] = {
#define ROW(state, passed, needed, requested, serve, begin, usable, end)                           \
	[GC_CYCLE_##state] = { passed, needed, requested, serve, begin, usable, end }
#define DUE	  GC_CYCLE_DUE
#define DUE_X	  GC_CYCLE_DUE_EXPLICIT
#define IDLE	  GC_CYCLE_IDLE
#define RUNNING   GC_CYCLE_RUNNING
#define RUNNING_X GC_CYCLE_RUNNING_EXPLICIT
#define FREED	  GC_CYCLE_FREED
#define FREED_D	  GC_CYCLE_FREED_DUE
#define FREED_X	  GC_CYCLE_FREED_EXPLICIT
	/*  state	      passed     needed     requested  serve    begin      usable   end */
	ROW(IDLE,	      DUE,       DUE,       DUE_X,     NO,      RUNNING,   NO,      NO),
	ROW(DUE,	      DUE,       DUE,       DUE_X,     RUNNING, RUNNING,   NO,      NO),
	ROW(DUE_EXPLICIT,     DUE_X,     DUE_X,     DUE_X,     RUNNING, RUNNING_X, NO,      NO),
	ROW(RUNNING,	      RUNNING,   RUNNING,   RUNNING_X, NO,      NO,        FREED,   IDLE),
	ROW(RUNNING_EXPLICIT, RUNNING_X, RUNNING_X, RUNNING_X, NO,      NO,        FREED_X, DUE_X),
	ROW(FREED,	      FREED,     FREED_D,   FREED_X,   NO,      NO,        NO,      IDLE),
	ROW(FREED_DUE,	      FREED_D,   FREED_D,   FREED_X,   NO,      NO,        NO,      DUE),
	ROW(FREED_EXPLICIT,   FREED_X,   FREED_X,   FREED_X,   NO,      NO,        NO,      DUE_X),
};
/* clang-format on */

bool gc_cycle_step(struct gc_cycle_control *t, enum gc_cycle_event event)
{
	unsigned int to = next[t->state][event];
	bool freed = t->state >= GC_CYCLE_FREED;

	if (to == NO)
		return false;
	t->freed += event == GC_CYCLE_USABLE || (event == GC_CYCLE_END && !freed);
	t->ended += event == GC_CYCLE_END;
	/* gc_budget_take() reads it without the lock. */
	__atomic_store_n(&t->state, to, __ATOMIC_RELAXED);
	return true;
}
