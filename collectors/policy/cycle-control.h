/* SPDX-License-Identifier: MIT */
/*
 * Which thread may run the next cycle, as a table of transitions: the right to collect, which one
 * thread has at a time, and the orders for the daemon. Pure; callers
 * hold the heap's gc.lock. A reader without the lock sees a recent state.
 */
#ifndef GC_CYCLE_H
#define GC_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A state combines three things: is a cycle under way, has it freed its memory already (which
 * may be allocated while it goes on to sweep), and what is the daemon to do after it.
 */
enum gc_cycle_state {
	GC_CYCLE_IDLE,
	GC_CYCLE_DUE, /* the daemon is to run a cycle */
	GC_CYCLE_DUE_EXPLICIT, /* the same, and its cause is GC_CAUSE_EXPLICIT */
	GC_CYCLE_RUNNING,
	GC_CYCLE_RUNNING_EXPLICIT,
	GC_CYCLE_FREED,
	GC_CYCLE_FREED_DUE,
	GC_CYCLE_FREED_EXPLICIT,
	GC_CYCLE_STATES
};

enum gc_cycle_event {
	GC_CYCLE_PASSED, /* allocation passed the concurrent start; the event will repeat */
	GC_CYCLE_NEEDED, /* a mutator waits until memory is freed */
	GC_CYCLE_REQUESTED, /* gc_collect() that the daemon is to serve */
	GC_CYCLE_SERVE, /* the daemon begins the cycle that was ordered */
	GC_CYCLE_BEGIN, /* a mutator begins a cycle, or the daemon trims */
	GC_CYCLE_USABLE, /* the memory that the cycle freed may be allocated */
	GC_CYCLE_END,
	GC_CYCLE_EVENTS
};

/**
 * struct gc_cycle_control - the right to collect, and orders for the daemon
 * @freed: number of times that memory became usable; threads that need memory wait for a change
 * @ended: number of cycles and trims that ended; threads that want to collect wait for a
 *	   change of either
 */
struct gc_cycle_control {
	enum gc_cycle_state state;
	uint64_t freed, ended;
};

/**
 * gc_cycle_step() - @event happens
 *
 * PASSED is dropped while a cycle is under way: it will repeat if it still holds afterwards.
 * NEEDED is served by a cycle that has yet to free its memory; after that it stays pending.
 * REQUESTED stays pending until the daemon serves it.
 *
 * Return: false, and nothing changed, when @event cannot happen now.
 */
bool gc_cycle_step(struct gc_cycle_control *t, enum gc_cycle_event event);

static inline bool gc_cycle_running(enum gc_cycle_state s)
{
	return s >= GC_CYCLE_RUNNING;
}

/* Is there something for the daemon, and may it begin? */
static inline bool gc_cycle_due(enum gc_cycle_state s)
{
	return s == GC_CYCLE_DUE || s == GC_CYCLE_DUE_EXPLICIT;
}

#endif
