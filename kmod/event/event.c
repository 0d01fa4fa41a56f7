// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events go to the tracepoints and, while a netlink socket listens, into the
 * ring. All of this may be called in the scheduler's context.
 */
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "event.h"
#include "model/snapshot.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define EVENT_ALL_PHASES GENMASK(GCHINT_PHASE_NR - 1, 1)

/* Serialises changes of the recorded phases and their notification. */
static DEFINE_RAW_SPINLOCK(event_phases_lock);
static u32 event_netlink_phases;
static u32 event_trace_phases;
/*
 * NULL once the module exits: the tracing core disables a module's tracepoints
 * only after its exit function, when the rest of the module is shut down.
 */
static void (*event_phases_changed)(u32 phases);

static DEFINE_PER_CPU(unsigned long[GCHINT_IGNORED_NR], event_ignored);

/* Is any phase recorded, by a netlink socket or by a tracer? */
bool gchint_event_recording(void)
{
	return READ_ONCE(event_netlink_phases) | READ_ONCE(event_trace_phases);
}

static void event_set_phases(u32 *recorded, u32 phases)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&event_phases_lock, flags);
	WRITE_ONCE(*recorded, phases);
	if (event_phases_changed)
		event_phases_changed(event_netlink_phases | event_trace_phases);
	raw_spin_unlock_irqrestore(&event_phases_lock, flags);
}

/*
 * From now on @changed is called, unless NULL, with interrupts off, whenever the
 * set of recorded phases changes; its argument is the whole set.
 */
void gchint_event_set_listener(void (*changed)(u32 phases))
{
	unsigned long flags;

	raw_spin_lock_irqsave(&event_phases_lock, flags);
	event_phases_changed = changed;
	raw_spin_unlock_irqrestore(&event_phases_lock, flags);
}

/* Set the phases that netlink sockets record: bit n for phase n. */
void gchint_event_set_netlink_phases(u32 phases)
{
	event_set_phases(&event_netlink_phases, phases & EVENT_ALL_PHASES);
}

/*
 * Called when the first user enables the tracepoint gchint_phase. The tracing
 * core holds its lock, so no other probe may be registered from here.
 */
int gchint_event_trace_on(void)
{
	event_set_phases(&event_trace_phases, EVENT_ALL_PHASES);
	return 0;
}

void gchint_event_trace_off(void)
{
	event_set_phases(&event_trace_phases, 0);
}

static void event_trace_phase(const struct gchint_event_data *r)
{
	trace_gchint_phase(r->session, r->tgid, r->tid, r->slot,
			   r->phase.phase, r->phase.flags, r->phase.cause,
			   r->phase.seq, r->phase.work_done,
			   r->phase.work_total, r->phase.stall_ns,
			   r->phase.method);
}

static void event_trace_decision(const struct gchint_event_data *r)
{
	u32 how = r->decision.reason | r->decision.phase << 8 |
		  r->decision.flags << 16 | (u32)r->decision.mode << 24;

	trace_gchint_decision(r->decision.policy, r->cpu, r->decision.khz,
			      r->decision.khz_from, r->decision.load, r->tid,
			      r->decision.raw_khz, r->decision.min_khz,
			      r->decision.max_khz, r->decision.latency, how);
}

/**
 * gchint_event_emit - emit an event to the tracepoints and to the ring
 * @record: the event, which is copied
 *
 * Interrupts are off, and have been since @record's time was read: this keeps
 * the events of a CPU in the order of their times.
 */
void gchint_event_emit(const struct gchint_event_data *record)
{
	switch (record->type) {
	case GCHINT_EVENT_PHASE:
		event_trace_phase(record);
		break;
	case GCHINT_EVENT_DECISION:
		event_trace_decision(record);
		break;
	case GCHINT_EVENT_LEASE:
		trace_gchint_lease(record->session, record->tgid, record->tid,
				   record->slot, record->lease.role,
				   record->lease.what);
		break;
	}
	if (gchint_ring_has_listener())
		gchint_ring_put(record);
}

/*
 * Count what was ignored in a slot: bit n for enum gchint_ignored n.
 * Interrupts are off.
 */
void gchint_event_count_ignored(u32 what)
{
	unsigned int i;

	for (i = 0; i < GCHINT_IGNORED_NR; i++)
		if (what & BIT(i))
			__this_cpu_inc(event_ignored[i]);
}

/* How often one enum gchint_ignored was counted since the module's start. */
u64 gchint_event_read_ignored(unsigned int what)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(event_ignored[what], cpu);
	return sum;
}
