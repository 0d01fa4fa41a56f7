/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How often cpufreq gets new limits, by its tracepoint, whatever they are. */
#ifndef BOUNDS_H
#define BOUNDS_H

/* Count from now on: 0 or -errno. */
int bounds_watch(void);
void bounds_stop(void);

/* Number since then, also while counting; -1 unknown. */
int bounds_seen(void);

/* Number within the next @us microseconds; -1 unknown. */
int bounds_changes(long us);

#endif
