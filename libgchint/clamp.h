/* SPDX-License-Identifier: MIT */
/*
 * Utilisation clamps (sched_setattr(2), CONFIG_UCLAMP_TASK): a cap for concurrent
 * phases and roles, never a boost: threads that others wait for keep what they had.
 * schedutil lowers the frequency for a capped thread, and Energy-Aware Scheduling
 * places it on a core that is large enough for the cap.
 *
 * What was found is put back when a phase ends, a role changes, a thread is detached
 * and the session closes. A clamp that differs from ours by then was set by somebody
 * else, and stays.
 */
#ifndef GCHINT_CLAMP_H
#define GCHINT_CLAMP_H

#include "page.h"

/*
 * Phases that are expected to be shorter do not change the clamp, unless GCHINT_MIN_US
 * says otherwise. A cap and its end take two calls of sched_getattr(2), 0.5 us each, and
 * two of sched_setattr(2), 4.5 us each (x86-64, a virtual machine with other load, Linux
 * 6.18; the change of a nice value, which takes the same path): 10 us, a hundredth of
 * this. And schedutil changes a frequency once in a millisecond at most where the driver
 * names no other time, so that the cap of a shorter phase would rarely reach the clock.
 */
#define CLAMP_MIN_US 1000

#define CLAMP_FITTING (-1)

/**
 * clamp_open() - find out whether clamps work here, and choose the cap
 * @s: the session
 * @percent: of the largest CPU; CLAMP_FITTING where the user names none: what fits the
 *	least capable CPU by the scheduler's own rule, or half of one where all are equal
 *
 * Return: 0 or -errno.
 */
int clamp_open(struct gchint_session *s, long percent);

/** clamp_late() - has the instant @stall_ns (CLOCK_MONOTONIC; 0 unknown) passed? */
int clamp_late(uint64_t stall_ns);

/** clamp_wanted() - is a thread in the phase @word to be capped? */
int clamp_wanted(uint32_t word);

/** clamp_attach() - @r is attached: a cap that it inherited from its creator ends. */
void clamp_attach(struct gchint_session *s, struct record *r);

/** clamp_role() - the role of @r is @role now. GCHINT_ROLE_FOLLOW caps nothing. */
void clamp_role(struct gchint_session *s, struct record *r, unsigned int role);

/** clamp_standing() - does its role cap @r while it is in no phase? */
int clamp_standing(const struct record *r);

/** clamp_apply() - cap @r from here on, or put back what it had. Keeps no errno. */
void clamp_apply(struct gchint_session *s, struct record *r, int capped);

/** clamp_restore() - put back what was changed. */
void clamp_restore(const struct gchint_session *s, struct record *r);

/** clamp_forked() - in a forked child: its only thread does not keep its parent's cap. */
void clamp_forked(struct gchint_session *s);

#endif /* GCHINT_CLAMP_H */
