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

/** clamp_attach() - @r is attached: a cap that it inherited from its creator ends. */
void clamp_attach(struct gchint_session *s, struct record *r);

/** clamp_role() - the role of @r is @role now. GCHINT_ROLE_FOLLOW caps nothing. */
void clamp_role(struct gchint_session *s, struct record *r, unsigned int role);

/** clamp_edge() - the innermost phase of @r is @word now. */
void clamp_edge(struct gchint_session *s, struct record *r, uint32_t word);

/** clamp_restore() - put back what was changed. */
void clamp_restore(const struct gchint_session *s, struct record *r);

/** clamp_forked() - in a forked child: its only thread does not keep its parent's cap. */
void clamp_forked(struct gchint_session *s);

#endif /* GCHINT_CLAMP_H */
