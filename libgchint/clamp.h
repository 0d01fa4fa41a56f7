/* SPDX-License-Identifier: MIT */
/*
 * Without the module: utilisation clamps (sched_setattr(2), CONFIG_UCLAMP_TASK).
 * A cap for concurrent phases and roles, never a boost: those who wait get what
 * they had. Each change is a system call, so short phases are filtered.
 */
#ifndef GCHINT_CLAMP_H
#define GCHINT_CLAMP_H

#include "page.h"

/** clamp_supported() - do clamps work here? Changes nothing. */
int clamp_supported(void);

/** clamp_role() - the role of @r is @role now. FOLLOW caps nobody. */
void clamp_role(const struct gchint_session *s, struct record *r, unsigned int role);

/** clamp_edge() - the innermost phase of @r is @word now. */
void clamp_edge(const struct gchint_session *s, struct record *r, uint32_t word);

/** clamp_restore() - give back what was changed. */
void clamp_restore(struct record *r);

#endif /* GCHINT_CLAMP_H */
