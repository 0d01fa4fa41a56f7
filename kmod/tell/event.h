/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened, on its way to those who watch. */
#ifndef _GCHINT_EVENT_H
#define _GCHINT_EVENT_H

#include <linux/gchint.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

#include "ring.h"

/**
 * struct gchint_who - whose hint it is
 * @session: number of the session, 0 if no hint is behind it
 * @tgid: process, in the initial pid namespace
 * @tid: thread, likewise
 * @slot: its slot
 * @flags: GCHINT_F_*
 */
struct gchint_who {
	u64 session;
	pid_t tgid;
	pid_t tid;
	u32 slot;
	u8 flags;
};

/**
 * struct gchint_record - one event
 * @time: CLOCK_MONOTONIC ns
 * @session: number of the session, 0 if no hint is behind it
 * @type: enum gchint_event
 * @cpu: where
 * @tgid: process, in the initial pid namespace
 * @tid: thread, likewise
 * @slot: its slot
 * @phase: of GCHINT_EVENT_PHASE
 * @decision: of GCHINT_EVENT_DECISION
 * @lease: of GCHINT_EVENT_LEASE
 */
struct gchint_record {
	u64 time;
	u64 session;
	u32 type;
	u32 cpu;
	pid_t tgid;
	pid_t tid;
	u32 slot;
	union {
		struct {
			u8 phase;
			u8 flags;
			u8 cause;
			u32 seq;
			u64 work_done;
			u64 work_total;
			u64 stall_ns;
			u64 method;
		} phase;
		struct {
			u8 reason;
			u8 phase;
			u8 flags;
			u8 mode;
			u32 policy;
			u32 khz_from;
			u32 khz;
			u32 raw_khz;
			u32 min_khz;
			u32 max_khz;
			u32 load;
			u64 latency;
		} decision;
		struct {
			u8 role;
			u8 what;
		} lease;
	};
};

void gchint_event_init(void (*wished)(u32 phases));
void gchint_event_exit(void);

bool gchint_event_recording(void);
void gchint_event_record(u32 phases);
int gchint_event_trace_on(void);
void gchint_event_trace_off(void);

void gchint_event_tell(const struct gchint_record *record);
void gchint_event_ignored(u32 what);
u64 gchint_event_ignored_count(unsigned int what);

DECLARE_TRACEPOINT(gchint_phase);
DECLARE_TRACEPOINT(gchint_decision);
DECLARE_TRACEPOINT(gchint_lease);

/*
 * Does anybody want to know? Each edge of a phase and each decision asks, and
 * usually nobody does.
 */
static inline bool gchint_event_wants_phase(void)
{
	return tracepoint_enabled(gchint_phase) || gchint_ring_listened();
}

static inline bool gchint_event_wants_decision(void)
{
	return tracepoint_enabled(gchint_decision) || gchint_ring_listened();
}

static inline bool gchint_event_wants_lease(void)
{
	return tracepoint_enabled(gchint_lease) || gchint_ring_listened();
}

#endif /* _GCHINT_EVENT_H */
