/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long CPUs were in idle states, between two instants of a recording. */
#ifndef GCHINTCTL_ASLEEP_H
#define GCHINTCTL_ASLEEP_H

#include "run.h"

struct asleep;

/* NULL without memory; asleep_free() takes NULL. */
struct asleep *asleep_of(sqlite3 *db);
void asleep_free(struct asleep *a);

/*
 * ns of [@t0, @t1) in any idle state, below 0 not known. The states are read once a
 * period: between two changes of them it is taken to have been even.
 */
double asleep_ns(const struct asleep *a, uint32_t cpu, uint64_t t0, uint64_t t1);

#endif
