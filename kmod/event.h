/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened, on its way to those who watch. */
#ifndef _GCHINT_EVENT_H
#define _GCHINT_EVENT_H

#include <linux/gchint.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

#include "decide.h"
#include "netlink.h"
#include "snapshot.h"

struct gchint_policy;
struct gchint_thread;

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
 * struct gchint_request - a frequency on its way to the driver
 * @decision: what was decided
 * @who: whose hint decided
 */
struct gchint_request {
	struct gchint_decision decision;
	struct gchint_who who;
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

void gchint_event_init(void);
void gchint_event_exit(void);

bool gchint_event_recording(void);
void gchint_event_record(u32 phases);
int gchint_event_trace_on(void);
void gchint_event_trace_off(void);

void gchint_event_tell_phase(const struct gchint_thread *thread,
			     const struct gchint_snapshot *snapshot,
			     unsigned int cpu, u64 now);
void gchint_event_decision(const struct gchint_policy *policy,
			   const struct gchint_request *request, u32 khz_from,
			   u64 latency, u64 now);
void gchint_event_lease(const struct gchint_thread *thread,
			enum gchint_lease what);
void gchint_event_ignored(u32 what);
u64 gchint_event_ignored_count(enum gchint_ignored what);

DECLARE_TRACEPOINT(gchint_phase);

/**
 * gchint_event_phase - the phase in a slot has changed
 * @thread: whose
 * @snapshot: the slot
 * @cpu: where it runs, or who saw it
 * @now: CLOCK_MONOTONIC ns
 *
 * Irqs off. Each edge of a phase comes by, and usually nobody wants to know.
 */
static inline void gchint_event_phase(const struct gchint_thread *thread,
				      const struct gchint_snapshot *snapshot,
				      unsigned int cpu, u64 now)
{
	if (tracepoint_enabled(gchint_phase) || gchint_netlink_listens())
		gchint_event_tell_phase(thread, snapshot, cpu, now);
}

#endif /* _GCHINT_EVENT_H */
