/* SPDX-License-Identifier: MIT */
/* What the kernel and the clocks say about a run: scheduling, memory, latencies. */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include "lib/histogram.h"
#include "lib/latency.h"
#include "run/run.h"

/**
 * struct watch_sched - the scheduler's account of the calling thread
 * @delay_ms: runnable but not running (schedstat)
 * @migrations: moves between CPUs; needs CONFIG_SCHED_DEBUG
 */
struct watch_sched {
	double delay_ms;
	uint64_t migrations;
	bool has_migrations;
};

/** watch_sched_read() - of the calling thread; NAN and false where /proc has none. */
void watch_sched_read(struct watch_sched *s);
/** watch_pss() - proportional set size of this process in bytes, 0 unknown. */
uint64_t watch_pss(void);
/** watch_spread() - summarise a histogram of ns. */
void watch_spread(struct run_spread *out, const struct histogram *h);
/** watch_latency() - fill the three latency spreads; nothing for no requests. */
void watch_latency(struct run_result *result, const struct request *request, size_t count);

#endif
