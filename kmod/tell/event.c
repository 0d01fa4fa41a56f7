// SPDX-License-Identifier: GPL-2.0-only
/*
 * Called from the scheduler's context: a tracepoint, and a place in the ring
 * if somebody is there to read it.
 */
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "event.h"
#include "policy/snapshot.h"
#include "ring.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static DEFINE_RAW_SPINLOCK(wishes_lock);
/* Phases that netlink sockets, or somebody who traces, asked to record. */
static u32 netlink_wish;
static u32 trace_wish;
/*
 * Who hears of that; under wishes_lock. The tracing core disables a module's
 * tracepoints after the module's exit, when nobody is there any more.
 */
static void (*told)(u32 phases);

/* What was ignored, and how often. */
static DEFINE_PER_CPU(unsigned long[GCHINT_IGNORED_NR], ignored);

#define ALL_PHASES GENMASK(GCHINT_PHASE_NR - 1, 1)

/**
 * gchint_event_recording - does anybody record phases?
 *
 * Return: whether somebody does.
 */
bool gchint_event_recording(void)
{
	return READ_ONCE(netlink_wish) | READ_ONCE(trace_wish);
}

static void wish(u32 *which, u32 phases)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&wishes_lock, flags);
	WRITE_ONCE(*which, phases);
	if (told)
		told(netlink_wish | trace_wish);
	raw_spin_unlock_irqrestore(&wishes_lock, flags);
}

static void set_told(void (*wished)(u32 phases))
{
	unsigned long flags;

	raw_spin_lock_irqsave(&wishes_lock, flags);
	told = wished;
	raw_spin_unlock_irqrestore(&wishes_lock, flags);
}

/**
 * gchint_event_init - events may be wished for from now on
 * @wished: called with all phases that somebody records, irqs off
 */
void gchint_event_init(void (*wished)(u32 phases))
{
	set_told(wished);
}

void gchint_event_exit(void)
{
	set_told(NULL);
}

/**
 * gchint_event_record - netlink listeners want these phases
 * @phases: bit n for phase n
 */
void gchint_event_record(u32 phases)
{
	wish(&netlink_wish, phases & ALL_PHASES);
}

/**
 * gchint_event_trace_on - the tracepoint gchint_phase has been enabled
 *
 * The tracepoints' lock is held: nothing may be registered from here.
 *
 * Return: 0
 */
int gchint_event_trace_on(void)
{
	wish(&trace_wish, ALL_PHASES);
	return 0;
}

/**
 * gchint_event_trace_off - ... and disabled by the last who traced
 */
void gchint_event_trace_off(void)
{
	wish(&trace_wish, 0);
}

static void trace_phase(const struct gchint_record *r)
{
	trace_gchint_phase(r->session, r->tgid, r->tid, r->slot, r->phase.phase, r->phase.flags,
			   r->phase.cause, r->phase.seq, r->phase.work_done, r->phase.work_total,
			   r->phase.stall_ns, r->phase.method);
}

static void trace_decision(const struct gchint_record *r)
{
	u32 how = r->decision.reason | r->decision.phase << 8 | r->decision.flags << 16 |
		  (u32)r->decision.mode << 24;

	trace_gchint_decision(r->decision.policy, r->cpu, r->decision.khz, r->decision.khz_from,
			      r->decision.load, r->tid, r->decision.raw_khz, r->decision.min_khz,
			      r->decision.max_khz, r->decision.latency, how);
}

static void trace_lease(const struct gchint_record *r)
{
	trace_gchint_lease(r->session, r->tgid, r->tid, r->slot, r->lease.role, r->lease.what);
}

/**
 * gchint_event_tell - tell of an event
 * @record: the event
 *
 * Irqs off, and the clock was read with them off: so the events of a CPU are in
 * the order of their times.
 */
void gchint_event_tell(const struct gchint_record *record)
{
	switch (record->type) {
	case GCHINT_EVENT_PHASE:
		trace_phase(record);
		break;
	case GCHINT_EVENT_DECISION:
		trace_decision(record);
		break;
	case GCHINT_EVENT_LEASE:
		trace_lease(record);
		break;
	}
	if (gchint_ring_listened())
		gchint_ring_put(record);
}

/**
 * gchint_event_ignored - something in a slot was not taken
 * @what: bit n for enum gchint_ignored n
 *
 * Irqs off.
 */
void gchint_event_ignored(u32 what)
{
	unsigned int i;

	for (i = 0; i < GCHINT_IGNORED_NR; i++)
		if (what & BIT(i))
			__this_cpu_inc(ignored[i]);
}

/**
 * gchint_event_ignored_count - how often that was
 * @what: enum gchint_ignored
 *
 * Return: since the module was loaded.
 */
u64 gchint_event_ignored_count(unsigned int what)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(ignored[what], cpu);
	return sum;
}
