/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a workload is
 *
 * A workload reads its settings, registers its types, and runs on one or more threads
 * of the heap. It is deterministic: what it allocates and links depends on its settings
 * alone, never on time or on the order of threads.
 *
 * To add one: write workloads/NAME.c with a struct workload workload_NAME, and add its
 * line to workloads/workloads.list.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "heap/heap.h"
#include "lib/latency.h"
#include "lib/settings.h"

#include <gchint.h>

#include <stdatomic.h>

#define WORKLOAD_THREADS_MAX 128

/**
 * struct bench - one run of a workload
 * @heap: the heap, made before prepare()
 * @threads: set by prepare(): how many threads call run()
 * @state: the workload's own, from prepare(); freed by the runner, also after a failed run
 * @allocated_bytes, @allocated_objects: added to by the workload, at the end of each
 *	thread; sizes as the workload's profile counts them
 * @steps_total, @steps_done: progress in steps of the workload's choice
 * @checksum: what the run computed; equal settings give an equal sum
 * @requests, @request_count: filled by a workload that serves requests, else NULL;
 *	freed by the runner
 * @deadline_ns: a request that takes longer is missed; 0: there is none
 */
struct bench {
	struct bench_heap *heap;
	struct settings settings;
	int threads;
	void *state;
	atomic_uint_least64_t allocated_bytes, allocated_objects;
	uint64_t steps_total;
	atomic_uint_least64_t steps_done;
	atomic_uint_least64_t checksum;
	struct request *requests;
	size_t request_count;
	int64_t deadline_ns;
};

/**
 * struct workload - the table of one workload
 * @name: on the command line
 * @summary: one line
 * @stresses: what it stresses, one line
 * @settings: known keys with defaults
 * @prepare: check settings, register types; 0 or negative errno with @err
 * @run: on thread @index of bench->threads, attached as @t; 0, -ENOMEM (heap full),
 *	 -EILSEQ (the heap returned something that was not stored: a collector's bug)
 */
struct workload {
	const char *name, *summary, *stresses;
	const struct setting *settings;
	int (*prepare)(struct bench *b, struct settings_error *err);
	int (*run)(struct bench *b, struct heap_thread *t, int index);
};

/** workload_threads() - the setting "threads": 0 is the number of CPUs. */
int workload_threads(struct bench *b, struct settings_error *err);
/** workload_type() - heap_register() with an error line. */
const struct heap_type *workload_type(struct bench *b, const struct heap_kind *kind,
				      struct settings_error *err);

/**
 * workload_method() - the argument for gchint_method_enter() of a function with a loop
 *
 * Called by prepare(), when the heap has opened its session. 0, which is no method, unless
 * a recorder samples this process. Not for functions of a few instructions.
 */
uintptr_t workload_method(const char *name);

/** struct totals - a thread's own counts, added to the bench once at its end */
struct totals {
	uint64_t bytes, objects, checksum;
};

static inline void totals_add(struct totals *t, uint64_t bytes)
{
	t->bytes += bytes;
	t->objects++;
}

void totals_merge(const struct totals *t, struct bench *b);

static inline void bench_step(struct bench *b)
{
	atomic_fetch_add_explicit(&b->steps_done, 1, memory_order_relaxed);
}

#endif
