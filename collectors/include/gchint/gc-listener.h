/* SPDX-License-Identifier: MIT */
/**
 * DOC: Phase listener of the bundled collectors
 *
 * A collector announces what it does through this table and knows nothing of its
 * listeners. Any member may be NULL. Events of one cycle come in this order (cms;
 * phases that a plan does not have are left out):
 *
 *   cycle_begin
 *     requesting_stop stopped roots_done restarting restarted
 *     mark_begin (progress)* mark_end                  concurrent
 *     requesting_stop stopped remark_begin remark_end restarting restarted
 *     sweep_begin (progress)* sweep_end                concurrent
 *   cycle_end
 *
 * A stop-the-world cycle has one requesting_stop/restarted pair around its mark,
 * copy or sweep phases. first_stopped fires between requesting_stop and stopped, when a
 * mutator has stopped or parked while another still runs: before it, no mutator waits for
 * the stop. trim_begin and trim_end come alone. All of these fire on the thread that does
 * the work, one at a time for a heap.
 *
 * mutator_paused and mutator_resumed fire on the mutator's own thread, at any time, on many
 * threads at once. So do help_begin and help_end, between the edges of a phase: a mutator
 * that is stopped or waits for the cycle shares the work, as part of its pause.
 * mutator_attached fires before collections wait for the thread, mutator_detached after no
 * collection does any longer: no thread waits for these two.
 *
 * fork() waits for a listener to return, but not from mutator_attached, mutator_detached,
 * daemon_started and daemon_stopped: a lock that one of these takes may be held in the child by a
 * thread that does not exist there.
 *
 * A listener must not allocate from the heap. It should take well under 10 us, except in
 * mutator_attached and mutator_detached.
 */
#ifndef GCHINT_GC_LISTENER_H
#define GCHINT_GC_LISTENER_H

#include <gchint/gc.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** enum gc_phase - the phase in force when the event fired */
enum gc_phase {
	GC_PHASE_IDLE,
	GC_PHASE_STOP, /* waiting for mutators to reach their safepoints */
	GC_PHASE_ROOTS,
	GC_PHASE_MARK,
	GC_PHASE_REMARK,
	GC_PHASE_COPY,
	GC_PHASE_SWEEP,
	GC_PHASE_TRIM,
	GC_PHASE_COUNT
};

/** enum gc_kind - how much of the heap a cycle collects */
enum gc_kind {
	GC_KIND_MINOR,
	GC_KIND_MAJOR,
};

/** enum gc_pause - why a mutator does not run, as the Dalvik seed classes pauses */
enum gc_pause {
	GC_PAUSE_SAFEPOINT, /* stopped on the collector's request */
	GC_PAUSE_FOREGROUND, /* collects in the foreground */
	GC_PAUSE_WAIT, /* waits for a concurrent cycle to finish */
	GC_PAUSE_PACED, /* is ahead of a concurrent cycle and waits for a moment (pace=) */
	GC_PAUSE_COUNT
};

/**
 * struct gc_event - what is known at an edge
 * @time_ns: CLOCK_MONOTONIC
 * @cycle: number of the cycle, from 1; 0 outside a cycle
 * @phase: phase that begins or ends, or is in force
 * @cause: why the cycle runs
 * @kind: minor or major
 * @foreground: a mutator does the work and waits for it
 * @stw: the world is stopped
 * @daemon: fired on the GC daemon's thread
 * @pause: class, for mutator_paused and mutator_resumed
 * @duration_ns: first_stopped, stopped, restarted: time since requesting_stop;
 *		 *_end and mutator_resumed: since the begin; stalled: since
 *		 requesting_stop; else 0
 * @work_done: bytes marked, copied or swept so far in this phase
 * @work_total: estimate of the phase's work in bytes, 0 unknown
 * @headroom: bytes that may be allocated before a mutator waits for the collector: up to
 *	      the soft limit, with policy=bg up to max=, and no more than the space holds
 * @exhaust_ns: instant (CLOCK_MONOTONIC) when the headroom will be gone, at the rate of
 *		the last whole intervals between cycles, pauses subtracted; 0 unknown
 * @heap_bytes: bytes allocated now
 * @mutator: the mutator, for mutator_*, help_* and stalled; else NULL. In mutator_attached and
 *	     mutator_detached only its address may be used
 * @max_bytes: to which the heap may grow; 0 except in cycle_begin and cycle_end
 * @footprint_bytes: pages that the heap holds; 0 except in these
 * @allocated_bytes: allocated since the heap was made; 0 except in these
 */
struct gc_event {
	uint64_t time_ns;
	uint64_t cycle;
	enum gc_phase phase;
	enum gc_cause cause;
	enum gc_kind kind;
	bool foreground;
	bool stw;
	bool daemon;
	enum gc_pause pause;
	uint64_t duration_ns;
	uint64_t work_done;
	uint64_t work_total;
	uint64_t headroom;
	uint64_t exhaust_ns;
	uint64_t heap_bytes;
	const struct gc_mutator *mutator;
	uint64_t max_bytes;
	uint64_t footprint_bytes;
	uint64_t allocated_bytes;
};

typedef void (*gc_listen_fn)(struct gc_listener *self, const struct gc_event *event);

/** struct gc_listener_ops - the table; constant */
struct gc_listener_ops {
	gc_listen_fn cycle_begin, cycle_end;
	gc_listen_fn requesting_stop, stopped, roots_done, restarting, restarted;
	gc_listen_fn mark_begin, mark_end;
	gc_listen_fn remark_begin, remark_end;
	gc_listen_fn copy_begin, copy_end;
	gc_listen_fn sweep_begin, sweep_end;
	gc_listen_fn trim_begin, trim_end;
	gc_listen_fn progress; /* about every 256 KiB of work in a phase */
	gc_listen_fn mutator_attached, mutator_detached; /* on its own thread */
	gc_listen_fn mutator_paused, mutator_resumed;
	gc_listen_fn help_begin, help_end; /* without work, headroom and heap_bytes */
	gc_listen_fn daemon_started, daemon_stopped; /* on the daemon's thread */
	gc_listen_fn stalled; /* stall=: a mutator keeps the collecting thread waiting */
	gc_listen_fn first_stopped; /* a mutator has stopped, another has not */
};

/** struct gc_listener - embed it first in the listener's own state */
struct gc_listener {
	const struct gc_listener_ops *ops;
};

/** gc_listener_null - receives all events and does nothing */
extern struct gc_listener gc_listener_null;

/** struct gc_listener_chain - fires @first, then @second */
struct gc_listener_chain {
	struct gc_listener base;
	struct gc_listener *first, *second;
};
void gc_listener_chain_init(struct gc_listener_chain *chain, struct gc_listener *first,
			    struct gc_listener *second);

#define GC_HIST_BUCKETS 256

/** struct gc_histogram - log-linear: 8 buckets per octave of nanoseconds */
struct gc_histogram {
	uint64_t count, sum_ns, max_ns;
	uint64_t bucket[GC_HIST_BUCKETS];
};
void gc_histogram_add(struct gc_histogram *h, uint64_t ns);
/** gc_histogram_quantile() - upper edge of the bucket of quantile @q (0..1), in ns. */
uint64_t gc_histogram_quantile(const struct gc_histogram *h, double q);

/** struct gc_pause_record - one pause of one mutator, for MMU and MinMU */
struct gc_pause_record {
	uint64_t begin_ns, end_ns;
	const struct gc_mutator *mutator;
	enum gc_pause pause;
};

/**
 * struct gc_listener_stats - counts, times and, when asked, every pause
 * @phase_ns: time in each phase
 * @pause: pauses by class
 * @ttsp: time to safepoint
 * @stw: requesting_stop to restarted
 * @records: pauses in order of their ends, @record_count of at most @record_max;
 *	     @record_lost counts those beyond that
 */
struct gc_listener_stats {
	struct gc_listener base;
	uint64_t cycles[2]; /* by enum gc_kind */
	uint64_t by_cause[GC_CAUSE_COUNT];
	uint64_t trims;
	uint64_t phase_ns[GC_PHASE_COUNT];
	uint64_t phase_count[GC_PHASE_COUNT];
	struct gc_histogram pause[GC_PAUSE_COUNT];
	struct gc_histogram ttsp, stw;
	struct gc_pause_record *records;
	size_t record_count, record_max;
	uint64_t record_lost;
	uint32_t lock;
};
/** gc_listener_stats_init() - keep up to @record_max pauses, which may be 0. 0 or -ENOMEM. */
int gc_listener_stats_init(struct gc_listener_stats *stats, size_t record_max);
void gc_listener_stats_fini(struct gc_listener_stats *stats);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_GC_LISTENER_H */
