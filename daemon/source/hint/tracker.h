/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns kernel events into records: phase edges of a slot into phases with a begin and an
 * end, threads into named processes. Tracks which threads are hinted now, for the sched and
 * perf sources.
 */
#ifndef SOURCE_TRACKER_H
#define SOURCE_TRACKER_H

#include <stdint.h>

#include "../../common/message.h"

/* Set in session numbers of events that come from a program's ring, not from the kernel. */
#define TRACKER_LIBRARY (1ull << 62)

struct source_context;
struct tracker;

struct tracker *tracker_new(struct source_context *context);
void tracker_free(struct tracker *t);

/* Names a process that can give hints, whether or not it ever does. */
void tracker_process(struct tracker *t, int32_t tgid, uint64_t session, uint64_t now);
/* Names a thread, from @now on, as the writer of its ring does. */
void tracker_name(struct tracker *t, int32_t tgid, int32_t tid, uint64_t session, uint64_t now,
		  const char *name);
void tracker_event(struct tracker *t, const struct message_event *e);
/* Events were lost: phases that are open now are recorded as uncertain. */
void tracker_gap(struct tracker *t);
/* The module was unloaded: every open phase ends here. */
void tracker_module_gone(struct tracker *t, uint64_t now);

/* What a listener hears of. */
enum tracker_news {
	TRACKER_THREAD_SEEN, /* a thread has a lease, or another one than before */
	TRACKER_PHASE_ENDED,
	TRACKER_LEASE_ENDED, /* the thread may have ended, too */
};

/* Called with what happens to leased threads, when the tracker hears of it. */
typedef void (*tracker_fn)(void *data, int32_t tgid, int32_t tid, enum tracker_news news);
#define TRACKER_LISTENERS 2 /* the sources of accounts and of idle states */
void tracker_listen(struct tracker *t, tracker_fn fn, void *data);
/* Ends tracker_listen() with the same @data. */
void tracker_unlisten(struct tracker *t, const void *data);

/* Calls @fn for each leased thread. */
void tracker_threads(struct tracker *t, void (*fn)(void *data, int32_t tgid, int32_t tid),
		     void *data);
/* Leased slots and slots in a phase, now. */
void tracker_count(const struct tracker *t, unsigned int *slots, unsigned int *in_phase);

#endif
