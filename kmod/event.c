// SPDX-License-Identifier: GPL-2.0-only
/*
 * Called from the scheduler's context: a tracepoint, and a place in the ring
 * if a netlink listener is there to read it.
 */
#include <linux/cpufreq.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "event.h"
#include "info.h"
#include "lease.h"
#include "netlink.h"
#include "policy.h"
#include "probe.h"
#include "ring.h"
#include "watch.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static DEFINE_RAW_SPINLOCK(wishes_lock);
/* Phases that netlink sockets, or somebody who traces, asked to record. */
static u32 netlink_wish;
static u32 trace_wish;
/* The tracing core disables a module's tracepoints after the module's exit. */
static bool alive;

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
	if (alive) {
		gchint_info_recorded(netlink_wish | trace_wish);
		gchint_probe_changed();
	}
	raw_spin_unlock_irqrestore(&wishes_lock, flags);
}

static void set_alive(bool value)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&wishes_lock, flags);
	alive = value;
	raw_spin_unlock_irqrestore(&wishes_lock, flags);
}

void gchint_event_init(void)
{
	set_alive(true);
}

void gchint_event_exit(void)
{
	set_alive(false);
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

/*
 * With interrupts off from the reading of the clock on, the events of a CPU
 * are in the order of their times.
 */
static void put(const struct gchint_record *record)
{
	if (gchint_netlink_listens())
		gchint_ring_put(record);
}

static void set_thread(struct gchint_record *record,
		       const struct gchint_thread *thread)
{
	record->session = thread->session->id;
	record->tgid = thread->session->tgid_nr;
	record->tid = thread->tid;
	record->slot = thread->slot;
}

/**
 * gchint_event_tell_phase - gchint_event_phase(), for somebody who watches
 * @thread: whose
 * @snapshot: the slot
 * @cpu: where it runs, or who saw it
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_event_tell_phase(const struct gchint_thread *thread,
			     const struct gchint_snapshot *snapshot,
			     unsigned int cpu, u64 now)
{
	struct gchint_record record = {
		.type = GCHINT_EVENT_PHASE,
		.time = now,
		.cpu = cpu,
		.phase = {
			.phase = snapshot->phase,
			.flags = snapshot->flags,
			.cause = snapshot->cause,
			.seq = snapshot->state >> GCHINT_STATE_SEQ_SHIFT,
			.work_done = snapshot->work_done,
			.work_total = snapshot->work_total,
			.stall_ns = snapshot->stall_ns,
			.method = snapshot->method,
		},
	};

	set_thread(&record, thread);
	trace_gchint_phase(&record);
	put(&record);
}

/*
 * Apart, because a record is large: inlined, each decision would clear the
 * stack for it, although nearly always nobody watches.
 */
static noinline void tell_decision(const struct gchint_policy *policy,
				   const struct gchint_request *request,
				   u32 khz_from, u64 latency, u64 now)
{
	const struct gchint_decision *d = &request->decision;
	struct gchint_record record = {
		.type = GCHINT_EVENT_DECISION,
		.time = now,
		.cpu = d->cpu,
		.session = request->who.session,
		.tgid = request->who.tgid,
		.tid = request->who.tid,
		.slot = request->who.slot,
		.decision = {
			.reason = d->reason,
			.phase = d->phase,
			.flags = request->who.flags,
			.mode = policy->rules.tun->mode,
			.policy = cpumask_first(policy->policy->related_cpus),
			.khz_from = khz_from,
			.khz = d->khz,
			.raw_khz = d->raw_khz,
			.min_khz = policy->rules.min_khz,
			.max_khz = policy->rules.max_khz,
			.load = d->load,
			.latency = latency,
		},
	};

	trace_gchint_decision(&record);
	put(&record);
}

/**
 * gchint_event_decision - another frequency is asked for
 * @policy: for which policy, locked
 * @request: what is asked
 * @khz_from: the frequency before
 * @latency: ns from hint to request, 0 no hint
 * @now: CLOCK_MONOTONIC ns
 */
void gchint_event_decision(const struct gchint_policy *policy,
			   const struct gchint_request *request, u32 khz_from,
			   u64 latency, u64 now)
{
	if (trace_gchint_decision_enabled() || gchint_netlink_listens())
		tell_decision(policy, request, khz_from, latency, now);
}

/**
 * gchint_event_lease - a lease began, changed or ended
 * @thread: whose
 * @what: enum gchint_lease
 *
 * Any context; under RCU if the lease may end meanwhile.
 */
void gchint_event_lease(const struct gchint_thread *thread,
			enum gchint_lease what)
{
	struct gchint_record record = {
		.type = GCHINT_EVENT_LEASE,
		.lease = {
			.role = READ_ONCE(thread->role),
			.what = what,
		},
	};
	unsigned long flags;

	if (!trace_gchint_lease_enabled() && !gchint_netlink_listens())
		return;
	set_thread(&record, thread);
	local_irq_save(flags);
	record.time = gchint_now();
	record.cpu = smp_processor_id();
	trace_gchint_lease(&record);
	put(&record);
	local_irq_restore(flags);
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
u64 gchint_event_ignored_count(enum gchint_ignored what)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(ignored[what], cpu);
	return sum;
}
