/* SPDX-License-Identifier: GPL-2.0-only */
/* Events, and the ring through which they go to netlink. */
#ifndef _GCHINT_EVENT_H
#define _GCHINT_EVENT_H

#include <linux/gchint.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/* Where a hint came from; ids are those of the initial pid namespace. */
struct gchint_hint_origin {
	u64 session;	/* 0: no hint */
	pid_t tgid;
	pid_t tid;
	u32 slot;
	u8 flags;	/* GCHINT_F_* */
};

/*
 * An event. @time is CLOCK_MONOTONIC in ns, @type an enum gchint_event that
 * selects the member of the union. @session, @tgid, @tid and @slot are as in
 * struct gchint_hint_origin.
 */
struct gchint_event_data {
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

/* The consumer of the ring. */
struct gchint_ring_reader {
	/* Is there a listener for events? Called in any context. */
	bool (*listens)(void);
	/* Consume all events. May sleep; calls do not overlap. */
	void (*drain)(void);
};

int gchint_ring_init(void);
void gchint_ring_exit(void);
void gchint_ring_put(const struct gchint_event_data *record);
void gchint_ring_set_reader(const struct gchint_ring_reader *reader);
bool gchint_ring_has_listener(void);
bool gchint_ring_get(struct gchint_event_data *record);
u64 gchint_ring_lost(void);

void gchint_event_set_listener(void (*changed)(u32 phases));

bool gchint_event_recording(void);
void gchint_event_set_netlink_phases(u32 phases);
int gchint_event_trace_on(void);
void gchint_event_trace_off(void);

void gchint_event_emit(const struct gchint_event_data *record);
void gchint_event_count_ignored(u32 what);
u64 gchint_event_read_ignored(unsigned int what);

DECLARE_TRACEPOINT(gchint_phase);
DECLARE_TRACEPOINT(gchint_decision);
DECLARE_TRACEPOINT(gchint_lease);

/*
 * Is there a listener for events of @type: phase, decision or lease? Asked before a
 * record is filled, because usually there is none.
 */
#define gchint_event_wanted(type) \
	(tracepoint_enabled(gchint_##type) || gchint_ring_has_listener())

#endif /* _GCHINT_EVENT_H */
