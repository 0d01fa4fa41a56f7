/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How often cpufreq is given other limits, by its tracepoint, whatever they are. */
#ifndef BOUNDS_H
#define BOUNDS_H

/* From now on, and nothing from before: 0 or -errno. */
int bounds_watch(void);
void bounds_stop(void);

/* How often since then, also while it is watched; -1 not known. */
int bounds_seen(void);

/* How often in so many us from now; -1 not known. */
int bounds_changes(long us);

#endif
