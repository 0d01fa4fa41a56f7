/* SPDX-License-Identifier: MIT */
/**
 * DOC: Lower-bound overhead (Cai et al., ISPASS 2022)
 *
 * The cost of a collector cannot be seen directly: a run without one does not exist.
 * LBO compares with the distilled minimum, the least over all collectors and heaps of
 * total - what can be pinned on the collector:
 *   LBO(g, h) = total(g, h) / min over g', h' of (total(g', h') - gc(g', h'))
 * It is a lower bound: barriers, allocation and locality stay in the divisor.
 */
#ifndef BENCH_LBO_H
#define BENCH_LBO_H

#include <stddef.h>

enum lbo_metric {
	LBO_WALL, /* ms; identifiable: stop-the-world time */
	LBO_CPU, /* ms of task clock; identifiable: CPU time of collecting */
	LBO_METRICS
};

/**
 * struct lbo_row - one collector at one heap size
 * @total: per metric, NAN when not measured
 * @gc: the part of it that is surely the collector's, 0 when nothing is known
 * @overhead: out: LBO - 1, so that 0.2 is 20 %; NAN without a total
 */
struct lbo_row {
	const char *collector;
	double heap_bytes;
	double total[LBO_METRICS];
	double gc[LBO_METRICS];
	double overhead[LBO_METRICS];
};

/**
 * lbo_table() - fill in the overheads
 * @minimum: out: the distilled minimum per metric, NAN without a row; may be NULL
 */
void lbo_table(struct lbo_row *row, size_t count, double minimum[LBO_METRICS]);

#endif
