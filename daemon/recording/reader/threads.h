/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the threads of a recording over time. */
#ifndef RECORDING_READER_THREADS_H
#define RECORDING_READER_THREADS_H

#include "recording.h"

struct threads;

/* Prints an error and returns NULL without memory; threads_free() accepts NULL. */
struct threads *threads_of(const struct recording *rec);
void threads_free(struct threads *t);

/*
 * A thread's name at @t, else the first name that it had later; NULL if none is recorded.
 * Thread numbers are reused, so the name depends on the time.
 */
const char *threads_name(const struct threads *threads, int64_t tgid, int64_t tid, uint64_t t);

#endif
