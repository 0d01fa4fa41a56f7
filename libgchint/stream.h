/* SPDX-License-Identifier: MIT */
/* GCHINT_STREAM: hints to a recorder, through a ring in memory. <gchint-stream.h> */
#ifndef GCHINT_LIB_STREAM_H
#define GCHINT_LIB_STREAM_H

#include <gchint-stream.h>

#include "page.h"

/**
 * stream_open() - make a ring and send it to a recorder
 * @s: the session
 * @path: the recorder's socket
 * @answered: threads answer samples
 * @method: the value of gchint_stream.method; 0 if there is none
 *
 * Return: 0 or -errno.
 */
int stream_open(struct gchint_session *s, const char *path, int answered, long long method);

/**
 * stream_close() - stop using the ring
 * @s: the session
 * @mapped: leave it in the address space, for threads that may be storing into it
 */
void stream_close(struct gchint_session *s, int mapped);

static inline int stream_is_open(const struct gchint_session *s)
{
	return load_relaxed(&s->stream) != NULL;
}

/**
 * stream_put() - send an event to the recorder, or count it as lost
 * @s: the session
 * @r: the record of the thread it is about
 * @type: enum gchint_stream_type
 * @own: that thread is the caller
 * @word: its phase and flags, for GCHINT_STREAM_PHASE
 * @d: details of the phase, or NULL
 * @role: for GCHINT_STREAM_ATTACH and _ROLE
 *
 * Async-signal-safe; never waits.
 */
void stream_put(struct gchint_session *s, const struct record *r, unsigned int type, int own,
		uint32_t word, const struct gchint_detail *d, unsigned int role);

/**
 * stream_sample() - answer a sample of the calling thread
 * @s: the session
 * @tid: the caller
 * @word: its phase and flags
 * @method: the method that it runs
 * @ip: if a timer took the sample, the instruction; else 0
 * @missed: samples before it that the thread could not take
 *
 * Async-signal-safe; never waits.
 */
void stream_sample(struct gchint_session *s, pid_t tid, uint32_t word, uintptr_t method,
		   uintptr_t ip, unsigned int missed);

/** stream_set_runtime() - the name of the runtime, for this ring and later ones; the first counts */
void stream_set_runtime(const struct gchint_session *s, const char *name, size_t length);

/**
 * stream_heap() - send a reading of the heap to the recorder
 * @s: the session
 * @r: the record of the thread that collects
 * @h: the reading
 *
 * Async-signal-safe; never waits.
 */
void stream_heap(struct gchint_session *s, const struct record *r, const struct gchint_heap *h);

/**
 * stream_word() - send the address of a thread's state word, for a recorder that polls it
 * @s: the session
 * @r: the thread's record, of any backend
 * @there: 0 if the record is about to be released
 *
 * Async-signal-safe; never waits.
 */
void stream_word(struct gchint_session *s, struct record *r, int there);

/**
 * stream_name() - send lines with names of methods to the recorder
 * @s: the session
 * @text: @length bytes, the last one a line feed
 *
 * Return: whether the recorder has them. Async-signal-safe; never waits.
 */
int stream_name(struct gchint_session *s, const char *text, size_t length);

/**
 * stream_inherit() - send the names of a parent's methods, for a forked child
 * @s: the session of the child
 * @parent: the parent's ring, which is still mapped here if it has names; or NULL
 */
void stream_inherit(struct gchint_session *s, const struct gchint_stream *parent);

#endif /* GCHINT_LIB_STREAM_H */
