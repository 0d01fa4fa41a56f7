/* SPDX-License-Identifier: MIT */
/* The cycle under way, the right to run one, and when the next one is due */
#ifndef GC_HEAP_CYCLE_H
#define GC_HEAP_CYCLE_H

#include <gchint/gc-listener.h>
#include <pthread.h>

#include "../policy/cycle-control.h"
#include "../policy/generation.h"
#include "../policy/overhead.h"
#include "../policy/rate.h"
#include "pace.h"

struct gc_thread;

/* struct gc_cycle - one collection under way */
struct gc_cycle {
	uint64_t number;
	enum gc_cause cause;
	enum gc_kind kind;
	bool foreground; /* run by a mutator that waits for it */
	bool daemon; /* run by the daemon */
	bool alone; /* policy=adaptive has the world stopped for it */
	bool full; /* collect the whole heap, regardless of the plan's choice */
	struct gc_thread *self; /* the mutator that runs it, NULL the daemon */
	enum gc_phase phase;
	uint64_t begin_ns, stop_ns, phase_ns, usable_ns, usable_cpu_ns;
	uint64_t done, total, next_progress;
	uint64_t stw_begin_done;
	bool stw;
	uint64_t marked_bytes, marked_objects;
	uint64_t live_bytes; /* what the sizing rule counts as live; set by the plan */
	bool exact; /* a major cycle with the world stopped: marked means reachable */
};

/* The right to collect: one thread at a time runs a cycle. */
struct gc_control {
	pthread_mutex_t lock;
	pthread_cond_t done; /* a cycle ended */
	pthread_cond_t order; /* the daemon has work */
	struct gc_cycle_control control;
	uint32_t waiting; /* mutators that wait for a cycle; also read without the lock */
	bool quit, next_major;
	bool daemon_up; /* read by gc_daemon_up() */
	bool daemon_lost; /* in a forked child, until its next cycle */
	uint64_t active; /* each change restarts the idle timer */
	bool daemon_on; /* policy=adaptive switches it */
	pthread_t daemon;
};

/* Bytes in use, and how many may be */
struct gc_budget {
	/* All threads write these two, so they are on a cache line of their own. */
	uint64_t in_use __attribute__((aligned(64))); /* bytes allocated, garbage included */
	uint64_t granted; /* total bytes granted to mutators, without returned ones */
	uint64_t soft_limit __attribute__((aligned(64))), concurrent_start;
	uint64_t most; /* bytes that the heap may hold: max=, or less by limit= */
	uint64_t live_bytes, live_objects;
	/* free bytes in dense blocks, which are not allocated from in a roomy heap */
	uint64_t passed_over;
	uint64_t stress_next, profile_next; /* values of granted */
	struct gc_rate rate;
	struct gc_overhead overhead; /* protected by gc.lock */
	uint64_t full_at; /* value of granted when an allocation failed because the heap was full */
	uint64_t full_cycle; /* number of the last full collection for want of memory */
	struct gc_pace pace;
	uint64_t external; /* bytes that gc_external_add() counted */
	/* The same at the end of the last collection, and of the last one of the whole heap */
	uint64_t external_last, external_major;
};

struct gc_adapt; /* cycle/adapt.c */
struct gc_limit; /* cycle/limit.c */

/* What the sizes of the heap after the next cycles are derived from */
struct gc_sizing {
	/* Expected CPU time of the next cycle until its memory is usable */
	uint64_t cycle_ns;
	uint64_t cycle_ns_of[2]; /* by enum gc_kind */
	uint64_t marked_of[2]; /* bytes that the last cycle of each enum gc_kind marked */
	double mb_alloc_rate, mb_gc_rate; /* MemBalancer's smoothed rates */
	double major_soft, major_room; /* soft limit and room after the last major collection */
	struct gc_generation generation;
	int (*frequency)(uint32_t *effective, uint32_t *highest, void *arg);
	void *frequency_arg;
	struct gc_adapt *adapt;
	struct gc_limit *limit; /* NULL: max= is the only one */
};

#endif
