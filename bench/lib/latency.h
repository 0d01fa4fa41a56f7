/* SPDX-License-Identifier: MIT */
/**
 * DOC: Simple and metered request latency
 *
 * Simple latency is end - start. It forgives a collector that holds up a whole queue:
 * the requests behind the stopped one start late and look fast. Metered latency, as
 * DaCapo's LatencyReporter defines it, asks when a request would have started had they
 * arrived evenly: starts are smoothed over a sliding window, and the latency is
 * max(end - start, end - smoothed start).
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/** struct request - when a request was begun and completed, ns */
struct request {
	int64_t start, end;
};

/** latency_simple() - @out[i] = end - start of request i. */
void latency_simple(const struct request *request, size_t count, int64_t *out);

/**
 * latency_metered() - latency against starts smoothed over @window ns
 *
 * @window 0 smooths over the whole run: as if requests came at one constant rate.
 * Requests must be in order of start. Return: 0, -EINVAL (out of order), -ENOMEM.
 */
int latency_metered(const struct request *request, size_t count, int64_t window, int64_t *out);

/** latency_quantile() - the @q quantile of @count latencies; sorts them. */
int64_t latency_quantile(int64_t *latency, size_t count, double q);

#endif
