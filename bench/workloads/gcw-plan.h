/* SPDX-License-Identifier: MIT */
/**
 * DOC: The plan of a GCW run: what the settings mean
 *
 * GCW, the garbage collection workload for Android, allocates objects of a few sizes
 * by a distribution of sizes and lets them die by a table of lifetimes. Time is counted in
 * buckets of allocation. The plan is pure: settings in, numbers out.
 *
 * The defaults of gcw_settings are GCW's published default profile (2016).
 */
#ifndef BENCH_GCW_PLAN_H
#define BENCH_GCW_PLAN_H

#include "lib/settings.h"

#include <stddef.h>
#include <stdint.h>

#define GCW_SIZES      6 /* classes of small objects */
#define GCW_LARGE      GCW_SIZES
#define GCW_CLASSES    (GCW_SIZES + 1)
#define GCW_STAGES_MAX 8
#define GCW_ELEMENTS   4 /* byte, char, int, long */
#define GCW_SCALE      1000 /* thresholds are whole per-milles */

/**
 * struct gcw_plan - one thread's work; all threads do the same with other numbers drawn
 * @size: bytes of an object of each small class, as Android's runtime lays it out
 * @large_size: bytes of a large array
 * @stages: columns of the lifetime table: long-lived, dies at once, one period later...
 * @total, @bucket: bytes all threads allocate in an iteration; bytes of a period
 * @share: of the bytes, by class; @life: of a class's bytes, by stage
 * @count_share: of small objects, by class; @mean: bytes of a small object
 * @entries: length of the sequences of sizes and stages that are drawn beforehand
 * @size_limit: cumulated per-mille of @count_share
 * @life_limit: cumulated per-mille of @life in the order of stages
 * @element_limit: cumulated per-mille of large arrays by element type
 * @periods: of an iteration, for one thread
 * @larges: large arrays of an iteration, for one thread
 * @larges_per_period: the most that one period allocates
 * @lasting: long-lived objects of one thread, by class
 */
struct gcw_plan {
	uint32_t size[GCW_SIZES];
	uint32_t large_size;
	unsigned int stages;
	int threads;
	uint64_t total, bucket, iterations, seed;
	double share[GCW_CLASSES], life[GCW_CLASSES][GCW_STAGES_MAX];
	double count_share[GCW_SIZES], mean;
	uint32_t entries;
	int32_t size_limit[GCW_SIZES];
	int32_t life_limit[GCW_CLASSES][GCW_STAGES_MAX];
	int32_t element_limit[GCW_ELEMENTS];
	uint64_t periods, larges, larges_per_period;
	uint64_t lasting[GCW_CLASSES];
};

extern const struct setting gcw_settings[];

/** gcw_plan() - read and check the settings. 0 or -EINVAL with @err. */
int gcw_plan(struct gcw_plan *plan, const struct settings *settings, int threads,
	     struct settings_error *err);

/** gcw_pick() - the first index whose limit is above @draw (0 to GCW_SCALE - 1). */
static inline unsigned int gcw_pick(const int32_t *limit, unsigned int count, int32_t draw)
{
	unsigned int i = 0;

	while (i + 1 < count && draw >= limit[i])
		i++;
	return i;
}

/**
 * gcw_draw() - fill the sequences of one thread
 * @size: class of each of plan->entries objects; @stage: its lifetime's column
 */
void gcw_draw(const struct gcw_plan *plan, int thread, uint8_t *size, uint8_t *stage);

/** gcw_age() - periods after which a tree of column @stage is dropped, from 0. */
static inline unsigned int gcw_age(const struct gcw_plan *plan, unsigned int stage)
{
	return stage ? stage - 1 : plan->stages - 1;
}

#endif
