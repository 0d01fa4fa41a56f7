/* SPDX-License-Identifier: MIT */
/**
 * DOC: One run of a workload on one heap, and its results
 *
 * run_isolated() runs in a child of its own, so that runs do not share a heap, a cache
 * of pages or a crash. Unknown figures are NAN, or a count with its has_ flag clear.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "heap/heap.h"
#include "lib/settings.h"

#include <stdbool.h>
#include <stdint.h>

#define RUN_PAUSES    4 /* by class: safepoint, foreground, waiting, paced */
#define RUN_CAUSES    6 /* alloc, concurrent, explicit, trim, stress, out of memory */
#define RUN_WINDOWS   10
#define RUN_QUANTILES 3 /* of the MUD: 0.1 %, 1 %, 10 % */

extern const int64_t run_window_ns[RUN_WINDOWS];
extern const double run_mud_quantile[RUN_QUANTILES];
extern const char *const run_pause_name[RUN_PAUSES];
extern const char *const run_cause_name[RUN_CAUSES];

/**
 * struct run_request - what to run
 * @workload: its name
 * @setting: "key=value" strings, in order; @settings of them
 * @profile: path of a profile loaded before them, NULL for none
 * @options: the heap's own options, as its backend reads them
 * @listener: "stats" (all figures; the default), "gchint" (hints to the kernel), "all" (both),
 *	      "null" or "none" (counters only)
 * @hiccup: run a hiccup meter and its idle control alongside the workload
 * @progress: print progress on standard error
 * @timeout_s: kill it after that; 0 never
 */
struct run_request {
	const char *workload;
	const char *const *setting;
	size_t settings;
	const char *profile;
	const char *options;
	const char *listener;
	bool hiccup, progress;
	unsigned int timeout_s;
};

/** struct run_spread - a distribution in ms; NAN if it is empty */
struct run_spread {
	uint64_t count;
	double total, p50, p99, p999, max;
};

/**
 * struct run_result - plain data: it crosses a process boundary
 * @code: 0, or why there are no figures, with @error
 * @score_ms: the slowest thread's time; the workload's score
 * @foreign: cores that other processes kept busy meanwhile
 * @allocated_bytes, @allocated_objects: as the workload counts them
 * @heap_bytes: maximum of bytes in pages of the heap
 * @minmu, @mmu, @bmu: at run_window_ns: worst mutator, all pooled, pooled and bounded
 * @collector: has the collector's own counters in @gc (bundled collectors only)
 */
struct run_result {
	int code;
	char error[256];
	char heap[16], options[512];
	int threads;
	double score_ms, wall_ms, cpu_ms, foreign;
	uint64_t rss_bytes, pss_bytes, heap_bytes;
	uint64_t allocated_bytes, allocated_objects, checksum;
	uint64_t voluntary_switches, involuntary_switches;
	double run_delay_ms; /* runnable, not running; all threads */
	double migrations; /* moves between CPUs; all threads */

	bool has_collections;
	uint64_t collections, cause[RUN_CAUSES];
	double gc_cpu_ms;
	struct run_spread stop, safepoint; /* stop-the-world; time to safepoint */
	struct run_spread pause[RUN_PAUSES], all_pauses;
	uint64_t pauses_lost;
	double minmu[RUN_WINDOWS], mmu[RUN_WINDOWS], bmu[RUN_WINDOWS];
	double mud[RUN_WINDOWS][RUN_QUANTILES];
	double worst_overall, overall;
	double mark_ms, remark_ms, remark_max_ms; /* time in these phases; the longest remark */
	uint64_t remarks;
	double heap_after; /* mean bytes in the heap at the ends of collections */

	struct run_spread hiccup, control;
	struct run_spread simple, metered, metered_full;
	bool has_deadline;
	uint64_t missed; /* requests that took longer than their deadline */

	bool collector;
#if !defined(HEAP_LIBGC) && !defined(HEAP_EPSILON)
	struct gc_heap_stats gc;
#endif
};

/** run_here() - run in this process. Return: result->code. */
int run_here(const struct run_request *request, struct run_result *result);
/** run_isolated() - run in a child; a crash or timeout is a code, too. */
int run_isolated(const struct run_request *request, struct run_result *result);

/* ---- a backend: one file per heap ------------------------------------------ */

struct backend;

/** struct backend_life - when one thread was a mutator, CLOCK_MONOTONIC ns */
struct backend_life {
	struct heap_thread *thread;
	int64_t begin, end;
};

/** backend_open() - make the heap. 0 or negative errno with result->error. */
int backend_open(struct backend **out, const struct run_request *request,
		 struct run_result *result);
struct bench_heap *backend_heap(struct backend *b);
/** backend_results() - fill in the figures of the heap, before backend_close(). */
void backend_results(struct backend *b, const struct backend_life *life, size_t lives,
		     struct run_result *result);
void backend_close(struct backend *b);
/** backend_help() - describe the heap's options. */
void backend_help(void);

/** run_utilisation() - fill @r's utilisation from pauses by thread. */
struct span;
void run_utilisation(struct run_result *r, const struct backend_life *life, size_t lives,
		     struct span **pause, const size_t *pauses);

#endif
