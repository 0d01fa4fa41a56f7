/* SPDX-License-Identifier: MIT */
/* The process that the session belongs to, and the lock under which it opens and closes. */
#ifndef GCHINT_OWNER_H
#define GCHINT_OWNER_H

#include "page.h"

/**
 * owner_lock() - wait until no other thread opens or closes the session
 *
 * A waiter lends its priority to the thread that it waits for: one of real-time priority
 * waits for an ordinary one on the same CPU.
 */
void owner_lock(struct gchint_session *s);
void owner_unlock(struct gchint_session *s);

/** owner_set() - the session belongs to the calling process, which holds the lock. */
void owner_set(struct gchint_session *s);

/** owner_is_caller() - does the session belong to the calling process, and not to its parent? */
int owner_is_caller(const struct gchint_session *s);

#endif /* GCHINT_OWNER_H */
