// SPDX-License-Identifier: MIT
#include "turn.h"

#define NO GC_TURN_STATES

/* clang-format off */
static const uint8_t next[GC_TURN_STATES][GC_TURN_EVENTS] = {
#define ROW(state, passed, needed, asked, serve, take, usable, end)                                \
	[GC_TURN_##state] = { passed, needed, asked, serve, take, usable, end }
#define DUE	GC_TURN_DUE
#define DUE_X	GC_TURN_DUE_EXPLICIT
#define IDLE	GC_TURN_IDLE
#define TAKEN	GC_TURN_TAKEN
#define TAKEN_X	GC_TURN_TAKEN_EXPLICIT
#define FREED	GC_TURN_FREED
#define FREED_D	GC_TURN_FREED_DUE
#define FREED_X	GC_TURN_FREED_EXPLICIT
	/*  state	    passed   needed   asked    serve  take     usable   end */
	ROW(IDLE,	    DUE,     DUE,     DUE_X,   NO,    TAKEN,   NO,      NO),
	ROW(DUE,	    DUE,     DUE,     DUE_X,   TAKEN, TAKEN,   NO,      NO),
	ROW(DUE_EXPLICIT,   DUE_X,   DUE_X,   DUE_X,   TAKEN, TAKEN_X, NO,      NO),
	ROW(TAKEN,	    TAKEN,   TAKEN,   TAKEN_X, NO,    NO,      FREED,   IDLE),
	ROW(TAKEN_EXPLICIT, TAKEN_X, TAKEN_X, TAKEN_X, NO,    NO,      FREED_X, DUE_X),
	ROW(FREED,	    FREED,   FREED_D, FREED_X, NO,    NO,      NO,      IDLE),
	ROW(FREED_DUE,	    FREED_D, FREED_D, FREED_X, NO,    NO,      NO,      DUE),
	ROW(FREED_EXPLICIT, FREED_X, FREED_X, FREED_X, NO,    NO,      NO,      DUE_X),
};
/* clang-format on */

bool gc_turn_step(struct gc_turn *t, enum gc_turn_event event)
{
	unsigned int to = next[t->state][event];
	bool freed = t->state >= GC_TURN_FREED;

	if (to == NO)
		return false;
	t->freed += event == GC_TURN_USABLE || (event == GC_TURN_END && !freed);
	t->ended += event == GC_TURN_END;
	/* gc_budget_take() reads it without the lock. */
	__atomic_store_n(&t->state, to, __ATOMIC_RELAXED);
	return true;
}
