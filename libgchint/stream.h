/* SPDX-License-Identifier: MIT */
/* GCHINT_STREAM: hints to a recorder, through a ring in memory. <gchint-stream.h> */
#ifndef GCHINT_LIB_STREAM_H
#define GCHINT_LIB_STREAM_H

#include <gchint-stream.h>

#include "session.h"

/**
 * stream_open() - make a ring and send it to the recorder at @path; 0 or -errno
 *
 * With GCHINT_PROFILE, one that answers samples, if the program leaves us the signal.
 */
int stream_open(struct gchint_session *s, const char *path);

/**
 * stream_close() - the ring ends
 * @s: the session
 * @mapped: leave it in the address space, for threads that may be storing into it
 */
void stream_close(struct gchint_session *s, int mapped);

static inline int streamed(const struct gchint_session *s)
{
	return load_relaxed(&s->stream) != NULL;
}

/**
 * stream_put() - tell the recorder, or count that it could not be told
 * @s: the session
 * @r: the record of the thread it is about
 * @type: enum gchint_stream_type
 * @own: that thread is the caller
 * @word: its phase and flags, for GCHINT_STREAM_PHASE
 * @d: what else is known of the phase, or NULL
 * @role: for GCHINT_STREAM_ATTACH and _ROLE
 *
 * Async-signal-safe; never waits.
 */
void stream_put(struct gchint_session *s, const struct record *r, unsigned int type, int own,
		uint32_t word, const struct gchint_detail *d, unsigned int role);

/**
 * stream_sample() - what a thread says of itself at a sample
 * @s: the session
 * @tid: the caller
 * @word: its phase and flags
 * @method: what it runs
 *
 * Async-signal-safe; never waits.
 */
void stream_sample(struct gchint_session *s, pid_t tid, uint32_t word, uintptr_t method);

#endif /* GCHINT_LIB_STREAM_H */
