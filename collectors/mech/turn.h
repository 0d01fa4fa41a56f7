/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is to collect, and what the daemon owes: a table of transitions. Pure; who
 * uses it holds the heap's gc.lock. A reader without it sees a recent state.
 */
#ifndef GC_TURN_H
#define GC_TURN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Three things make a state: is a cycle under way, does it free no more (what it freed may
 * be allocated, it goes on to sweep), and what is ordered of the daemon beyond it.
 */
enum gc_turn_state {
	GC_TURN_IDLE,
	GC_TURN_DUE, /* the daemon is to run a cycle */
	GC_TURN_DUE_EXPLICIT, /* and GC-EXPLICIT is what it is for */
	GC_TURN_TAKEN,
	GC_TURN_TAKEN_EXPLICIT,
	GC_TURN_FREED,
	GC_TURN_FREED_DUE,
	GC_TURN_FREED_EXPLICIT,
	GC_TURN_STATES
};

enum gc_turn_event {
	GC_TURN_PASSED, /* allocation passed the concurrent start; it will ask again */
	GC_TURN_NEEDED, /* a mutator stands still until memory is freed */
	GC_TURN_ASKED, /* gc_collect() that the daemon is to serve */
	GC_TURN_SERVE, /* the daemon begins the cycle that was ordered */
	GC_TURN_TAKE, /* anybody else begins one, or trims */
	GC_TURN_USABLE, /* what the cycle freed may be allocated */
	GC_TURN_END,
	GC_TURN_EVENTS
};

/**
 * struct gc_turn - the turn
 * @freed: times that memory became usable: who waits for memory waits for this to change
 * @ended: cycles and trims that ended: who waits for the turn looks at both
 */
struct gc_turn {
	enum gc_turn_state state;
	uint64_t freed, ended;
};

/**
 * gc_turn_step() - @event happens
 *
 * An order by PASSED while a cycle is under way is dropped: it comes again if it is still
 * true afterwards. One by NEEDED is served by a cycle that has yet to free, else it stands.
 * One by ASKED stands until the daemon serves it.
 *
 * Return: false, and nothing changed, when @event cannot happen now.
 */
bool gc_turn_step(struct gc_turn *t, enum gc_turn_event event);

static inline bool gc_turn_taken(enum gc_turn_state s)
{
	return s >= GC_TURN_TAKEN;
}

/* Is there something for the daemon, and may it begin? */
static inline bool gc_turn_due(enum gc_turn_state s)
{
	return s == GC_TURN_DUE || s == GC_TURN_DUE_EXPLICIT;
}

#endif
