/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a recording were called, and when. */
#ifndef GCHINTCTL_THREADS_H
#define GCHINTCTL_THREADS_H

#include "run.h"

struct threads;

/* NULL without memory, which is told; threads_free() takes NULL. */
struct threads *threads_of(const struct run *run);
void threads_free(struct threads *t);

/*
 * A thread's name as it was at @t, else the first that it had later; NULL if none is
 * recorded. Numbers come again: another thread may have had them before.
 */
const char *threads_name(const struct threads *threads, int64_t tgid, int64_t tid, uint64_t t);

#endif
