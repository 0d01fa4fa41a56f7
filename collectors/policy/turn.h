/* SPDX-License-Identifier: MIT */
/*
 * The turn to collect and the orders of the daemon, as a table of transitions. Pure; callers
 * hold the heap's gc.lock. A reader without the lock sees a recent state.
 */
#ifndef GC_TURN_H
#define GC_TURN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A state combines three things: is a cycle under way, has it freed its memory already (which
 * may be allocated while it goes on to sweep), and what is the daemon to do after it.
 */
enum gc_turn_state {
	GC_TURN_IDLE,
	GC_TURN_DUE, /* the daemon is to run a cycle */
	GC_TURN_DUE_EXPLICIT, /* the same, and its cause is GC_CAUSE_EXPLICIT */
	GC_TURN_TAKEN,
	GC_TURN_TAKEN_EXPLICIT,
	GC_TURN_FREED,
	GC_TURN_FREED_DUE,
	GC_TURN_FREED_EXPLICIT,
	GC_TURN_STATES
};

enum gc_turn_event {
	GC_TURN_PASSED, /* allocation passed the concurrent start; the event will repeat */
	GC_TURN_NEEDED, /* a mutator waits until memory is freed */
	GC_TURN_ASKED, /* gc_collect() that the daemon is to serve */
	GC_TURN_SERVE, /* the daemon begins the cycle that was ordered */
	GC_TURN_TAKE, /* a mutator begins a cycle, or the daemon trims */
	GC_TURN_USABLE, /* the memory that the cycle freed may be allocated */
	GC_TURN_END,
	GC_TURN_EVENTS
};

/**
 * struct gc_turn - the turn to collect
 * @freed: number of times that memory became usable; threads that need memory wait for a change
 * @ended: number of cycles and trims that ended; threads that need the turn wait for a change
 *	   of either
 */
struct gc_turn {
	enum gc_turn_state state;
	uint64_t freed, ended;
};

/**
 * gc_turn_step() - @event happens
 *
 * PASSED is dropped while a cycle is under way: it will repeat if it still holds afterwards.
 * NEEDED is served by a cycle that has yet to free its memory; after that it stays pending.
 * ASKED stays pending until the daemon serves it.
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
