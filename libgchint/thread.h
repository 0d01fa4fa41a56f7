/* SPDX-License-Identifier: MIT */
/* Leasing threads. */
#ifndef GCHINT_THREAD_H
#define GCHINT_THREAD_H

#include "page.h"

/** self_record() - the calling thread's record; attaches it the first time. Or NULL. */
struct record *self_record(struct gchint_session *s);

/**
 * handle_settle() - make the next edge a plain store if nothing else is needed
 * @s: the session
 * @t: handle of @r
 * @r: the record
 */
void handle_settle(struct gchint_session *s, struct gchint_thread *t, struct record *r);

/** handle_drop() - the lease is gone: ignore all further edges of the handle. */
void handle_drop(struct gchint_session *s, struct gchint_thread *t);

#endif /* GCHINT_THREAD_H */
