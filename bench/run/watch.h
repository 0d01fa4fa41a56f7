/* SPDX-License-Identifier: MIT */
/* Measurements of a run by kernel and clocks: scheduling, memory, latencies. */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include "lib/histogram.h"
#include "lib/latency.h"
#include "run/run.h"

/** watch_delay_ms() - how long the calling thread was runnable but not running, NAN unknown. */
double watch_delay_ms(void);
/** watch_delay_others_ms() - the same, summed over this process's threads but the caller. */
double watch_delay_others_ms(void);
/**
 * watch_migrations_begin() - count moves between CPUs of this process's threads
 *
 * Of the calling thread and of those made after. Return: a descriptor for
 * watch_migrations_end(), or -1 where the kernel refuses.
 */
int watch_migrations_begin(void);
/** watch_migrations_end() - the count; NAN for -1. Closes the descriptor. */
double watch_migrations_end(int fd);
/** watch_pss() - proportional set size of this process in bytes, 0 unknown. */
uint64_t watch_pss(void);
/** watch_spread() - summarise a histogram of ns. */
void watch_spread(struct run_spread *out, const struct histogram *h);
/** watch_latency() - fill the three latency spreads; nothing for no requests. */
void watch_latency(struct run_result *result, const struct request *request, size_t count);
/** watch_missed() - count requests that took longer than @deadline_ns; 0: there is no deadline. */
void watch_missed(struct run_result *result, const struct request *request, size_t count,
		  int64_t deadline_ns);

#endif
