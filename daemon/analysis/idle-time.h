/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long CPUs were in idle states, between two instants of a recording. */
#ifndef ANALYSIS_IDLE_TIME_H
#define ANALYSIS_IDLE_TIME_H

#include "../recording/reader/recording.h"

struct asleep;

/* NULL without memory; asleep_free() takes NULL. */
struct asleep *asleep_of(sqlite3 *db);
void asleep_free(struct asleep *a);

/*
 * ns of [@t0, @t1) that the CPU spent in any idle state, below 0 if unknown. The states are read
 * once a period: idle time between two readings is assumed to be spread evenly.
 */
double asleep_ns(const struct asleep *a, uint32_t cpu, uint64_t t0, uint64_t t1);

/* A time between two readings, not cut to what was asked for, of which @idle_ns were idle. */
typedef void (*asleep_window_fn)(void *data, uint64_t t0, uint64_t t1, double idle_ns);

/*
 * Calls @fn for each time between two readings that overlaps [@t0, @t1). Returns false if they do
 * not cover all of it.
 */
bool asleep_windows(const struct asleep *a, uint32_t cpu, uint64_t t0, uint64_t t1,
		    asleep_window_fn fn, void *data);

/* Mean distance of two readings of a CPU in ns; 0 without readings. */
uint64_t asleep_period(const struct asleep *a);

#endif
