/* SPDX-License-Identifier: MIT */
/* Groups of contenders for one workload, and their targets. */
#ifndef BENCH_GROUP_H
#define BENCH_GROUP_H

#include "peers/peer.h"

#include <stdbool.h>

#define GROUP_MAX 32

/**
 * struct places - where the programs are
 * @whippet: where whippet's own benchmarks were built, outside of this tree; "" nowhere
 * @read_whippet: the command that converts their output to a row
 * @log: file for HotSpot's safepoint log
 */
struct places {
	char ours[512], libgc[512], epsilon[512], classes[512], profile[512];
	char whippet[480], read_whippet[512], log[64];
};

/**
 * struct group - contenders for one workload
 * @name: on the command line; @title: over the table
 *
 * The others are compared with the first contender.
 */
struct group {
	const char *name, *title;
	struct peer peer[GROUP_MAX];
	size_t count;
};

enum {
	GROUP_GCBENCH,
	GROUP_GCW1,
	GROUP_GCW2,
	GROUP_LBO,
	GROUP_LISTENER,
	GROUP_MT1,
	GROUP_MT2,
	GROUP_QUADS,
	GROUP_SCALING,
	GROUPS
};

/** group_fill() - fill in group @which; @iterations of GCW, its length (100 is the profile's). */
void group_fill(struct group *g, int which, const struct places *at, unsigned int iterations);
/** group_find() - index of contender @name, or -1. */
int group_find(const struct group *g, const char *name);

/**
 * group_judge() - print the targets of the group and whether they hold
 * Return: the number of targets that do not hold.
 */
int group_judge(const struct group *g, int which, const struct peer_series *s);

#endif
